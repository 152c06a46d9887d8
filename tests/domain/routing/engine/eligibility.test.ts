import type { Candidate, CandidateGroup } from '../../../../src/domain/routing/engine/candidate';
import { evaluateEligibility } from '../../../../src/domain/routing/engine/eligibility';
import type { Reason } from '../../../../src/domain/routing/engine/reasons';
import { openMinutes, type ScheduleEntry } from '../../../../src/platform/time/opening-hours';
import { ownTokens } from '../../../../src/platform/tokens/substitute';
import { evaluateCandidate, buyer, cap, group, MONDAY } from '../../../support/candidates';

const through = (...groups: CandidateGroup[]): Partial<Candidate> => ({ direct: false, groups });
const hours = (...schedules: ScheduleEntry[][]): Partial<Candidate> => ({
  business_hours: schedules.map(openMinutes),
});
const filters = (...recordTokenFilterList: string[]): Partial<Candidate> => ({
  record_token_filter_list: recordTokenFilterList,
});
const CAPPED = cap('attempt_daily', 50, 50, '2026-06-02T04:00:00Z');
const FULL = cap('concurrency', 3, 3);
const NEVER = hours([{ day: 1, times: [] }]);
const LISTED = { suppressed_by: [4, 9].map((id) => ({ id, name: `List ${id}` })) };

const reason = (changes: Partial<Candidate>, now = MONDAY) =>
  evaluateCandidate(buyer(changes), now).reason;
const message = (changes: Partial<Candidate>, now = MONDAY) =>
  evaluateCandidate(buyer(changes), now).message;

describe('whether a buyer could take a call', () => {
  test('a buyer with nothing against it can', () =>
    expect(evaluateCandidate(buyer())).toEqual({
      buyer_id: 7,
      name: 'Ada',
      available: true,
      reason: null,
      message: null,
      details: null,
    }));

  const reached = (of: string) =>
    `the daily cap on attempts of ${of} is reached (50 of 50) ` +
    'and resets at 2026-06-02 00:00 America/New_York';
  const inDollars =
    'the monthly cap on revenue of the buyer is reached ($133.50 of $100.00) ' +
    'and resets at 2026-07-01 00:00 Asia/Kolkata';
  test.each<[Reason, Partial<Candidate>, string]>([
    ['paused', { paused: true }, 'the buyer is paused'],
    ['group_paused', through(group({ paused: true })), 'its group "Night" (3) is paused'],
    [
      'closed',
      hours([{ day: 1, times: ['09:00..16:59'] }]),
      'the buyer is closed until 2026-06-01 09:00 America/New_York',
    ],
    ['closed', NEVER, 'the buyer is closed for the next 14 days at least'],
    [
      'suppressed',
      LISTED,
      'the caller\'s number is on a suppression list of the buyer: "List 4" (4), "List 9" (9)',
    ],
    [
      'filter_unmet',
      filters('age:>=18', 'state:in CA,NV'),
      'a filter of the buyer does not hold: state:in CA,NV',
    ],
    ['filter_unmet', filters('malformed'), 'a filter of the buyer does not hold: malformed'],
    ['cap_reached', CAPPED, reached('the buyer')],
    ['cap_reached', through(group(CAPPED)), reached('its group "Night" (3)')],
    [
      'cap_reached',
      cap('buyer_conversion_total', 9, 9),
      'the total cap on conversions of the buyer is reached (9 of 9) ' +
        'and stays so until it is reset',
    ],
    [
      'cap_reached',
      { zone: 'Asia/Kolkata', ...cap('revenue_monthly', 133.5, 100, '2026-06-30T18:30:00Z') },
      inDollars,
    ],
    [
      'cap_reached',
      cap('attempt_daily', 0, 0),
      'the daily cap on attempts of the buyer allows none',
    ],
    ['concurrency_full', FULL, 'the buyer has 3 of 3 simultaneous calls'],
    [
      'concurrency_full',
      through(group({ ...FULL, name: null })),
      'its group 3 has 3 of 3 simultaneous calls',
    ],
    ['no_number', { number: null }, 'the buyer has no number'],
    ['no_number', { number: ' ' }, 'the buyer has no number'],
  ])('%s', (why, changes, words) =>
    expect(evaluateCandidate(buyer(changes))).toMatchObject({
      buyer_id: 7,
      name: 'Ada',
      available: false,
      reason: why,
      message: words,
    }),
  );

  test('the first of several reasons is given, whether it is about the buyer or its group', () => {
    const faults = [
      { paused: true },
      through(group({ paused: true })),
      NEVER,
      LISTED,
      filters('state:CA'),
      CAPPED,
      { number: null },
    ];
    const reasons = faults.map((_, n) => reason(Object.assign({}, ...faults.slice(n))));
    expect(reasons).toEqual([
      'paused',
      'group_paused',
      'closed',
      'suppressed',
      'filter_unmet',
      'cap_reached',
      'no_number',
    ]);
    expect(reason({ number: null, ...through(group(FULL)) })).toBe('concurrency_full');
    expect(reason({ ...FULL, ...through(group(CAPPED)) })).toBe('cap_reached');
  });

  test('all filters must hold, also for unknown tokens; other tokens are judged again', () => {
    expect(
      [
        filters('state:tx'),
        filters('state:TX', 'age:<65'),
        filters('gone:'),
        filters('gone:!=x'),
      ].map((held) => reason(held)),
    ).toEqual(Array(4).fill(null));
    expect(
      [filters('state:TX', 'age:>65'), filters('gone:x'), filters('zip:=~^9')].map((unmet) =>
        reason(unmet),
      ),
    ).toEqual(Array(3).fill('filter_unmet'));
    const candidate = buyer(filters('state:=~^T'));
    const of = (state: string) =>
      evaluateEligibility(candidate, { now: new Date(MONDAY), tokens: ownTokens({ state }) })
        .available;
    expect([of('TX'), of('CA'), of('TN')]).toEqual([true, false, true]);
  });
});

