import { contract, type Operation } from '../../../src/platform/contract/contract';
import { isRemoval, OWN_KEYS, type Table } from '../../../src/data/references';
import { createFixture, type Fixture } from '../../support/example';
import { listReferences } from '../../support/references';
import { useWorld } from '../../support/use-world';
import type { Company } from '../../support/world';

// A record is named by its id, its uuid or the customer's own identifier, in filters and in bodies
// alike. Derived from openapi.yaml, then the requests of a real client.

const world = useWorld();
const { createRecord, api } = world;
let fixture: Fixture;
let theirs: Company;
let theirFixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(world);
  theirs = await world.addCompany();
  theirFixture = await createFixture(world, theirs);
  for (const [table, key] of Object.entries(OWN_KEYS))
    await world.sql(`UPDATE ${table} SET ${key} = $1 || id WHERE true`, [`own-${table}-`]);
});

const buildOwnKey = (table: string) => `own-${table}-${fixture.ids[table]}`;
const hasOwnKey = (table: string) => OWN_KEYS[table as Table] !== undefined;

async function loadUuid(table: string, id: number): Promise<string> {
  const [row] = await world.sql<{ uuid: string }>(`SELECT uuid FROM ${table} WHERE id = $1`, [id]);
  return row!.uuid;
}

const account = contract.operations.filter(({ credentials }) => credentials === 'account');
const listQueryParameters = ({ parameters }: Operation) =>
  parameters.filter(({ in: location }) => location === 'query');
const filters = account.flatMap((operation) =>
  operation.method !== 'get'
    ? []
    : listQueryParameters(operation).flatMap(({ name, schema }) => {
        const table = contract.resolve(schema)['x-reference'];
        return table ? [[`${operation.id}?${name}`, operation, name, table] as const] : [];
      }),
);

test('every filter that takes an id or a uuid says of which table', () => {
  const unmarked = account.flatMap((operation) =>
    listQueryParameters(operation).flatMap(({ name, schema }) => {
      const isId = /^(.*_)?id$/.test(name) && schema.$ref?.endsWith('/RecordId');
      return isId && !schema['x-reference'] ? [`${operation.id}?${name}`] : [];
    }),
  );
  expect(unmarked).toEqual([]);
  expect(filters.length).toBeGreaterThan(25);
});

describe.each(filters)('%s', (_, operation, name, table) => {
  const ask = (value: string | number) =>
    api('get', fixture.path(operation), { query: { [name]: value } });

  test('finds the same by id, uuid and own identifier', async () => {
    const id = fixture.ids[table]!;
    const byId = await ask(id);
    expect(byId.status).toBe(200);
    const names = [await loadUuid(table, id), ...(hasOwnKey(table) ? [buildOwnKey(table)] : [])];
    for (const reference of names) expect((await ask(reference)).body).toEqual(byId.body);
  });

  test('refuses what names nothing, and what is of another company, on its field', async () => {
    const foreign = theirFixture.ids[table]!;
    for (const none of [
      '999999999',
      '00000000-0000-4000-8000-000000000000',
      foreign,
      await loadUuid(table, foreign),
      ...(hasOwnKey(table) ? ['nobody', `own-${table}-${foreign}`] : []),
    ]) {
      const res = await ask(none);
      expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [name]]);
    }
  });

  test('is no filter when it is blank', async () => {
    const without = await api('get', fixture.path(operation));
    expect((await ask('')).body).toEqual(without.body);
  });
});

const inBodies = contract.operations
  .flatMap(listReferences)
  .filter(({ target }) => hasOwnKey(target))
  .map(
    (reference) =>
      [`${reference.operation.id}.${reference.field} (${reference.target})`, reference] as const,
  );

/** Bodies in which a field has a meaning that it has not in the contract's example. */
const BODIES: Record<string, object> = {
  copy_buyer_id: { copy_another_buyer: true },
  to_schedule_id: { action_type: 'move_to_schedule', body: undefined },
};

