import request from 'supertest';
import { standingClock } from '../support/clock';
import { NOON, openShop, ownNumber, runEngine, type Shop } from '../support/leads';
import { basic, createWorld, type Company, type World } from '../support/world';

type Fields = Record<string, unknown>;

let world: World;
let shop: Shop;
/** Its schedule texts, mails and calls at once. */
let busy: Shop;
let theirs: Company;
let their_shop: Shop;
const time = standingClock(NOON);
beforeAll(async () => {
  world = await createWorld({
    clock: time.read,
    environment: { CORS_ORIGINS: 'https://app.example.com' },
  });
  shop = await openShop(world, [{ action_type: 'wait', wait_amount: 30, wait_unit: 'days' }]);
  busy = await openShop(world, [
    { action_type: 'sms', body: 'Hi {{first_name}}' },
    { action_type: 'email', subject: 'Hello {{first_name}}', body: 'Hi' },
    { action_type: 'dial', connect_to: '+13105550199' },
  ]);
  theirs = await world.addCompany('Theirs');
  await ownNumber(world, theirs, '12125550177');
  their_shop = await openShop(world, [], {}, theirs);
});
afterEach(() => time.set(NOON));
afterAll(() => world.close());

let numbers = 3_105_551_000;
const fresh = () => String(numbers++);
const api = (...args: Parameters<Company['api']>) => world.company.api(...args);
const complete = (fields: Fields): Fields => ({
  lead_token: shop.schedule.lead_token,
  caller_id: fresh(),
  ...fields,
});
const post = (fields: Fields, headers: Record<string, string> = {}) =>
  api('post', 'leads', { auth: null, body: complete(fields), headers });
const made = async (fields: Fields) => {
  const res = await post(fields);
  expect([res.status, res.body.errors]).toEqual([201, {}]);
  return res.body;
};
const faults = async (fields: Fields) => {
  const res = await post(fields);
  expect([res.status, res.body.success]).toEqual([422, false]);
  return Object.keys(res.body.errors);
};
const to_busy = (fields: Fields = {}) => made({ lead_token: busy.schedule.lead_token, ...fields });
const sent = (table: 'text_messages' | 'emails' | 'calls', { id }: { id: number }) =>
  world.sql<Record<string, string>>(`SELECT * FROM ${table} WHERE lead_id = $1 ORDER BY id`, [id]);
const instant = (text: string) => new Date(text).toISOString();

