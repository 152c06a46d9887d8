import type { Candidate, CandidateGroup } from '../../../../src/domain/routing/engine/candidate';
import { buildBasis, type StoredBasis } from '../../../../src/domain/routing/engine/basis';
import { decide } from '../../../../src/domain/routing/engine/decide';
import {
  buildDecision,
  packDecision,
  unpackDecision,
} from '../../../../src/domain/routing/engine/decision';
import { route, type RouteFacts } from '../../../../src/domain/routing/engine/route';
import { ownTokens } from '../../../../src/platform/tokens/substitute';
import { buyer, group } from '../../../support/candidates';

/** Monday 08:30 in New York. */
const NOW = new Date('2026-06-01T12:30:00Z');
const tokens = ownTokens({ state: 'TX', age: '40' });
const facts = (more: Partial<RouteFacts> = {}): RouteFacts => ({
  now: NOW,
  tokens,
  seed: 'seed',
  ...more,
});
const through = (...groups: CandidateGroup[]): Partial<Candidate> => ({ direct: false, groups });

test('a stored decision unpacks to what was decided', () => {
  const atOnce = group({ dial_buyers_type: 'simultaneously', tier: 0, weight: 3 });
  const inTurn = group({ id: 4 });
  const candidates = [
    buyer({ id: 1, weight: 5 }),
    buyer({ id: 2, weight: 0 }),
    buyer({ id: 3, paused: true }),
    buyer({ id: 4, paused: true, route_by_type: 'epc', epc: 4 }),
    buyer({ id: 5, ...through(atOnce) }),
    buyer({ id: 6, ...through(atOnce), route_by_type: 'revenue', current_conversion_revenue: 7 }),
    buyer({ id: 7, ...through(inTurn), tier: -2, weight: 9 }),
    buyer({ id: 8, number: null }),
    buyer({ id: 9, ...through(group({ id: 5, dial_buyers_type: 'simultaneously', tier: 2 })) }),
  ];
  const routed = route(candidates, facts());
  const action = 'dial' as const;
  const verdict = {
    round: 1,
    at: NOW.toISOString(),
    seed: 'seed',
    offer_id: 1,
    action,
    reason: null,
    message: null,
    buyer_ids: [5, 6],
    bids: [],
    caps: [],
  };
  const basis = buildBasis(candidates);
  const packed = packDecision(verdict, decide(candidates, facts()), basis);
  expect(packed.faults.map(({ reason, ids }) => [reason, ids])).toEqual([
    ['paused', [3, 4]],
    ['no_number', [8]],
  ]);
  const names = new Map(candidates.map(({ id, name }) => [id, name]));
  const read = JSON.parse(JSON.stringify(packed)) as typeof packed;
  expect(unpackDecision(read, JSON.parse(basis.text) as StoredBasis, names)).toEqual(
    buildDecision(verdict, routed.considered),
  );
});
