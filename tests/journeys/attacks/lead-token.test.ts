import { contract, type Operation } from '../../../src/platform/contract/contract';
import { openShop, type Shop } from '../../support/leads';
import { useWorld } from '../../support/use-world';
import type { Method } from '../../support/world';

// The lead token stands in landing pages: everybody has it. What follows is sent with the token
// alone, by somebody who knows numbers of people, and must neither read what the company knows of
// them nor act beyond the offer or the schedule of the token.

type Fields = Record<string, unknown>;

const world = useWorld({ environment: { TRUST_PROXY: '1' } });
let shop: Shop;
let otherShop: Shop;
let numbers = 3_105_550_100;
const nextNumber = () => `+1${numbers++}`;
const { api } = world;
beforeAll(async () => {
  shop = await openShop(world, []);
  otherShop = await openShop(world, []);
});

const { properties: columns = {} } = contract.document.components.schemas.Lead!;
const sensitive = Object.keys(columns).filter((name) => columns[name]!['x-sensitive']);
const operations = contract.operations.filter(({ credentials }) => credentials === 'lead_token');

/** Personal data that a company has of a lead. */
const LEAD_DATA = {
  email: 'ann@example.com',
  full_name: 'Ann Lee',
  country: 'US',
  state: 'CA',
  zip: '90001',
  social_security_number: '078-05-1120',
};

/** A lead with something in every column that a lead token must not read. */
async function createLead(owner: 'offer' | 'schedule' = 'schedule'): Promise<Fields> {
  const body = { lead_token: shop[owner].lead_token, caller_id: nextNumber(), ...LEAD_DATA };
  const { id } = (await api('post', 'leads', { body })).body;
  await api('put', `leads/${id}`, { body: { external_record_id: 'crm-7' } });
  await world.sql('UPDATE leads SET revenue = 40, payout = 20 WHERE id = $1', [id]);
  return (await api('get', `leads/${id}`)).body.lead;
}

/** Sends an operation of lead tokens about a lead. */
function ask({ method, path }: Operation, lead: Fields, more: Fields = {}) {
  const token = shop.schedule.lead_token;
  const callerId = encodeURIComponent(String(lead.caller_id));
  const url = path
    .replace('{lead_token}', token)
    .replace(/\{(caller_id|caller_number)\}/, callerId);
  const inBody = path === '/api/v1/leads' ? { caller_id: lead.caller_id } : {};
  const query = path.includes('{lead_token}') ? {} : { lead_token: token, ...inBody };
  return api(method as Method, url, { auth: null, query, ...more });
}

