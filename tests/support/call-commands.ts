import fc from 'fast-check';
import { CAPS } from '../../src/domain/caps/caps';
import { PAID, type Cap } from './call-model';

// Random companies, and random commands for their calls.

const ZONES = ['America/New_York', 'America/Los_Angeles', 'Asia/Tokyo'];
const capNames: Cap[] = [
  ...CAPS.map(({ metric, interval }): Cap => `${metric}_${interval}`),
  'concurrency',
];
const limits = fc.uniqueArray(
  fc.record({ cap: fc.constantFrom(...capNames), limit: fc.integer({ min: 0, max: 4 }) }),
  {
    maxLength: 2,
    selector: ({ cap }) => cap,
  },
);
const owner = { tier: fc.integer({ min: 1, max: 2 }), zone: fc.constantFrom(...ZONES), limits };
export const companies = fc.record({
  source: fc.record(owner),
  groups: fc.array(fc.record({ ...owner, at_once: fc.boolean() }), { maxLength: 2 }),
  buyers: fc.array(
    fc.record({
      ...owner,
      press_one: fc.boolean(),
      hours: fc.option(fc.constantFrom<[number, number]>([8, 20], [0, 12])),
      direct: fc.boolean(),
      in_groups: fc.uniqueArray(fc.nat(1), { maxLength: 2 }),
      is_bidder: fc.boolean(),
      prepaid: fc.option(fc.record({ calls: fc.nat(3), credit: fc.nat(2) })),
    }),
    { minLength: 2, maxLength: 5 },
  ),
});
const pick = fc.nat(99);
export const commands = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('call' as const), pick }) },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      pick,
      event: fc.constantFrom('answered', 'no_answer', 'busy', 'press', 'decline', 'completed'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      minutes: fc.constantFrom(0.5, 2, 70, 600, 1500),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('pause' as const), pick, paused: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('limit' as const),
      pick,
      cap: fc.constantFrom(...capNames),
      limit: fc.option(fc.integer({ min: 0, max: 3 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('suppress' as const), pick, caller: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('return' as const), pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('enter' as const),
      pick,
      amount: fc.constantFrom(-5, 3, 10, 20.01),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const) }) },
);
export type Command = typeof commands extends fc.Arbitrary<infer T> ? T : never;
export type Setup = typeof companies extends fc.Arbitrary<infer T> ? T : never;

const isMoney = (cap: Cap) => cap.includes('revenue');
/** Limits on dollars are in calls. */
export const amount = (cap: Cap, limit: number) => (isMoney(cap) ? limit * PAID : limit);
export const limitName = (cap: Cap) =>
  cap === 'concurrency' ? 'concurrency_cap_limit' : `${cap}_limit`;
export const toCallerNumber = (n: number) => `+1310555010${n}`;