describe('a lead is the same', () => {
  const ann = { email: 'ann@example.com', sub_id: 's-1', first_name: 'Ann', zip: '90210' };
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const { email, sub_id, ...tokens } = ann;
  const text = (fields: Fields) => new URLSearchParams(fields as Record<string, string>).toString();

  const shapes: [string, (own: Fields) => Parameters<Company['api']>[2]][] = [
    ['in the query string', (own) => ({ query: { ...own, ...ann } })],
    ['in flat JSON', (own) => ({ body: { ...own, ...ann } })],
    [
      'in JSON with its tokens in data',
      (own) => ({ body: { ...own, email, sub_id, data: tokens } }),
    ],
    [
      'in JSON with its number and address in data',
      ({ caller_id, ...own }) => ({
        body: { ...own, sub_id, data: { caller_id, email, ...tokens } },
      }),
    ],
    [
      'in JSON with data as text',
      (own) => ({ body: { ...own, email, sub_id, data: JSON.stringify(tokens) } }),
    ],
    ['in a urlencoded form', (own) => ({ body: text({ ...own, ...ann }), headers: form })],
    [
      'in a urlencoded form with data[key]',
      (own) => ({
        body: text({ ...own, email, sub_id, 'data[first_name]': 'Ann', 'data[zip]': '90210' }),
        headers: form,
      }),
    ],
    ['in a multipart form', (own) => ({ form: { ...own, ...ann } as Record<string, string> })],
    [
      'in a multipart form with data[key]',
      (own) => ({
        form: { ...own, email, sub_id, 'data[first_name]': 'Ann', 'data[zip]': '90210' } as Record<
          string,
          string
        >,
      }),
    ],
    [
      'in a multipart form with data as JSON',
      (own) => ({
        form: { ...own, email, sub_id, data: JSON.stringify(tokens) } as Record<string, string>,
      }),
    ],
    [
      'in query and JSON, of which the body counts',
      (own) => ({
        query: { ...own, email: 'q@example.com', zip: '90210', first_name: 'Query' },
        body: { ...ann, zip: undefined },
      }),
    ],
    [
      'in query and form, of which the body counts',
      ({ lead_token, ...own }) => ({
        query: { lead_token, first_name: 'Query' },
        body: text({ ...own, ...ann }),
        headers: form,
      }),
    ],
    [
      'by phone instead of caller_id',
      ({ caller_id, ...own }) => ({
        body: { ...own, ...ann, caller_id: undefined, phone: caller_id },
      }),
    ],
    [
      'under schedule_lead_token',
      ({ lead_token, ...own }) => ({ body: { ...own, ...ann, schedule_lead_token: lead_token } }),
    ],
    [
      'beside what forms add of their own',
      (own) => ({ query: { format: 'json', utf8: '✓', commit: 'Send' }, body: { ...own, ...ann } }),
    ],
    [
      'whose data also holds credentials',
      (own) => ({
        body: { ...own, ...ann, auth_token: 'x', data: { lead_token: 'y', auth_token: 'z' } },
      }),
    ],
  ];
  test.each(shapes)('%s', async (_, shape) => {
    const own = complete({});
    const res = await api('post', 'leads', { auth: null, ...shape(own) });
    expect([res.status, res.body.errors]).toEqual([201, {}]);
    const { lead } = res.body;
    expect([lead.caller_id, lead.email, lead.sub_id, lead.schedule_id]).toEqual([
      `+1${String(own.caller_id)}`,
      email,
      sub_id,
      shop.schedule.id,
    ]);
    const { phone, ...data } = lead.data;
    expect([data, phone ?? own.caller_id]).toEqual([tokens, own.caller_id]);
  });

  test('for one number in any spelling', async () => {
    const { id } = await made({ caller_id: '3105552001' });
    for (const caller_id of [
      '+13105552001',
      '13105552001',
      13105552001,
      '(310) 555-2001',
      '310.555.2001',
      "'3105552001",
      ' 1 (310) 555 2001 ',
    ])
      expect((await post({ caller_id })).body.lead_id).toBe(id);
    const by_query = await api(
      'post',
      `leads?lead_token=${shop.schedule.lead_token}&caller_id=+13105552001`,
      { auth: null },
    );
    expect([by_query.status, by_query.body.lead_id]).toEqual([200, id]);
  });
});