describe('a buyer to which several ways lead', () => {
  const paused = group({ paused: true });
  test.each<[string, Partial<Candidate>]>([
    ['on the offer itself and in a paused group', { groups: [paused] }],
    ['in a paused group and in another', through(paused, group({ id: 4 }))],
    ['in a group whose cap is reached and in another', through(group(CAPPED), group({ id: 4 }))],
    [
      'on the offer itself and in full groups',
      { groups: [group(FULL), group({ id: 4, ...CAPPED })] },
    ],
  ])('can take a call while one is open: %s', (_, changes) => expect(reason(changes)).toBe(null));

  test('cannot when none is open, with the reason of each; a paused buyer never can', () => {
    const none = through(group(FULL), group({ id: 4, name: 'Day', paused: true }));
    expect([reason(none), message(none)]).toEqual([
      'group_paused',
      'its group "Night" (3) has 3 of 3 simultaneous calls; its group "Day" (4) is paused',
    ]);
    expect(reason({ paused: true, groups: [group()] })).toBe('paused');
  });
});

describe('business hours', () => {
  const office: ScheduleEntry = { day: 1, times: ['09:00..16:59'] };
  const open = (times: Partial<Candidate>, ...instants: string[]) =>
    instants.map((now) => reason(times, now) === null);

  test('both ends of a range are open, in the buyer’s zone; a range may go past midnight', () => {
    const [before, from, until, after] = [
      '2026-06-01T12:59:59Z',
      '2026-06-01T13:00:00Z',
      '2026-06-01T20:59:59Z',
      '2026-06-01T21:00:00Z',
    ];
    expect(open(hours([office]), before, from, until, after)).toEqual([false, true, true, false]);
    expect(
      open(
        hours([{ day: 0, times: ['22:00..02:00'] }]),
        '2026-06-01T06:00:59Z',
        '2026-06-01T06:01:00Z',
      ),
    ).toEqual([true, false]);
  });

  test('entries add up, the next one to open counts, and one without days is always open', () => {
    const entries = hours([office], [{ day: 0, times: ['10:00..11:59'] }], [{ day: 3, times: [] }]);
    expect(open(entries, '2026-05-31T14:00:00Z', '2026-05-31T16:00:00Z')).toEqual([true, false]);
    expect(message(entries, '2026-05-31T16:00:00Z')).toBe(
      'the buyer is closed until 2026-06-01 09:00 America/New_York',
    );
    expect(open(hours([office], []), MONDAY)).toEqual([true]);
  });

  test('the hour skipped in spring never comes; both one o’clocks in autumn are open', () => {
    const spring = hours([{ day: 0, times: ['02:00..02:59', '03:30..04:00'] }]);
    expect(
      open(spring, '2026-03-08T06:59:59Z', '2026-03-08T07:00:00Z', '2026-03-08T07:30:00Z'),
    ).toEqual([false, false, true]);
    expect(message(spring, '2026-03-08T06:59:59Z')).toBe(
      'the buyer is closed until 2026-03-08 03:30 America/New_York',
    );
    const autumn = hours([{ day: 0, times: ['01:00..01:59'] }]);
    expect(
      open(
        autumn,
        '2026-11-01T04:59:59Z',
        '2026-11-01T05:00:00Z',
        '2026-11-01T06:59:59Z',
        '2026-11-01T07:00:00Z',
      ),
    ).toEqual([false, true, true, false]);
  });
});
