import { buildDecision } from '../../../../src/domain/routing/engine/decision';
import { formatDecision } from '../../../../src/domain/routing/engine/explanation';
import {
  orderCandidates,
  route,
  type RouteFacts,
} from '../../../../src/domain/routing/engine/route';
import { buyer, cap, group, MONDAY, tokens } from '../../../support/candidates';

const facts: RouteFacts = { now: new Date(MONDAY), tokens, seed: 'a "seed" \\', max_legs: 2 };
const NAMES = ['Ada', 'Zoë "Z" \\ Ltd.', '日本\u2028', '\ud83d\udcde', '\ud800', null];

/** More than go into one part of the text, of every kind. */
const candidates = Array.from({ length: 200 }, (_, n) => {
  const dialBuyersType = n % 14 === 6 ? ('simultaneously' as const) : undefined;
  const through = group({
    id: 90 + (n % 14),
    ...(dialBuyersType && { dial_buyers_type: dialBuyersType }),
  });
  return buyer({
    id: 1_000 + n,
    name: NAMES[n % NAMES.length]!,
    tier: (n % 3) - 1.5,
    weight: n % 5,
    paused: n % 17 === 0,
    ...(n % 23 === 0 && cap('attempt_daily', 5, 5, '2026-06-02T04:00:00Z')),
    record_token_filter_list: n % 19 === 0 ? ['state:in "CA"'] : [],
    direct: n % 2 === 0,
    groups: n % 2 === 0 ? [] : [through],
  });
});

const verdict = {
  round: 1,
  at: MONDAY,
  seed: facts.seed,
  offer_id: 1,
  action: 'dial' as const,
  reason: null,
  message: null,
  buyer_ids: [1_001, 1_003],
  bids: [],
  caps: [],
};

test.each([0, 1, 31, 32, 33, 64, 200])('the text of %i candidates is that of JSON', (count) => {
  const some = candidates.slice(0, count);
  const text = formatDecision(verdict, orderCandidates(some, facts)).join('');
  expect(text).toBe(JSON.stringify(buildDecision(verdict, route(some, facts).considered)));
});
