import fc from 'fast-check';
import { recordUsage } from '../../support/record-usage';
import { openCaps, type Limits } from '../../../src/domain/simulation/caps';
import { openMinutes } from '../../../src/platform/time/opening-hours';
import { CAPS, type CapOwner, type HeldUsage, type UsedUpCap } from '../../../src/domain/caps/caps';
import { repetitions } from '../../support/repetitions';
import { readUsedUpCap, reserveForOwner } from '../../support/reserved-caps';
import { createWorld, type World } from '../../support/world';

// Replays count caps in memory: held against the caps of the database, move by move.

let world: World;
beforeAll(async () => void (world = await createWorld()));
afterAll(() => world.close());

const ZONES = [
  'America/New_York',
  'America/Santiago',
  'Asia/Beirut',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
];
/** Hours before a change of the clocks somewhere, and the end of a month. */
const STARTS = [
  '2026-03-07T20:10:00Z',
  '2026-03-28T10:00:00Z',
  '2026-10-31T20:30:00Z',
  '2026-09-05T12:00:00Z',
  '2026-04-04T09:45:00Z',
];

const owner = fc.record({
  kind: fc.constantFrom('buyer', 'buyer_group'),
  zone: fc.constantFrom(...ZONES),
  start: fc.constantFrom(...STARTS),
  limits: fc.uniqueArray(
    fc.record({ cap: fc.constantFrom(...CAPS), limit: fc.integer({ min: 0, max: 6 }) }),
    {
      maxLength: 3,
      selector: ({ cap }) => cap.limit,
    },
  ),
  concurrency_cap_limit: fc.option(fc.integer({ min: 0, max: 3 })),
});
const move = fc.record({
  minutes: fc.constantFrom(0, 0, 1, 25, 60, 200, 720, 1500),
  what: fc.constantFrom('reserve', 'reserve', 'reserve', 'connect', 'convert', 'end'),
  revenue: fc.constantFrom(0, 1, 2.5),
});

const toHeld = ({ revenue }: { revenue: number }, sign: 1 | -1): HeldUsage => ({
  connections: sign,
  conversions: sign,
  revenue: sign * revenue,
});
const summarize = (usedUp: UsedUpCap | null) =>
  usedUp && { cap: usedUp.cap, used: usedUp.used, limit: usedUp.limit };

test('caps in memory equal those of the database after any moves, at any times', async () => {
  await fc.assert(
    fc.asyncProperty(
      owner,
      fc.array(move, { minLength: 5, maxLength: 25 }),
      async ({ kind, zone, start, limits, concurrency_cap_limit }, moves) => {
        const allLimits: Limits = Object.fromEntries(
          limits.map(({ cap, limit }) => [
            cap.limit,
            cap.metric.endsWith('revenue') ? limit * 1.25 : limit,
          ]),
        );
        const hourly = Object.fromEntries(
          Object.entries(allLimits).filter(([name]) => name.includes('_hourly_')),
        );
        const ownLimits = Object.fromEntries(
          Object.entries(allLimits).filter(([name]) => !name.includes('_hourly_')),
        );
        const schedule = [0, 1, 2, 3, 4, 5, 6].map((day) => ({ day, times: ['06:00..23:29'] }));
        const fields =
          kind === 'buyer'
            ? {
                ...ownLimits,
                concurrency_cap_limit,
                number: '+12125550101',
                business_hours_schedule: [{ ...hourly, schedule }],
              }
            : { ...allLimits, concurrency_cap: concurrency_cap_limit };
        const res = await world.company.api('post', `${kind}s`, {
          body: { name: 'Capped', time_zone: zone, ...fields },
        });
        expect([res.status, res.body.errors]).toEqual([201, {}]);
        const id = res.body[kind].id as number;
        const capOwner: CapOwner = kind === 'buyer' ? { buyer_id: id } : { buyer_group_id: id };
        const hours =
          kind === 'buyer' ? [{ open: openMinutes(schedule), limits: hourly }] : undefined;
        const caps = openCaps(
          {
            zone,
            limits: { ...(kind === 'buyer' ? ownLimits : allLimits), concurrency_cap_limit },
            hours,
          },
          new Date(start),
        );
        const db = world.deps.tenants.of(world.company.id);
        const waiting: { revenue: number }[] = [];
        let now = new Date(start);
        for (const { minutes, what, revenue } of moves) {
          now = new Date(now.getTime() + minutes * 60_000);
          if (what === 'reserve') {
            const reservation = { usage: { attempt: 1 }, concurrency: 1 };
            const [here, there] = [
              caps.reserve({ ...reservation, pending: toHeld({ revenue }, 1) }, now),
              await reserveForOwner(db, capOwner, { ...toHeld({ revenue }, 1), slots: 1 }, now),
            ];
            expect([now, here]).toEqual([now, there]);
            if (here) waiting.push({ revenue });
          } else if (waiting[0]) {
            const [first] = waiting.splice(0, 1) as [{ revenue: number }];
            const happened = {
              connect: { usage: { connection: 1 }, concurrency: -1 },
              convert: {
                usage: {
                  connection: 1,
                  buyer_conversion: 1,
                  revenue: first.revenue,
                  earned_revenue: first.revenue - 0.5,
                },
                concurrency: -1,
              },
              end: { usage: {}, concurrency: -1 },
            }[what];
            caps.record({ ...happened, pending: toHeld(first, -1) }, now);
            await recordUsage(db, { owner: capOwner, ...happened, hold: toHeld(first, -1), now });
          }
          for (const more of [0, 2])
            expect([now, summarize(caps.usedUp(now, more))]).toEqual([
              now,
              summarize(await readUsedUpCap(world, capOwner, { revenue: more, now })),
            ]);
        }
      },
    ),
    {
      numRuns: repetitions(15, 60),
      ...(process.env.CAPS_SEED && { seed: Number(process.env.CAPS_SEED) }),
    },
  );
});