const NO_OWNER = { buyer_id: null, buyer_group_id: null, traffic_source_id: null, offer_id: null };
const NO_CALLS = { ...NO_OWNER, kind: 'no_calls', minutes: 5, percent: null };
/** Bodies by operation, where a field stands in place of another. */
const REPLACED_FIELDS: Record<string, object> = {
  'createAccountEntry.traffic_source_id': { buyer_id: null, kind: 'payment', amount: -1 },
  'createStatement.traffic_source_id': { buyer_id: null },
  'createTrafficSourceToken.schedule_id': { offer_id: null },
  // A lead that there is stays with its source.
  'submitLead.traffic_source_id': { caller_id: '+13105550142' },
  ...Object.fromEntries(
    ['create', 'update'].flatMap((verb) => [
      ...['buyer_id', 'traffic_source_id', 'offer_id'].map((field) => [
        `${verb}AlertRule.${field}`,
        NO_CALLS,
      ]),
    ]),
  ),
};

describe.each(inBodies)('%s', (_, { operation, field, target, list, along }) => {
  const send = (name: string) => {
    const body = fixture.body(operation) ?? {};
    // Unique values are taken already, by the record of the fixture.
    const fields = Object.entries(body).filter(([key]) => !/^user_\w+_id$/.test(key));
    return fixture.send(operation, {
      body: {
        ...Object.fromEntries(fields),
        ...BODIES[field],
        ...REPLACED_FIELDS[`${operation.id}.${field}`],
        ...along,
        [field]: list ? [name] : name,
      },
    });
  };

  test('takes the own identifier for the record', async () => {
    const res = await send(buildOwnKey(target));
    expect(Object.keys(res.body.errors ?? {})).not.toContain(field);
    const record = res.body[res.body.metadata?.root] ?? {};
    if (!(field in record) || res.status >= 300) return;
    const id = fixture.ids[target];
    expect(record[field]).toEqual(list ? expect.arrayContaining([id]) : id);
  });

  // A missing record need not be removed, and a lenient operation warns.
  const isRefused = !isRemoval(field) && !operation.lenient;
  if (operation.credentials === 'account' && isRefused)
    test('refuses an identifier that names nothing', async () => {
      const res = await send(`own-${target}-0`);
      expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
    });
});