describe('the parameter', () => {
  test('lead_token of an offer: the data waits there for a call of the same caller_id', async () => {
    const { lead } = await made({ lead_token: shop.offer.lead_token, first_name: 'Ann' });
    expect(lead).toMatchObject({
      offer_id: shop.offer.id,
      schedule_id: null,
      status: 'queue',
      has_next_action: false,
      data: { first_name: 'Ann' },
    });
  });

  test('lead_token of a schedule, caller_id and data: its actions begin, dial and text that number, and inherit the tokens', async () => {
    const { lead, id } = await to_busy({ caller_id: '3105552002', data: { first_name: 'Ann' } });
    expect(lead).toMatchObject({
      offer_id: busy.offer.id,
      schedule_id: busy.schedule.id,
      status: 'scheduled',
      has_next_action: true,
    });
    await runEngine(world);
    expect(await sent('text_messages', { id })).toMatchObject([
      { to_number: '13105552002', body: 'Hi Ann', token_values: { first_name: 'Ann' } },
    ]);
    expect(await sent('calls', { id })).toMatchObject([
      { to_number: '13105552002', connect_to: '+13105550199', token_values: { first_name: 'Ann' } },
    ]);
  });

  test('email: required for e-mails of schedules, which are passed over without', async () => {
    const [with_email, without] = [
      await to_busy({ email: 'ann@example.com', first_name: 'Ann' }),
      await to_busy(),
    ];
    await runEngine(world);
    expect(await sent('emails', with_email)).toMatchObject([
      { to_email: 'ann@example.com', subject: 'Hello Ann' },
    ]);
    expect([await sent('emails', without), (await sent('calls', without)).length]).toEqual([[], 1]);
  });

  test.each<[string, Fields, Fields]>([
    ['contact_field_type', { contact_field_type: '17' }, { contact_field_type: '17' }],
    ['sub_id', { sub_id: 'google-7' }, { sub_id: 'google-7' }],
    ['expires_in', { expires_in: '90' }, { expires_in: 90 }],
    [
      'ip_address',
      { ip_address: '203.0.113.7', remote_ip: '203.0.113.8' },
      { remote_ip: '203.0.113.7' },
    ],
    ['remote_ip', { remote_ip: '2001:db8::7' }, { remote_ip: '2001:db8::7' }],
    [
      'neither of them: the address of the request',
      {},
      { remote_ip: expect.stringMatching(/127\.0\.0\.1$/) },
    ],
    ['time_zone: no token', { time_zone: 'Eastern Time (US & Canada)' }, { data: {} }],
    [
      'serializer: no token',
      { serializer: 'lead_grid' },
      { data: {}, next_schedule_action_id: expect.any(Number) },
    ],
  ])('%s', async (_, fields, expected) =>
    expect((await made(fields)).lead).toMatchObject(expected),
  );

  test.each(['schedule_callback_at', 'schedule_callback_in_seconds'])(
    '%s: schedules a callback, for which the schedule waits',
    async (name) => {
      const lead = await to_busy({
        [name]: name.endsWith('_at') ? '2027-01-12 18:00:00 +0000' : 3600,
      });
      expect(lead.lead).toMatchObject({
        status: 'waiting',
        next_action_at: '2027-01-12T18:00:00.000+00:00',
        scheduled_callback_id: expect.any(Number),
      });
      await runEngine(world);
      expect([await sent('calls', lead), await sent('text_messages', lead)]).toEqual([[], []]);
      time.set('2027-01-12T18:00:00Z');
      await runEngine(world);
      expect([
        (await sent('calls', lead)).length,
        (await sent('text_messages', lead)).length,
      ]).toEqual([2, 1]);
    },
  );

  test('apply_to: only calls is allowed', async () => {
    expect(await faults({ apply_to: 'emails' })).toEqual(['apply_to']);
    expect((await made({ apply_to: 'calls' })).lead.data).toEqual({});
  });

  test('blocked: no outbound action is taken for the lead', async () => {
    const lead = await to_busy({ blocked: 'true' });
    expect([lead.lead.status, lead.lead.blocked, Object.keys(lead.warnings)]).toEqual([
      'blocked',
      true,
      ['caller_id'],
    ]);
    await runEngine(world);
    expect([await sent('calls', lead), await sent('text_messages', lead)]).toEqual([[], []]);
  });

  test.each(['assign_service_number', 'assign_trackdrive_number'])(
    '%s: answers service_number_plain, from which the lead is called',
    async (name) => {
      const lead = await to_busy({ [name]: 'yes' });
      expect([lead.service_number_plain, lead.sms_number_plain]).toEqual(['12125550100', null]);
      expect([lead.lead.dial_number_id, lead.lead.sms_number_id]).toEqual([
        expect.any(Number),
        null,
      ]);
      const { body, headers } = await api('get', `leads/${lead.id}`);
      expect([body.lead.dial_number_id, body.checksum, headers.etag]).toEqual([
        lead.lead.dial_number_id,
        lead.checksum,
        `"${lead.checksum}"`,
      ]);
      await runEngine(world);
      expect(await sent('calls', lead)).toMatchObject([{ from_number: '12125550100' }]);
    },
  );

  test('assign_sms_number: answers sms_number_plain; without a number to assign there is a warning', async () => {
    const lead = await to_busy({ assign_sms_number: 'on' });
    expect([lead.sms_number_plain, lead.service_number_plain, lead.lead.sms_number_id]).toEqual([
      '12125550100',
      null,
      expect.any(Number),
    ]);
    const poor = await world.addCompany('Poor');
    const { lead_token } = (await poor.api('post', 'offers', { body: { name: 'Offer' } })).body
      .offer;
    const res = await poor.api('post', 'leads', {
      auth: null,
      body: complete({ lead_token, assign_sms_number: true, assign_service_number: true }),
    });
    expect([res.status, res.body.sms_number_plain, res.body.service_number_plain]).toEqual([
      201,
      null,
      null,
    ]);
    expect(Object.keys(res.body.warnings).toSorted()).toEqual([
      'assign_service_number',
      'assign_sms_number',
    ]);
  });

  test('lead_priority: lower values are processed first, and those without last', async () => {
    const ids: number[] = [];
    for (const lead_priority of [null, '5', -1.5, '2.25'])
      ids.push((await to_busy({ lead_priority })).id);
    await runEngine(world);
    const texts = await world.sql<{ lead_id: string }>(
      'SELECT lead_id FROM text_messages WHERE lead_id = ANY($1::bigint[]) ORDER BY id',
      [ids],
    );
    expect(texts.map(({ lead_id }) => Number(lead_id))).toEqual([ids[2], ids[3], ids[1], ids[0]]);
  });

  test('auto_format_nested_fields: finds contact fields in a post of another shape', async () => {
    const contact = {
      phoneNumber: '(310) 555-2003',
      emailAddress: 'ann@example.com',
      name: { firstName: 'Ann', lastName: 'Lee' },
      zipCode: 90210,
    };
    const { lead } = await made({
      caller_id: undefined,
      auto_format_nested_fields: 'true',
      payload: { contact },
    });
    expect(lead).toMatchObject({
      caller_id: '+13105552003',
      email: 'ann@example.com',
      full_name: 'Ann Lee',
      zip_postal_code: '90210',
    });
    expect(await faults({ caller_id: undefined, payload: { contact } })).toEqual(['caller_id']);
  });

  test('traffic_source_id: number, uuid or the company’s own identifier; nobody else’s', async () => {
    const source = async (company: Company) =>
      (
        await company.api('post', 'traffic_sources', {
          body: { name: 'S', user_traffic_source_id: 'radio' },
        })
      ).body.traffic_source;
    const [mine, other] = [await source(world.company), await source(theirs)];
    for (const traffic_source_id of [mine.id, String(mine.id), mine.uuid, 'radio'])
      expect((await made({ traffic_source_id })).lead.traffic_source_id).toBe(mine.id);
    for (const traffic_source_id of [other.id, other.uuid, 'tv'])
      expect(await faults({ traffic_source_id })).toEqual(['traffic_source_id']);
  });

  test('offer_lead_token beside that of a schedule: the offer of the lead; tokens of another kind are refused', async () => {
    const other = await openShop(world, []);
    const { lead } = await made({ offer_lead_token: other.offer.lead_token });
    expect([lead.schedule_id, lead.offer_id]).toEqual([shop.schedule.id, other.offer.id]);
    const again = await post({ caller_id: lead.caller_id });
    expect([again.body.id, again.body.lead.offer_id]).toEqual([lead.id, other.offer.id]);
    expect(await faults({ schedule_lead_token: shop.offer.lead_token })).toEqual([
      'schedule_lead_token',
    ]);
    expect(await faults({ schedule_lead_token: other.schedule.lead_token })).toEqual([
      'schedule_lead_token',
    ]);
    expect(await faults({ offer_lead_token: other.schedule.lead_token })).toEqual([
      'offer_lead_token',
    ]);
    expect(
      await faults({ lead_token: shop.offer.lead_token, offer_lead_token: other.offer.lead_token }),
    ).toEqual(['offer_lead_token']);
  });

  test('lead_token of a schedule: the lead belongs to the offer that the schedule has now', async () => {
    const { schedule } = await openShop(world, []);
    await made({ lead_token: schedule.lead_token });
    await api('put', `schedules/${schedule.id}`, { body: { offer_id: shop.offer.id } });
    expect((await made({ lead_token: schedule.lead_token })).lead.offer_id).toBe(shop.offer.id);
    await api('put', `schedules/${schedule.id}`, { body: { offer_id: null } });
    expect((await made({ lead_token: schedule.lead_token })).lead.offer_id).toBe(null);
  });
});

