import { buildExpectations } from '../../../src/domain/simulation/outcome';

test('rates are given, or the buyer’s own, or those of all buyers, or the default', () => {
  const observed = [
    { buyer_id: 1, attempts: 40, connects: 20, conversions: 5, rang: 100 },
    { buyer_id: 2, attempts: 10, connects: 10, conversions: 10, rang: 50 },
  ];
  const request = { buyer_ids: [1, 2], talked: [30, 60] };
  const { rates, talked, answered_after } = buildExpectations(observed, request);
  expect([rates.get(1), rates.get(2)]).toEqual([
    { answer: { rate: 0.5, from: 'buyer' }, conversion: { rate: 0.25, from: 'buyer' } },
    { answer: { rate: 0.6, from: 'offer' }, conversion: { rate: 0.5, from: 'offer' } },
  ]);
  expect([talked, answered_after]).toEqual([[30, 60], 5]);
  expect(buildExpectations([], request).rates.get(1)!.answer).toEqual({ rate: 1, from: 'assumed' });
  expect(
    buildExpectations(observed, { ...request, assumptions: { answer_rate: 0.1 } }).rates.get(1)!
      .answer,
  ).toEqual({ rate: 0.1, from: 'given' });
});
