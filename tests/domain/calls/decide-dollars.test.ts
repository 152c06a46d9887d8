import { decideDollars, type ConvertibleCall } from '../../../src/domain/calls/decide-dollars';

// The dollars that are due for a call, decided from its stored state.

const CALL: ConvertibleCall = {
  traffic_source_id: 7,
  sub_id: null,
  number_called: null,
  caller_city: null,
  caller_state: null,
  caller_zip: null,
  caller_country: null,
  caller_number: 13105550188,
  offer_id: 1,
  token_values: {},
  revenue: 0,
  traffic_source_converted: false,
  buyer_repeat_caller: false,
  traffic_source_repeat_caller: false,
  buyer_group_id: null,
  source_payouts: [],
  payouts: [{ payout_type: 'percentage', amount: 30, duplicate_timeframe: 60 }],
  converted: false,
  set_revenue: 0,
  is_returned: false,
  is_payout_returned: false,
};
const APPLYING = {
  id: 5,
  name: 'Minute',
  conversion_type: 'duration' as const,
  duration: 60,
  revenue: 10,
  duplicate_timeframe: 3_600,
  token_values: [],
  attribution_token_values: ['sold:yes'],
};
const NOT_PAID = { buyer_paid: false, source_paid: false };
const decide = (call: Partial<ConvertibleCall>, paidBefore = NOT_PAID) =>
  decideDollars(
    { ...CALL, ...call },
    { buyer_id: 2, applying: APPLYING, answered_seconds: 90, paidBefore },
  );
const names = ({ events }: ReturnType<typeof decide>) => events.map(({ event }) => event);

test('a conversion pays its revenue, and the source its part of it', () => {
  const due = decide({});
  expect(due).toMatchObject({
    conversion: { id: 5, revenue: 10, added: 10, tokens: { sold: 'yes' } },
    payout: 3,
    buyer_seconds: 3_600,
    source_seconds: 60,
    expects: NOT_PAID,
  });
  expect(names(due)).toEqual(['converted', 'payout']);
});

test('dollars that a user has set before belong to the conversion and are not added again', () => {
  expect(decide({ revenue: 4, set_revenue: 4 })).toMatchObject({
    conversion: { revenue: 4, added: 0 },
    payout: 1.2,
  });
});

test('of a caller who was paid for before nothing is due, which is said once', () => {
  const paidBefore = { buyer_paid: true, source_paid: false };
  const due = decide({}, paidBefore);
  expect(due).toMatchObject({ conversion: null, payout: null, expects: paidBefore });
  expect(names(due)).toEqual(['not_converted']);
  expect(names(decide({ buyer_repeat_caller: true }, paidBefore))).toEqual([]);
});

test('callers who withhold their number are all different', () => {
  const paidBefore = { buyer_paid: true, source_paid: true };
  expect(decide({ caller_number: null }, paidBefore)).toMatchObject({
    conversion: { revenue: 10 },
    payout: 3,
    buyer_seconds: 0,
    source_seconds: 0,
    expects: NOT_PAID,
  });
});

test('a call that has converted pays its source once, by what its buyer pays', () => {
  expect(decide({ converted: true, revenue: 20 })).toMatchObject({ conversion: null, payout: 6 });
  expect(decide({ converted: true, revenue: 20, traffic_source_converted: true })).toMatchObject({
    payout: null,
    events: [],
  });
});

test('a payout that was taken back is paid again only by a report', () => {
  expect(decide({ is_payout_returned: true })).toMatchObject({ conversion: {}, payout: null });
});