describe('spellings', () => {
  const assigned = async (fields: object) =>
    (await api('post', 'leads', { auth: null, ...fields })).body.sms_number_plain !== null;
  test.each([
    ...['1', 'true', 'yes', 'on', 'TRUE', 1, true].map((word) => [word, true]),
    ...['0', 'false', 'no', 'off', 'No', 0, false].map((word) => [word, false]),
  ])(
    'the boolean %j is %j in JSON and in the query string',
    async (assign_sms_number, expected) => {
      expect(await assigned({ body: complete({ assign_sms_number }) })).toBe(expected);
      expect(await assigned({ query: complete({ assign_sms_number }) })).toBe(expected);
    },
  );

  test.each([
    ['2027-02-01 12:30:00 +0000', undefined, '2027-02-01T12:30:00Z'],
    ['2027-02-01 12:30:00 -0800', 'Eastern Time (US & Canada)', '2027-02-01T20:30:00Z'],
    ['2027-02-01 12:30:00', 'Eastern Time (US & Canada)', '2027-02-01T17:30:00Z'],
    ['2027-07-01 12:30:00', 'America/New_York', '2027-07-01T16:30:00Z'],
    ['2027-02-01 12:30:00', undefined, '2027-02-01T12:30:00Z'],
    ['2027-02-01 12:30:00 UTC', 'America/New_York', '2027-02-01T12:30:00Z'],
    ['2027-02-01T12:30:00Z', 'America/New_York', '2027-02-01T12:30:00Z'],
    ['2027-02-01', 'America/New_York', '2027-02-01T05:00:00Z'],
  ])('the time %j in the zone %j', async (next_action_at, time_zone, expected) => {
    const fields = { next_action_at, ...(time_zone && { time_zone }) };
    expect(instant((await made(fields)).lead.next_action_at)).toBe(instant(expected));
    const search = `next_action_at=${next_action_at}${time_zone ? `&time_zone=${encodeURIComponent(time_zone)}` : ''}`;
    const by_query = await api('post', `leads?${search}`, { auth: null, query: complete({}) });
    expect(instant(by_query.body.lead.next_action_at)).toBe(instant(expected));
  });

  test.each<[string, unknown]>([
    ...['soon', '2027-02-30', 1_800_000_000, {}].map((value): [string, unknown] => [
      'schedule_callback_at',
      value,
    ]),
    ...['1e3', '0x10', -1, 1.5, 31_536_001, 'ten'].map((value): [string, unknown] => [
      'schedule_callback_in_seconds',
      value,
    ]),
    ...[0, 'a day', 87_601].map((value): [string, unknown] => ['hours_to_expire', value]),
    ...[0, 1.5, 1_001, []].map((value): [string, unknown] => ['max_contact_attempts', value]),
    ...['high', 1_000_000_001].map((value): [string, unknown] => ['lead_priority', value]),
    ...['maybe', 2, {}, []].map((value): [string, unknown] => ['update_only', value]),
    ...['Mars', 7].map((value): [string, unknown] => ['time_zone', value]),
    ...['x', [], 7].map((value): [string, unknown] => ['data', value]),
    ['sub_id', 'x'.repeat(256)],
    ['serializer', 'buyer'],
  ])('%s %j is refused', async (name, value) =>
    expect(await faults({ [name]: value })).toEqual([name]),
  );

  test.each<[Fields, string]>([
    [
      { schedule_callback_at: '2027-02-01', schedule_callback_in_seconds: 5 },
      'schedule_callback_in_seconds',
    ],
    [{ expire_existing: true, update_only: true }, 'update_only'],
    [{ delete_existing: true, update_only: true }, 'update_only'],
    [{ unblock_contact: true, blocked: true }, 'blocked'],
  ])('%j contradict each other', async (fields, name) =>
    expect(await faults(fields)).toEqual([name]),
  );
});

