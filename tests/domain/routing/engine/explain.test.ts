import type { Candidate, CandidateGroup } from '../../../../src/domain/routing/engine/candidate';
import { evaluate } from '../../../../src/domain/routing/engine/evaluate';
import {
  buildBasis,
  buildDecision,
  packDecision,
  unpackDecision,
  type StoredBasis,
} from '../../../../src/domain/routing/engine/explain';
import { buildVerdict, buyer, group, MONDAY, tokens } from '../../../support/candidates';

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
  const evaluation = evaluate(candidates, { now: new Date(MONDAY), tokens, seed: 'seed' });
  const verdict = buildVerdict([7]);
  const basis = buildBasis(candidates);
  const packed = packDecision(verdict, evaluation, basis);
  expect(packed.faults.map(({ reason, ids }) => [reason, ids])).toEqual([
    ['paused', [3, 4]],
    ['no_number', [8]],
  ]);
  const names = new Map(candidates.map(({ id, name }) => [id, name]));
  const read = JSON.parse(JSON.stringify(packed)) as typeof packed;
  expect(unpackDecision(read, JSON.parse(basis.text) as StoredBasis, names)).toEqual(
    buildDecision(verdict, evaluation),
  );
});
