import { callFilters } from '../../../src/domain/calls/columns';
import { contract } from '../../../src/platform/contract/contract';
import { createCallWriter } from '../../support/calls';
import { createWorld, type World } from '../../support/world';
import { addRecording } from '../../support/recorded-calls';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const recount = (companyId: bigint) =>
  world.sql(
    `UPDATE record_counts
    SET n = (SELECT count(*) FROM calls WHERE company_id = $1 AND deleted_at IS NULL)
    WHERE company_id = $1 AND resource = 'calls'`,
    [companyId],
  );

test('stored counts equal counting, after any concurrent changes of calls', async () => {
  const otherCompany = await world.addCompany();
  const { call: add } = createCallWriter(world, otherCompany);
  const calls = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      add({
        buyer_converted: n % 2 === 0,
        recording_url: n % 3 === 0 ? 'https://example.com/a.mp3' : null,
      }),
    ),
  );
  const change = (set: string, { id }: { id: number }) =>
    world.sql(addRecording(`UPDATE calls SET ${set} WHERE company_id = $1 AND id = $2`), [
      otherCompany.id,
      id,
    ]);
  await Promise.all(
    calls.map((call, n) =>
      change(
        [
          'traffic_source_converted = true',
          'buyer_converted = NOT buyer_converted',
          'recording_url = NULL',
          'deleted_at = now()',
        ][n % 4]!,
        call,
      ),
    ),
  );
  await Promise.all(
    calls.map((call, n) =>
      change(
        [
          'deleted_at = NULL',
          'traffic_source_converted = NOT traffic_source_converted, buyer_converted = true',
        ][n % 2]!,
        call,
      ),
    ),
  );
  await recount(otherCompany.id);
  for (const flag of [
    'buyer_converted',
    'offer_converted',
    'either_converted',
    'has_recording',
    'no_buyer',
    'in_progress',
    'sandbox',
  ]) {
    for (const value of [true, false]) {
      const { calls: listedCalls, metadata } = (
        await otherCompany.api('get', 'calls', { query: { [flag]: value, columns: 'id' } })
      ).body;
      expect([flag, value, metadata.total_count]).toEqual([flag, value, listedCalls.length]);
    }
  }
  await add({ direction: 'outbound' });
  await world.sql(
    addRecording(`DELETE FROM calls WHERE company_id = $1 AND id = ANY($2::bigint[])`),
    [otherCompany.id, [(await add({ direction: 'outbound' })).id, calls[1]!.id]],
  );
  await recount(otherCompany.id);
  for (const category of ['inbound', 'outbound']) {
    const { calls: listedCalls, metadata } = (
      await otherCompany.api('get', 'calls', { query: { category, columns: 'id' } })
    ).body;
    expect([category, metadata.total_count]).toEqual([category, listedCalls.length]);
  }
});

test('filtered lists count calls that have settled as they are now', async () => {
  const otherCompany = await world.addCompany();
  const { call: add } = createCallWriter(world, otherCompany);
  const createdAt = new Date(Date.now() - 7_200_000);
  // Ids of several chunks, which are counted separately.
  for (let n = 0; n < 12; n++)
    await add({
      id: 1_000_000 + n * 4_000,
      created_at: createdAt,
      ended_at: createdAt,
      status: n % 2 ? 'no_answer' : 'completed',
      buyer_converted: n % 3 === 0,
      token_values: JSON.stringify({ state: n % 2 ? 'CA' : 'NY' }),
    });
  const queries = [
    { status: 'no_answer' },
    { token_key: 'state', token_value: 'CA' },
    { buyer_converted: true, status: 'completed' },
    { created_at_from: new Date(createdAt.getTime() - 1_000).toISOString() },
    { in_progress: false, ended_at_to: new Date().toISOString() },
    { unbilled_reason: 'not_connected' },
    { unbilled_reason: 'too_short' },
  ];
  const totals = async () => {
    const counts: number[] = [];
    for (const query of queries) {
      const { calls, metadata } = (
        await otherCompany.api('get', 'calls', { query: { ...query, per_page: 5 } })
      ).body;
      const { metadata: all } = (
        await otherCompany.api('get', 'calls', {
          query: { ...query, per_page: 100, order: 'ended_at' },
        })
      ).body;
      expect([query, all.total_count, calls.length]).toEqual([
        query,
        metadata.total_count,
        Math.min(5, metadata.total_count),
      ]);
      counts.push(metadata.total_count);
    }
    return counts;
  };
  expect(await totals()).toEqual([6, 6, 2, 12, 12, 8, 0]);
  expect(await totals()).toEqual([6, 6, 2, 12, 12, 8, 0]);
  const change = (set: string, id: number) =>
    world.sql(addRecording(`UPDATE calls SET ${set} WHERE company_id = $1 AND id = $2`), [
      otherCompany.id,
      id,
    ]);
  await change(`status = 'completed', buyer_converted = true`, 1_004_000);
  expect(await totals()).toEqual([5, 6, 3, 12, 12, 7, 0]);
  await change(`token_values = '{"state":"TX"}'`, 1_012_000);
  await change('deleted_at = now()', 1_000_000);
  expect(await totals()).toEqual([5, 5, 2, 11, 11, 7, 0]);
  await add({ status: 'no_answer', id: 1_000_001, ended_at: createdAt });
  expect(await totals()).toEqual([6, 5, 2, 12, 12, 8, 0]);
  await change(`unbilled_reason = 'too_short'`, 1_008_000);
  await change('connected_at = created_at', 1_020_000);
  expect(await totals()).toEqual([6, 5, 2, 12, 12, 6, 1]);
});

test('a change of whatever a filter of calls reads is recorded once a call has settled', async () => {
  const conditions = Object.values(callFilters).flatMap((filter) =>
    typeof filter === 'string' ? filter : Object.values(filter.cases),
  );
  const references = contract.operations
    .find(({ id }) => id === 'listCalls')!
    .parameters.filter((parameter) => parameter.schema['x-reference'] ?? 'x-reference' in parameter)
    .map(({ name }) => `t.${name}`);
  expect(references.length).toBeGreaterThan(3);
  const columns = new Set(
    [...conditions, ...references, 't.created_at', 't.deleted_at'].flatMap((condition) =>
      [...condition.matchAll(/\bt\.(\w+)/g)].map(([, column]) => column!),
    ),
  );
  const [compared] = await world.sql<{ definition: string }>(
    `SELECT pg_get_functiondef('is_settled_change'::regproc) AS definition`,
  );
  const missing = [...columns].filter(
    (column) => !new RegExp(`\\bnow\\.${column}\\b`).test(compared!.definition),
  );
  expect(missing).toEqual([]);
});
