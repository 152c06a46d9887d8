import { hideMoney } from '../../src/console/client/visible-contract';
import { describeNouns } from '../../src/console/describe-nouns';

// A column that the API answers with null is in no table, filter, order or form of the console.

const whole = describeNouns();
const forTeam = (...visible: ('revenue' | 'payout')[]) =>
  hideMoney(whole, { team_ids: [1], visible_money: visible }).nouns;

test('publishers see what they are paid, and nothing of buyers', () => {
  const { calls, traffic_sources: sources } = forTeam('payout');
  expect(Object.keys(calls!.read)).toEqual(expect.arrayContaining(['payout', 'offer']));
  for (const name of ['revenue', 'buyer', 'buyer_converted', 'provider_cost'])
    expect([name in calls!.read, name in calls!.filters, name in calls!.write]).toEqual([
      false,
      false,
      false,
    ]);
  expect(calls!.orders).not.toContain('revenue');
  expect('attempt_daily_limit' in sources!.write).toBe(true);
  expect('revenue_daily_limit' in sources!.write).toBe(false);
});

test('buyers see what they pay, and nothing of sources', () => {
  const { calls } = forTeam('revenue');
  expect('revenue' in calls!.read).toBe(true);
  for (const name of ['payout', 'traffic_source', 'profit'])
    expect([name in calls!.read, name in calls!.filters]).toEqual([false, false]);
});

test('notes are for those alone who are not limited', () => {
  expect('description' in forTeam('revenue', 'payout').offers!.write).toBe(false);
  expect('description' in whole.nouns.offers!.write).toBe(true);
  expect(hideMoney(whole, { team_ids: null, visible_money: [] })).toBe(whole);
});
