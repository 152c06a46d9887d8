import { checkSums } from '../../scripts/bench/soak-sums';
import type { SoakWorld } from '../../scripts/bench/soak-world';
import type { BenchWorld } from '../../scripts/bench/world';
import { useWorld } from '../support/use-world';

// The bench of a mixed load ends with sums. They are exact for calls, and find each that is not.

const world = useWorld();
const { ok, create, createRecords } = world;
let beganAt: Date;
beforeAll(async () => {
  beganAt = new Date();
  await createCalls();
});

/** Three calls: one converts, one ends too early, one while it rings. */
async function createCalls(): Promise<void> {
  const conversion = { conversion_type: 'duration', duration: 60, revenue: 24.5 };
  const pays = {
    buyer_conversions_schedule: [{ buyer_conversions_attributes: [conversion], schedule: [] }],
  };
  const payouts = [{ payout_type: 'fixed', amount: 12, paid_for: 'buyer_conversion' }];
  const { Auto, Ads } = await createRecords({
    buyers: { Bayline: pays },
    buyer_groups: { A: { buyer_ids: ['Bayline'] } },
    traffic_sources: { Ads: {} },
    offers: { Auto: { payouts, buyer_group_ids: ['A'] } },
  });
  for (const duration of [120, 20, null]) {
    const session = await create('call_sessions', {
      offer_id: Auto,
      caller_number: `+1310555018${duration ?? 0}`.slice(0, 12),
      traffic_source_id: Ads,
    });
    const events = `call_sessions/${session}/events`;
    if (duration !== null) await ok('post', events, { event: 'answered' });
    await ok('post', events, { event: 'completed', duration: duration ?? 0 });
  }
}

/** The names of the sums that are not exact. */
async function findWrongSums(): Promise<string[]> {
  const bench = { url: world.url, company_id: String(world.company.id) } as BenchWorld;
  const checks = await checkSums({
    soak: { world: bench, calls: 0 } as SoakWorld,
    began_at: beganAt,
    sentSums: { calls: 3, leads: 0, repeated_leads: 0 },
    get: (path) => ok('get', path),
  });
  return checks.filter(({ expected, actual }) => expected !== actual).map(({ what }) => what);
}

/** The sums that are not exact after a change, which is then undone. */
async function findWrongSumsAfter(change: string, back: string): Promise<string[]> {
  await world.sql(change);
  const differences = await findWrongSums();
  await world.sql(back);
  return differences;
}

test('the sums of calls that ended in three ways are exact', async () => {
  expect(await findWrongSums()).toEqual([]);
});

test.each([
  [
    'a cap that was counted once too often',
    'caps that differ from attempts, connections and conversions',
    'UPDATE call_limits SET connection_total_used = connection_total_used + 1 WHERE buyer_id > 0',
    'UPDATE call_limits SET connection_total_used = connection_total_used - 1 WHERE buyer_id > 0',
  ],
  [
    'a daily cap that missed an attempt',
    'caps that differ from attempts, connections and conversions',
    'UPDATE call_limits SET attempt_daily_used = attempt_daily_used - 1 WHERE buyer_group_id > 0',
    'UPDATE call_limits SET attempt_daily_used = attempt_daily_used + 1 WHERE buyer_group_id > 0',
  ],
  [
    'a concurrency that was not given back',
    'slots and concurrency of calls that have ended',
    'UPDATE call_limits SET concurrency_cap_used = 1',
    'UPDATE call_limits SET concurrency_cap_used = 0',
  ],
  [
    'a cent on a call that its conversion lacks',
    'calls whose dollars differ from their conversion',
    'UPDATE calls SET revenue = revenue + 0.01 WHERE buyer_converted',
    'UPDATE calls SET revenue = revenue - 0.01 WHERE buyer_converted',
  ],
  [
    'a conversion that is missing',
    'dollars of calls and of their conversions',
    'UPDATE conversions SET returned_at = now()',
    'UPDATE conversions SET returned_at = NULL',
  ],
  [
    'a count of calls that is too high',
    'total_count of calls',
    `UPDATE record_counts SET n = n + 1 WHERE resource = 'calls'`,
    `UPDATE record_counts SET n = n - 1 WHERE resource = 'calls'`,
  ],
  [
    'a call that nobody was told of',
    'calls that were answered with 201',
    `INSERT INTO calls (company_id, uuid, direction, status, carrier, ended_at)
      SELECT id, gen_random_uuid(), 'inbound', 'no_answer', 'softswitch', now() FROM companies`,
    `DELETE FROM calls WHERE offer_id IS NULL`,
  ],
])('%s is found', async (_, what, change, back) => {
  expect(await findWrongSumsAfter(change, back)).toContain(what);
});