describe('the answer', () => {
  test('is 201 for a new lead, then 200 for the same one, with all that clients read', async () => {
    const fields = complete({ first_name: 'Ann' });
    for (const status of [201, 200]) {
      const { status: code, body, headers } = await post(fields);
      expect(Object.keys(body)).toEqual(
        expect.arrayContaining([
          'status',
          'errors',
          'lead',
          'id',
          'lead_id',
          'service_number_plain',
          'sms_number_plain',
          'warnings',
          'checksum',
        ]),
      );
      expect(body).toMatchObject({
        status,
        success: true,
        errors: {},
        service_number_plain: null,
        sms_number_plain: null,
        warnings: {},
        metadata: { root: 'lead' },
      });
      expect([code, body.id, body.lead_id, headers.etag]).toEqual([
        status,
        body.lead.id,
        body.lead.id,
        `"${body.checksum}"`,
      ]);
    }
  });

  test('of the serializer lead_external has nothing that its sender may not see', async () => {
    const { lead } = await made({
      serializer: 'lead_external',
      email: 'ann@example.com',
      first_name: 'Ann',
    });
    expect(Object.keys(lead).toSorted()).toEqual([
      'created_at',
      'human_status',
      'id',
      'offer_converted',
      'offer_id',
      'payout',
      'schedule_id',
      'status',
      'sub_id',
      'traffic_source_id',
      'type',
      'uuid',
    ]);
  });

  test('under an Idempotency-Key is given again, and nothing happens twice', async () => {
    const fields = complete({ assign_sms_number: true });
    const [first, second] = [
      await post(fields, { 'Idempotency-Key': 'k1' }),
      await post(fields, { 'Idempotency-Key': 'k1' }),
    ];
    expect([
      first.status,
      second.status,
      second.headers['idempotent-replayed'],
      second.text,
    ]).toEqual([201, 201, 'true', first.text]);
    expect(
      (await api('get', `lead_logs?lead_id=${first.body.id}`)).body.lead_logs.map(
        ({ event }: Fields) => event,
      ),
    ).toEqual(['created']);
    const other = await post(complete({}), { 'Idempotency-Key': 'k1' });
    expect([other.status, Object.keys(other.body.errors)]).toEqual([422, ['Idempotency-Key']]);
  });
});