describe('reading', () => {
  test('every column of a lead says whether it has personal data or money', () => {
    expect(Object.keys(columns).filter((name) => !sensitive.includes(name))).toEqual(
      `id legacy_id type uuid created_at updated_at deleted_at user_updated_at routes_show_path
      routes_edit_path company_id contact_field_type expires_in sub_id offer_id schedule_id status
      human_status has_next_action opt_out offer_converted buyer_converted traffic_source_id
      buyer_id attempted_call_id connected_call_id scheduled_callback_id sms_number_id
      dial_number_id lead_priority hours_to_expire max_contact_attempts last_action_at
      first_action_at first_queued_at schedule_ended_at next_action_at last_call_at is_live blocked
      contact_id next_schedule_action_id`.split(/\s+/),
    );
  });

  test('every operation that a token alone opens asks for a power', () => {
    expect(operations.map(({ id, power }) => [id, power !== undefined])).toEqual(
      operations.map(({ id }) => [id, true]),
    );
    expect(operations.length).toBeGreaterThan(8);
  });

  const NUMBER_ALONE = ['caller_id', 'context_menu_name'];
  test.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s shows a token alone nothing that the company knows',
    async (_, operation) => {
      const lead = await createLead();
      expect(sensitive.filter((name) => lead[name] === null || lead[name] === 0)).toEqual([]);
      const shownLead = (await ask(operation, lead)).body.lead;
      const { remote_ip, time_zone, data, ...hidden } = Object.fromEntries(
        sensitive
          .filter((name) => !NUMBER_ALONE.includes(name))
          .map((name) => [name, shownLead[name]]),
      );
      expect(new Set(Object.values(hidden))).toEqual(new Set([null]));
      expect([data, shownLead.caller_id, shownLead.context_menu_name]).toEqual([
        {},
        lead.caller_id,
        `(${String(lead.caller_id)})`,
      ]);
      // A submission has an address and, by its number, a zone of its own.
      const isSubmission = operation.power === 'submit';
      expect([remote_ip, time_zone]).toEqual(
        isSubmission ? [expect.stringContaining('127.0.0.1'), 'America/Los_Angeles'] : [null, null],
      );
      expect(Object.keys(shownLead)).toEqual(Object.keys(lead));
    },
  );

  test.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s shows everything to credentials beside the token',
    async (_, operation) => {
      const lead = await createLead();
      const reader = await world.credentials(world.company, ['leads:read']);
      const shownLead = (await ask(operation, lead, { auth: reader })).body.lead;
      expect(Object.fromEntries(sensitive.map((name) => [name, shownLead[name]]))).toEqual(
        Object.fromEntries(sensitive.map((name) => [name, lead[name]])),
      );
    },
  );

  test('a submission is shown what it has sent itself, and names made of that alone', async () => {
    const lead = await createLead();
    const body = {
      lead_token: shop.schedule.lead_token,
      caller_id: lead.caller_id,
      email: 'new@example.com',
      last_name: 'Moe',
    };
    const shownLead = (await api('post', 'leads', { auth: null, body })).body.lead;
    expect([shownLead.email, shownLead.data, shownLead.full_name, shownLead.name]).toEqual([
      'new@example.com',
      { last_name: 'Moe' },
      'Moe',
      'Moe',
    ]);
    const { data } = (await api('get', `leads/${String(lead.id)}`)).body.lead;
    expect(data).toMatchObject({ full_name: 'Ann Lee', last_name: 'Moe' });
  });

  test('no serializer, column or checksum tells more', async () => {
    const lead = await createLead();
    const show = operations.find(({ power }) => power === 'read')!;
    const seenWith = async (query: Fields) => ask(show, lead, { query });
    for (const serializer of ['lead', 'lead_grid', 'lead_external'])
      expect((await seenWith({ serializer })).text).not.toMatch(
        /Ann|example\.com|078-05|"payout":20/,
      );
    const { body } = await seenWith({ columns: 'email,revenue,data' });
    expect(body.lead).toEqual({ email: null, revenue: null, data: {} });
    const { etag } = (await seenWith({})).headers;
    await world.sql(`UPDATE leads SET email = 'b@example.com' WHERE id = $1`, [lead.id]);
    expect((await seenWith({})).headers.etag).toBe(etag);
  });

  test('an answer to credentials is not replayed to the token alone', async () => {
    const lead = await createLead();
    const submit = operations.find(({ power }) => power === 'submit')!;
    const headers = { 'Idempotency-Key': 'guessed-key' };
    const first = await ask(submit, lead, { auth: world.company.auth, headers });
    expect(first.body.lead.email).toBe(LEAD_DATA.email);
    const second = await ask(submit, lead, { headers });
    expect(second.headers['idempotent-replayed']).toBeUndefined();
    expect([second.status, second.body.lead.email]).toEqual([200, null]);
  });
});

