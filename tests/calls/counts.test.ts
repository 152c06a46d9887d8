import { callsOf } from '../support/calls';
import { createWorld, type World } from '../support/world';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const recount = (company_id: bigint) =>
  world.sql(
    `UPDATE record_counts
    SET n = (SELECT count(*) FROM calls WHERE company_id = $1 AND deleted_at IS NULL)
    WHERE company_id = $1 AND resource = 'calls'`,
    [company_id],
  );

test('stored counts equal counting, after any concurrent changes of calls', async () => {
  const other = await world.addCompany();
  const { call: add } = callsOf(world, other);
  const calls = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      add({
        buyer_converted: n % 2 === 0,
        recording_url: n % 3 === 0 ? 'https://example.com/a.mp3' : null,
      }),
    ),
  );
  const change = (set: string, { id }: { id: number }) =>
    world.sql(`UPDATE calls SET ${set} WHERE company_id = $1 AND id = $2`, [other.id, id]);
  await Promise.all(
    calls.map((one, n) =>
      change(
        [
          'traffic_source_converted = true',
          'buyer_converted = NOT buyer_converted',
          'recording_url = NULL',
          'deleted_at = now()',
        ][n % 4]!,
        one,
      ),
    ),
  );
  await Promise.all(
    calls.map((one, n) =>
      change(
        [
          'deleted_at = NULL',
          'traffic_source_converted = NOT traffic_source_converted, buyer_converted = true',
        ][n % 2]!,
        one,
      ),
    ),
  );
  await recount(other.id);
  for (const flag of [
    'buyer_converted',
    'offer_converted',
    'either_converted',
    'has_recording',
    'no_buyer',
    'in_progress',
  ]) {
    for (const value of [true, false]) {
      const { calls: found, metadata } = (
        await other.api('get', 'calls', { query: { [flag]: value, columns: 'id' } })
      ).body;
      expect([flag, value, metadata.total_count]).toEqual([flag, value, found.length]);
    }
  }
  await add({ direction: 'outbound' });
  await world.sql(`DELETE FROM calls WHERE company_id = $1 AND id = ANY($2::bigint[])`, [
    other.id,
    [(await add({ direction: 'outbound' })).id, calls[1]!.id],
  ]);
  await recount(other.id);
  for (const category of ['inbound', 'outbound']) {
    const { calls: found, metadata } = (
      await other.api('get', 'calls', { query: { category, columns: 'id' } })
    ).body;
    expect([category, metadata.total_count]).toEqual([category, found.length]);
  }
});