describe('of what can be no lead', () => {
  const raw = (json: string) =>
    api('post', 'leads', {
      auth: null,
      body: json,
      headers: { 'Content-Type': 'application/json' },
    });
  const in_json = ({ lead_token, caller_id }: Fields, more: string) =>
    raw(`{"lead_token":"${String(lead_token)}","caller_id":"${String(caller_id)}",${more}}`);
  const prototype = Object.getOwnPropertyNames(Object.prototype);
  afterEach(() =>
    expect([Object.getOwnPropertyNames(Object.prototype), ({} as Fields).polluted]).toEqual([
      prototype,
      undefined,
    ]),
  );

  test.each<unknown>([
    '',
    ' ',
    null,
    'anonymous',
    'Restricted',
    '+266696687',
    '+7378742833',
    '911',
    123,
    '+1310555012',
    31_055_501_234_567_890,
    true,
    {},
    { toString: 1 },
    [],
    ['3105550123'],
    'x'.repeat(200),
    '3'.repeat(200),
    'sip:ann@example.com',
    "3105550123' OR 1=1",
  ])('the caller_id %j is refused, at the top, in data and as phone', async (caller_id) => {
    expect(await faults({ caller_id })).toEqual(['caller_id']);
    expect(await faults({ caller_id: undefined, data: { caller_id } })).toEqual(['caller_id']);
    expect(await faults({ caller_id: undefined, phone: caller_id })).toEqual(['caller_id']);
    expect(
      await faults({
        caller_id: undefined,
        auto_format_nested_fields: true,
        contact: { mobile: caller_id },
      }),
    ).toEqual(['caller_id']);
  });
  test('a missing caller_id is refused', async () =>
    expect(await faults({ caller_id: undefined })).toEqual(['caller_id']));
  test.each([
    'caller_id=3105550123&caller_id=3105550124',
    'caller_id[]=3105550123',
    'caller_id[a]=3105550123',
  ])('the query %s is refused', async (query) => {
    const res = await api('post', `leads?lead_token=${shop.schedule.lead_token}&${query}`, {
      auth: null,
    });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['caller_id']]);
  });

  test.each([
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['hasOwnProperty', 'has_own_property'],
    ['toString', 'to_string'],
    ['First Name', 'first_name'],
    ['x'.repeat(100), 'x'.repeat(100)],
  ])('the token name %j is a name like any other: %j', async (key, name) => {
    const value = { polluted: 'yes' };
    for (const more of [
      `${JSON.stringify(key)}:${JSON.stringify(value)}`,
      `"data":{${JSON.stringify(key)}:${JSON.stringify(value)}}`,
    ]) {
      const { status, body } = await in_json(complete({}), more);
      expect([status, Object.entries(body.lead.data)]).toEqual([201, [[name, value]]]);
    }
    const [in_query, in_form] = [complete({}), complete({})].map((own) =>
      new URLSearchParams({ ...own, [`${key}[polluted]`]: 'yes' } as Record<
        string,
        string
      >).toString(),
    );
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    for (const sent of [
      api('post', `leads?${in_query}`, { auth: null }),
      api('post', 'leads', { auth: null, body: in_form, headers: form }),
    ])
      expect((await sent).status).toBe(201);
  });

  test.each([
    ['', 'data'],
    ['😀', '😀'],
    ['---', '---'],
    ['x'.repeat(101), 'x'.repeat(100)],
  ])('the token name %j is refused', async (key, field) => {
    for (const more of [`${JSON.stringify(key)}:1`, `"data":{${JSON.stringify(key)}:1}`]) {
      const { status, body } = await in_json(complete({}), more);
      expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
    }
  });

  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
  test.each<[string, Fields, Fields]>([
    ['64 kB of data and not one byte more', { a: 'x'.repeat(65_528) }, { a: 'x'.repeat(65_529) }],
    ['64 kB of data, in bytes', { a: 'é'.repeat(32_764) }, { a: `${'é'.repeat(32_764)}x` }],
    ['200 tokens and not one more', keys(200), keys(201)],
    ['tokens five levels deep and no deeper', { k: nested(5) }, { k: nested(6) }],
  ])('%s are taken, at the top and in data', async (_, enough, too_much) => {
    for (const shape of [(tokens: Fields) => tokens, (data: Fields) => ({ data })]) {
      expect((await made(shape(enough))).lead.data).toEqual(enough);
      expect((await faults(shape(too_much)))[0]).toMatch(/^(data|k)$/);
    }
  });
  test('what is nested without end is refused', async () => {
    expect(
      (await in_json(complete({}), `"a":${'['.repeat(100_000)}${']'.repeat(100_000)}`)).status,
    ).toBe(422);
  });

  test.each<[string, Fields, Record<string, string>]>([
    ['plainly', {}, {}],
    ['under Idempotency-Keys', {}, { 'Idempotency-Key': 'grow-' }],
    ['with all that match it', { update_all_matching_leads: true }, {}],
    ['with update_only', { update_only: true }, {}],
  ])(
    'a lead that is submitted again and again %s grows to 128 kB and stays as it is',
    async (_, fields, headers) => {
      const { lead, id } = await made({ n0: 'x'.repeat(60_000) });
      const grow = (n: number) =>
        post(
          { caller_id: lead.caller_id, [`n${n}`]: 'x'.repeat(60_000), ...fields },
          headers['Idempotency-Key'] ? { 'Idempotency-Key': `grow-${n}` } : {},
        );
      expect((await grow(1)).status).toBe(200);
      const refused = await grow(2);
      expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ['data']]);
      expect(Object.keys((await api('get', `leads/${id}`)).body.lead.data)).toEqual(['n0', 'n1']);
      expect(
        (await post({ caller_id: lead.caller_id, n0: null, n2: 'y', ...fields })).body.lead.data,
      ).toMatchObject({ n2: 'y' });
    },
  );

  test.each<unknown>([
    'a@b.example\r\nBcc: c@d.example',
    'a@b.example\nc@d.example',
    'a@b.example,c@d.example',
    'a@b.example c@d.example',
    'Ann <a@b.example>',
    '"a"@b.example',
    'a@b',
    'ann',
    7,
    ['a@b.example'],
    `${'a'.repeat(60)}@${`${'b'.repeat(60)}.`.repeat(4)}example`,
  ])('the email %j is refused, at the top and in data', async (email) => {
    expect(await faults({ email })).toEqual(['email']);
    expect(await faults({ data: { email } })).toEqual(['email']);
  });

  test.each(['x\0y', '\0', 'half a pair \ud800'])(
    'the text %j, which PostgreSQL cannot hold, is refused wherever it stands',
    async (text) => {
      for (const fields of [
        { a: text },
        { data: { a: text } },
        { data: { [text]: 1 } },
        { sub_id: text },
        { email: text },
        { caller_id: text },
        { ip_address: text },
        { traffic_source_id: text },
        { a: [{ b: text }] },
      ])
        expect((await faults(fields)).length).toBe(1);
      const form = await api('post', 'leads', {
        auth: null,
        form: complete({ data: JSON.stringify({ a: text }) }) as Record<string, string>,
      });
      expect(form.status).toBe(422);
    },
  );

  test.each<Fields>([
    { zip: { toString: 1 } },
    { zip: [] },
    { postal_code: { a: 1 } },
    { name: { first: null, all: [null] } },
    { phone: { toString: 1 } },
    { a: 1e300 },
  ])('the data %j are kept as they are', async (data) => {
    expect((await made({ data })).lead.data).toEqual(data);
  });

  test.each(['[]', '"x"', '5', 'null'])(
    'the body %s is refused, whatever is in the query string',
    async (body) => {
      const res = await api('post', 'leads', {
        auth: null,
        query: complete({}),
        body,
        headers: { 'Content-Type': 'application/json' },
      });
      expect(res.status).toBe(422);
    },
  );
  test('a body of a megabyte is 413', async () => {
    expect((await post({ a: 'x'.repeat(1_048_576) })).status).toBe(413);
    expect(
      (
        await api('post', 'leads', {
          auth: null,
          form: complete({ a: 'x'.repeat(1_048_576) }) as Record<string, string>,
        })
      ).status,
    ).toBe(413);
  });
});