describe('writing', () => {
  const token = (owner: 'offer' | 'schedule') => shop[owner].lead_token;
  const submit = (leadToken: string, fields: Fields, more: Fields = {}) =>
    api('post', 'leads', { auth: null, body: { lead_token: leadToken, ...fields }, ...more });
  const loadStatus = async (id: number) => (await api('get', `leads/${id}`)).body.lead.status;
  const explainCall = async (offerId: number, callerNumber: string) =>
    (
      await api('post', 'routing/explain', {
        body: { offer_id: offerId, caller_number: callerNumber },
      })
    ).body;

  test.each(['offer', 'schedule'] as const)(
    'blocked, by the token of an %s, is of the offer alone',
    async (owner) => {
      const callerId = nextNumber();
      const elsewhere = (await submit(otherShop[owner].lead_token, { caller_id: callerId })).body
        .id;
      const beside = (
        await submit(token(owner === 'offer' ? 'schedule' : 'offer'), { caller_id: callerId })
      ).body.id;
      const res = await submit(token(owner), { caller_id: callerId, blocked: true });
      expect([res.body.lead.status, res.body.lead.blocked]).toEqual(['blocked', true]);
      expect([await loadStatus(beside), await loadStatus(elsewhere)]).toEqual([
        'blocked',
        owner === 'offer' ? 'queue' : 'scheduled',
      ]);
      const refused = JSON.stringify(await explainCall(shop.offer.id, callerId));
      const accepted = JSON.stringify(await explainCall(otherShop.offer.id, callerId));
      expect([/blocked for the offer/.test(refused), /blocked/.test(accepted)]).toEqual([
        true,
        false,
      ]);
      const [contact] = (await api('get', 'contacts', { query: { caller_id: callerId } })).body
        .contacts;
      expect(contact).toMatchObject({ blocked: false, blocked_offer_ids: [shop.offer.id] });
      await api('post', 'contacts/caller_unblock', { body: { caller_ids: [callerId] } });
      expect([await loadStatus(beside), await loadStatus(res.body.id)].includes('blocked')).toBe(
        false,
      );
    },
  );

  test('opting out, by a token, is of its offer or schedule alone', async () => {
    const callerId = nextNumber();
    const mine = (await submit(token('schedule'), { caller_id: callerId })).body.id;
    const otherIds = [
      (await submit(token('offer'), { caller_id: callerId })).body.id,
      (await submit(otherShop.schedule.lead_token, { caller_id: callerId })).body.id,
    ];
    const query = { lead_token: token('schedule') };
    await api('put', `leads/${callerId}/caller_opt_out`, { auth: null, query });
    expect([await loadStatus(mine), ...(await Promise.all(otherIds.map(loadStatus)))]).toEqual([
      'opt_out',
      'queue',
      'scheduled',
    ]);
    expect((await submit(token('schedule'), { caller_id: callerId })).body.lead.opt_out).toBe(true);
    await api('put', `leads/${callerId}/caller_opt_out`, { query });
    expect(await Promise.all(otherIds.map(loadStatus))).toEqual(['opt_out', 'opt_out']);
  });

  test('apply_to changes calls of the offer from the last 30 days alone', async () => {
    const { id, lead } = (await submit(token('offer'), { caller_id: nextNumber() })).body;
    const call = (offerId: number, days: number) =>
      world.sql(
        `INSERT INTO calls (
          company_id, uuid, direction, status, carrier, lead_id, offer_id, created_at
        ) VALUES (
          $1, gen_random_uuid(), 'inbound', 'completed', 'sandbox', $2, $3,
          now() - $4::int * interval '1 day'
        )`,
        [world.company.id, id, offerId, days],
      );
    await call(shop.offer.id, 29);
    await call(shop.offer.id, 31);
    await call(otherShop.offer.id, 1);
    const { caller_id } = lead;
    const changed = async () =>
      (
        await world.sql<{ x: string | null }>(
          `SELECT token_values->>'x' AS x FROM calls WHERE lead_id = $1 ORDER BY id`,
          [id],
        )
      ).map(({ x }) => x);
    const all = { apply_to: 'calls', update_all_matching_leads: true };
    await submit(token('offer'), { caller_id, ...all, x: 'evil' });
    expect(await changed()).toEqual(['evil', null, null]);
    await submit(token('offer'), { caller_id, ...all, x: 'ours' }, { auth: world.company.auth });
    expect(await changed()).toEqual(['ours', 'ours', 'ours']);
  });

  test('each use is in a log with the address that it came from', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9' };
    const logs = async (operation: string) =>
      (await api('get', 'change_logs', { query: { fulltext: operation } })).body.change_logs;
    for (const operation of operations.filter(({ power }) => power !== 'read')) {
      const lead = await createLead();
      const query = { lead_token: shop.schedule.lead_token, caller_id: lead.caller_id };
      const more = operation.power === 'submit' ? { query: { ...query, blocked: true } } : {};
      expect((await ask(operation, lead, { headers, ...more })).status).toBe(200);
      expect([operation.id, (await logs(operation.id)).at(-1)]).toMatchObject([
        operation.id,
        {
          record_type: 'Lead',
          record_id: lead.id,
          action: 'update',
          credentials: `Lead token of schedule ${shop.schedule.id}`,
          access_token_id: null,
          ip: '203.0.113.9',
        },
      ]);
      // Columns that the sender may not see are not logged as if they had been removed.
      expect(Object.keys((await logs(operation.id)).at(-1).changes)).not.toContain('email');
    }
    const plain = await submit(token('offer'), { caller_id: nextNumber() }, { headers });
    const [created] = await world.sql<{ details: unknown }>(
      'SELECT details FROM lead_logs WHERE lead_id = $1',
      [plain.body.id],
    );
    expect(created!.details).toEqual({ ip: '203.0.113.9', credentials: 'lead token' });
  });
});
