import { decideDollars } from '../../../../src/domain/money/engine/decide-dollars';
import { NOT_PAID_BEFORE, type CallMoney } from '../../../../src/domain/money/engine/settlement';

// The dollars that are due for a call, decided from its stored state.

const CALL: CallMoney = {
  traffic_source_id: 7,
  caller_number: 13105550188,
  revenue: 0,
  payout: 0,
  traffic_source_converted: false,
  buyer_repeat_caller: false,
  traffic_source_repeat_caller: false,
  is_payout_returned: false,
  source_payouts: [],
  payouts: [{ payout_type: 'percentage', amount: 30, duplicate_timeframe: 60 }],
  payments: [],
};
const APPLYING = {
  id: 5,
  name: 'Minute',
  revenue: 10,
  duplicate_timeframe: 3_600,
  attribution_token_values: ['sold:yes'],
};
const decide = (call: Partial<CallMoney>, paidBefore = NOT_PAID_BEFORE) =>
  decideDollars(
    { ...CALL, ...call },
    { buyer_id: 2, buyer_group_id: null, applying: APPLYING, answered_seconds: 90, paidBefore },
  );
const PAID = [{ buyer_id: 2, revenue: 20 }];
const names = ({ events }: ReturnType<typeof decide>) => events.map(({ event }) => event);

test('a conversion pays its revenue, and the source its part of it', () => {
  const due = decide({});
  expect(due).toMatchObject({
    conversion: { id: 5, revenue: 10 },
    revenue: 10,
    tokens: { sold: 'yes' },
    payout: 3,
    source_converted: true,
    buyer_seconds: 3_600,
    source_seconds: 60,
    ...NOT_PAID_BEFORE,
  });
  expect(names(due)).toEqual(['converted', 'payout']);
});

test('dollars that a user has set before belong to the conversion and are not added again', () => {
  expect(decide({ revenue: 4 })).toMatchObject({
    conversion: { revenue: 4 },
    revenue: 0,
    payout: 1.2,
  });
});

test('of a caller who was paid for before nothing is due', () => {
  const paidBefore = { buyer_paid: true, source_paid: false };
  const due = decide({}, paidBefore);
  expect(due).toMatchObject({ conversion: null, source_converted: null, ...paidBefore });
  expect(names(due)).toEqual([]);
});

test('callers who withhold their number are all different', () => {
  const paidBefore = { buyer_paid: true, source_paid: true };
  expect(decide({ caller_number: null }, paidBefore)).toMatchObject({
    conversion: { revenue: 10 },
    payout: 3,
    buyer_seconds: 0,
    source_seconds: 0,
    ...NOT_PAID_BEFORE,
  });
});

test('a call that has converted pays its source once, by what its buyer pays', () => {
  expect(decide({ payments: PAID, revenue: 20 })).toMatchObject({ conversion: null, payout: 6 });
  expect(decide({ payments: PAID, revenue: 20, traffic_source_converted: true })).toMatchObject({
    source_converted: null,
    events: [],
  });
});

test('a payout that was taken back is paid again only by a report', () => {
  expect(decide({ is_payout_returned: true })).toMatchObject({
    conversion: {},
    source_converted: null,
  });
});