describe('the lead token', () => {
  const leads = async () => [
    (await api('get', 'leads')).body.metadata.total_count,
    (await theirs.api('get', 'leads')).body.metadata.total_count,
  ];
  test('must be given, and known', async () => {
    for (const lead_token of [undefined, '', 'xyz', { a: 1 }, 'f'.repeat(32)]) {
      const { status, body } = await post({ lead_token });
      expect([status, Object.keys(body.errors)]).toEqual([401, ['lead_token']]);
    }
  });

  test('that was reset, or whose schedule was deleted, is refused at once', async () => {
    const { schedule } = await openShop(world, []);
    await made({ lead_token: schedule.lead_token });
    const after = (
      await api('put', `schedules/${schedule.id}`, { body: { reset_lead_token: true } })
    ).body.schedule;
    expect((await post({ lead_token: schedule.lead_token })).status).toBe(401);
    await made({ lead_token: after.lead_token });
    await api('delete', `schedules/${schedule.id}`);
    expect((await post({ lead_token: after.lead_token })).status).toBe(401);
  });

  test('of another company makes a lead there, and nowhere else', async () => {
    const [mine, others] = await leads();
    const { id } = await made({ lead_token: their_shop.schedule.lead_token });
    expect([await leads(), (await api('get', `leads/${id}`)).status]).toEqual([
      [mine, others + 1],
      404,
    ]);
    expect((await post({ offer_lead_token: their_shop.offer.lead_token })).status).toBe(401);
  });

  test.each([
    ['of another service', () => 'Bearer xyz'],
    ['that is malformed', () => 'Basic !!!'],
    ['of another company', () => basic(theirs.auth)],
    ['with a wrong key', () => basic(`${world.company.auth.split(':')[0]}:wrong`)],
  ])('needs no Authorization, and a header %s is ignored', async (_, header) => {
    const [mine, others] = await leads();
    const res = await post({}, { Authorization: header() });
    expect([res.status, await leads()]).toEqual([201, [mine + 1, others]]);
  });
});

