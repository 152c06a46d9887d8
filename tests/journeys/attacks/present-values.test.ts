import { contract, facets, type Operation } from '../../../src/platform/contract/contract';
import { findStoredRecord } from '../../../src/api/records/stored-fields';
import { createFixture, type Fixture } from '../../support/example';
import { useWorld } from '../../support/use-world';

// A PUT of what a record has already changes nothing: not when it was changed, so that a checksum
// that others hold stays good, and not the log. It wrote the time, and an entry of no changes.

const world = useWorld();
const { api } = world;
let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(world);
  // Some events are only recorded for a webhook that wants them.
  await api('post', 'outgoing_webhooks', {
    body: { name: 'W', url: 'https://example.com/', trigger_type: 'lead_changed' },
  });
});

type Fields = Record<string, unknown>;

/** Values that a PUT can write, as the GET of the record shows them. */
async function loadPresentValues(operation: Operation): Promise<Fields> {
  const { show, root } = findStoredRecord(operation)!;
  const record = (await fixture.send(show)).body[root] as Fields;
  const fields = Object.entries(facets(operation.body!).properties);
  return Object.fromEntries(
    fields.flatMap(([name, { 'x-other-names': otherNames = [] }]) => {
      const column = [name, ...otherNames].find((candidate) => candidate in record);
      return column === undefined ? [] : [[name, record[column]] as const];
    }),
  );
}

/** A digest of the rows of each table, without counters of requests. */
async function loadDigests(): Promise<Record<string, string>> {
  const tables = await world.sql<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'rate_limits'`,
  );
  const queries = tables.map(
    ({ name }) => `SELECT '${name}' AS name, (
    SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM "${name}" t
  ) AS digest`,
  );
  const rows = await world.sql<{ name: string; digest: string }>(queries.join(' UNION ALL '));
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

const puts = contract.operations
  .filter((operation) => findStoredRecord(operation) !== undefined)
  .map((operation) => [operation.id, operation] as const);

test('every record that can be changed by a PUT is tried', () => {
  expect(puts.length).toBeGreaterThan(20);
});

test.each(puts)('%s with the present values changes no row', async (_, operation) => {
  const values = await loadPresentValues(operation);
  const [first] = Object.entries(values);
  const { show, root } = findStoredRecord(operation)!;
  const shown = await fixture.send(show);
  const before = await loadDigests();
  for (const body of [Object.fromEntries([first!]), values]) {
    const res = await fixture.send(operation, { body });
    expect([res.status, res.body.errors]).toEqual([200, {}]);
    expect(res.body[root]).toEqual(shown.body[root]);
    expect(res.body.checksum).toBe(shown.body.checksum);
  }
  expect(await loadDigests()).toEqual(before);
});

test('a PUT that asks for more than values of columns does it', async () => {
  const { body } = await api('post', 'offers', { body: { name: 'Tokens' } });
  const { id, lead_token, name } = body.offer;
  const reset = await api('put', `offers/${id}`, { body: { name, reset_lead_token: true } });
  expect(reset.body.offer.lead_token).not.toBe(lead_token);
});

test('a checksum that is not the present one is refused, also with the present values', async () => {
  const { body } = await api('post', 'buyers', { body: { name: 'Checked' } });
  const put = (checksum: string) =>
    api('put', `buyers/${body.buyer.id}`, {
      body: { name: 'Checked' },
      headers: { 'If-Match': `"${checksum}"` },
    });
  expect((await put('f'.repeat(32))).status).toBe(412);
  const same = await put(body.checksum);
  expect([same.status, same.body.checksum]).toEqual([200, body.checksum]);
});

test('of many that write one value at once, one has changed the record', async () => {
  const { body } = await api('post', 'buyers', { body: { name: 'Raced', weight: 1 } });
  const path = `buyers/${body.buyer.id}`;
  const weights = Array.from({ length: 24 }, (_, n) => (n % 2 === 0 ? { weight: 2 } : { tier: 1 }));
  const replies = await Promise.all(weights.map((fields) => api('put', path, { body: fields })));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await api('get', path)).body.buyer).toMatchObject({ weight: 2, tier: 1 });
  const logs = await api('get', 'change_logs', {
    query: { record_type: 'Buyer', record_id: body.buyer.id },
  });
  expect(logs.body.change_logs.map(({ changes }: Fields) => changes)).toEqual([
    expect.objectContaining({ name: { from: null, to: 'Raced' } }),
    { weight: { from: 1, to: 2 } },
  ]);
});