describe('traffic_source_id=1000 of a client that knows only its own identifiers', () => {
  let source: { id: number };
  const countRecords = async (path: string, query: object) =>
    (await api('get', path, { query })).body.metadata.total_count;

  beforeAll(async () => {
    await world.sql(`SELECT setval(pg_get_serial_sequence('traffic_sources', 'id'), 5000)`);
    const body = { name: 'Partner', user_traffic_source_id: '1000' };
    source = (await api('post', 'traffic_sources', { body })).body.traffic_source;
    expect(source.id).toBeGreaterThan(5000);
  });

  test('works in sessions, filters of calls, and reports', async () => {
    const call = await api('post', 'call_sessions', {
      body: {
        offer_id: String(fixture.ids.offers),
        caller_number: '+13105550171',
        traffic_source_id: 1000,
      },
    });
    expect([call.status, call.body.errors]).toEqual([201, {}]);
    expect(await countRecords('calls', { traffic_source_id: 1000 })).toBe(1);
    const listed = (await api('get', 'calls', { query: { traffic_source_id: '1000' } })).body.calls;
    expect(listed[0].traffic_source_id).toBe(source.id);
    const report = await api('get', 'calls/reports', {
      query: { traffic_source_id: 1000, category: 'traffic_source' },
    });
    expect(report.body.rows).toHaveLength(1);
  });

  test('works for phone numbers and leads', async () => {
    const path = `phone_numbers/${fixture.ids.numbers}`;
    const number = await api('put', path, { body: { traffic_source_id: 1000 } });
    expect(number.body.number.traffic_source_id).toBe(source.id);
    expect(await countRecords('phone_numbers', { traffic_source_id: 1000 })).toBe(1);
    const lead = await api('put', `leads/${fixture.ids.leads}`, {
      body: { traffic_source_id: 1000 },
    });
    expect(lead.body.lead.traffic_source_id).toBe(source.id);
    expect(await countRecords('leads', { traffic_source_id: 1000 })).toBe(1);
  });

  test('works in the payouts of an offer, whose answer has the id', async () => {
    const payout = { payout_type: 'fixed', amount: 5, paid_for: 'buyer_conversion' };
    const path = `offers/${fixture.ids.offers}`;
    for (const trafficSourceId of [1000, '1000', await loadUuid('traffic_sources', source.id)]) {
      const res = await api('put', path, {
        body: { payouts: [{ ...payout, traffic_source_id: trafficSourceId }] },
      });
      expect([res.status, res.body.errors]).toEqual([200, {}]);
      expect(res.body.offer.payouts[0].traffic_source_id).toBe(source.id);
    }
    const refused = await api('put', path, {
      body: { payouts: [{ ...payout, traffic_source_id: 'nobody' }] },
    });
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([
      422,
      ['payouts.0.traffic_source_id'],
    ]);
  });

  test('works in pings', async () => {
    await api('post', 'inbound_webhooks', {
      body: {
        name: 'By own identifiers',
        vanity_uri: 'by-own-identifiers',
        offer_id: buildOwnKey('offers'),
        has_auth_token: false,
      },
    });
    const ping = await api('post', 'inbound_webhooks/ping/by-own-identifiers', {
      body: { caller_id: '+13105550172', traffic_source_id: 1000 },
    });
    expect([ping.status, ping.body.status]).toEqual([200, 'no_buyer_available']);
    const refused = await api('post', 'inbound_webhooks/ping/by-own-identifiers', {
      body: { caller_id: '+13105550172', traffic_source_id: 1001 },
    });
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([
      422,
      ['traffic_source_id'],
    ]);
  });

  test('means the id where it is the id of another source', async () => {
    await world.sql(`SELECT setval(pg_get_serial_sequence('traffic_sources', 'id'), 8000)`);
    const createSource = async (userTrafficSourceId?: string) =>
      (
        await api('post', 'traffic_sources', {
          body: { name: 'Ambiguous', user_traffic_source_id: userTrafficSourceId },
        })
      ).body.traffic_source;
    const first = await createSource();
    const second = await createSource(String(first.id));
    const path = `leads/${fixture.ids.leads}`;
    const lead = await api('put', path, { body: { traffic_source_id: first.id } });
    expect(lead.body.lead.traffic_source_id).toBe(first.id);
    expect(await countRecords('leads', { traffic_source_id: first.id })).toBe(1);
    expect(await countRecords('leads', { traffic_source_id: second.uuid })).toBe(0);
  });
});

test('what a deleted record had is still found by its id', async () => {
  const { id } = await createRecord('traffic_sources', { name: 'Of the past' });
  const path = `leads/${fixture.ids.leads}`;
  await api('put', path, { body: { traffic_source_id: id } });
  await api('delete', `traffic_sources/${id}`);
  const response = await api('get', 'leads', { query: { traffic_source_id: id } });
  expect([response.status, response.body.metadata.total_count]).toEqual([200, 1]);
});

test('ids that name nothing are refused, one that names a record is enough', async () => {
  const lists = contract.operations.filter(
    ({ method, parameters }) => method === 'get' && parameters.some(({ name }) => name === 'ids'),
  );
  expect(lists.length).toBeGreaterThan(15);
  for (const { path } of lists) {
    const nothing = await api('get', path, { query: { ids: '999999999' } });
    expect([path, nothing.status, Object.keys(nothing.body.errors)]).toEqual([path, 422, ['ids']]);
  }
  const id = fixture.ids.buyers;
  const { body } = await api('get', 'buyers', { query: { ids: `999999999,${id}` } });
  expect(body.buyers).toMatchObject([{ id }]);
});