describe('browsers', () => {
  const raw = () => request(world.app);
  const Origin = 'https://landing.example';
  const allowed = ({ headers }: request.Response) => headers['access-control-allow-origin'];
  const preflight = (method: string, path: string) =>
    raw().options(`/api/v1/${path}`).set({
      Origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'content-type',
    });

  test.each([
    ['POST', 'leads'],
    ['PUT', 'leads/3105550123/caller_opt_out'],
    ['GET', 'leads/3105550123/caller_opt_out'],
    ['POST', 'leads/3105550123/caller_remove'],
    ['DELETE', 'leads/3105550123/caller_remove'],
    ['PUT', 'leads/3105550123/caller_move_to_end_of_schedule'],
    ['GET', `leads/${'f'.repeat(32)}/3105550123/by_caller_number`],
  ])('of any origin may %s /%s', async (method, path) => {
    const res = await preflight(method, path);
    expect([
      res.status,
      allowed(res),
      res.headers['access-control-allow-methods'],
      res.headers['access-control-allow-headers'],
    ]).toEqual([
      204,
      Origin,
      expect.stringContaining(method),
      expect.stringContaining('Content-Type'),
    ]);
  });

  test.each([
    ['GET', 'leads'],
    ['POST', 'leads/capture'],
    ['GET', 'leads/1'],
    ['PUT', 'leads/1'],
    ['DELETE', 'leads/1/id'],
    ['GET', 'leads/1/timeline'],
    ['GET', 'buyers'],
    ['POST', 'offers'],
  ])('of origins that are not configured may not %s /%s', async (method, path) => {
    expect(allowed(await preflight(method, path))).toBeUndefined();
    expect(allowed(await raw().get(`/api/v1/${path}`).set({ Origin }))).toBeUndefined();
  });

  test('read the answer to a submission, and to one that is refused', async () => {
    for (const [fields, status] of [
      [{}, 201],
      [{ caller_id: 'x' }, 422],
      [{ lead_token: undefined }, 401],
    ] as const) {
      const res = await post(fields, { Origin });
      expect([
        res.status,
        allowed(res),
        res.headers['access-control-allow-credentials'],
        res.headers.vary,
      ]).toEqual([status, Origin, undefined, expect.stringContaining('Origin')]);
    }
  });
});
