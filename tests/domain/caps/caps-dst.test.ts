import { standingClock } from '../../support/clock';
import { repetitions } from '../../support/repetitions';
import { createWorld, type World } from '../../support/world';

// Calls at all hours, from the day before the clocks change to the day after. The expected values
// come from the calendar of the runtime, not from the code under test.

const time = standingClock('2026-01-01T00:00:00Z');
let world: World;
beforeAll(async () => void (world = await createWorld({ clock: time.read })));
afterAll(() => world.close());

const HOUR = 3_600_000;
const DAILY = 5;
const OPEN = ['09:30..10:29', '22:30..00:29'];
const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];
/** Around midnight, the changes of the clocks, and when buyers open and close. */
const QUICK_HOURS = ['22', '23', '00', '01', '02', '03', '09', '10'];
const isCalled = (local: string): boolean =>
  repetitions(0, 1) > 0 || QUICK_HOURS.includes(local.slice(0, 2));

const ok = async (path: string, body: Record<string, unknown>) => {
  const res = await world.company.api('post', path, { body });
  if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
  return res.body[res.body.metadata.root];
};

function buildCalendar(zone: string) {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  return (at: number) => {
    const { year, month, day, hour, minute } = Object.fromEntries(
      format.formatToParts(at).map(({ type, value }) => [type, value]),
    );
    return { date: `${year}-${month}-${day}`, time: `${hour}:${minute}` };
  };
}

/** A range that ends before it begins runs over midnight. */
const isOpen = (local: string) =>
  OPEN.some((range) => {
    const [from, to] = range.split('..') as [string, string];
    return from <= to ? local >= from && local <= to : local >= from || local <= to;
  });

test.each([
  ['the spring night of New York', 'America/New_York', '2026-03-07', 23],
  ['the autumn night of New York', 'America/New_York', '2026-10-31', 25],
  ['Santiago, where midnight does not come', 'America/Santiago', '2026-09-05', 23],
  ['Santiago, where the hour before midnight comes twice', 'America/Santiago', '2026-04-03', 25],
  ['Beirut, where midnight does not come', 'Asia/Beirut', '2026-03-28', 23],
  ['Beirut, where the hour before midnight comes twice', 'Asia/Beirut', '2026-10-23', 25],
])(
  '%s: caps reset once a local day and hour, and buyers open and close at their local times',
  async (_, zone, firstDay, hours) => {
    world.company = await world.addCompany();
    const toLocal = buildCalendar(zone);
    const starts = (day: string, from: number) => {
      for (let at = from; ; at += HOUR / 2) if (toLocal(at).date === day) return at;
    };
    const begin = starts(firstDay, Date.parse(`${firstDay}T00:00:00Z`) - 26 * HOUR);
    const schedule = (times: string[]) => EVERY_DAY.map((day) => ({ day, times }));
    const capped = await ok('buyers', {
      number: '+12125550101',
      time_zone: zone,
      attempt_daily_limit: DAILY,
      business_hours_schedule: [{ attempt_hourly_limit: 1, schedule: schedule(['00:00..23:59']) }],
    });
    const opening = await ok('buyers', {
      number: '+12125550102',
      time_zone: zone,
      tier: 2,
      business_hours_schedule: [{ schedule: schedule(OPEN) }],
    });
    const offer = await ok('offers', { name: 'Auto', buyer_ids: [capped.id, opening.id] });

    const byDay = new Map<string, number>();
    const byHour = new Map<number, number>();
    const lengths = new Map<string, number>();
    for (let at = begin, n = 0; n < 24 * 6 + (hours - 24) * 2; at += HOUR / 2, n++) {
      time.set(new Date(at).toISOString());
      const { date, time: local } = toLocal(at);
      lengths.set(date, (lengths.get(date) ?? 0) + 0.5);
      if (!isCalled(local)) continue;
      // These zones are whole hours from UTC: an hour of the clock that comes twice is two.
      const hour = Math.floor(at / HOUR);
      const hasRoom = (byDay.get(date) ?? 0) < DAILY && (byHour.get(hour) ?? 0) < 1;
      let expected = hasRoom ? [capped.id] : [];
      if (!hasRoom && isOpen(local)) expected = [opening.id];
      const { instruction } = await ok('call_sessions', {
        offer_id: offer.id,
        caller_number: `+1310555${String(n).padStart(4, '0')}`,
      });
      expect([
        date,
        local,
        instruction.dial.map(({ buyer_id }: { buyer_id: number }) => buyer_id),
      ]).toEqual([date, local, expected]);
      if (hasRoom) {
        byDay.set(date, (byDay.get(date) ?? 0) + 1);
        byHour.set(hour, (byHour.get(hour) ?? 0) + 1);
      }
      const { body } = await world.company.api('get', `buyers/${capped.id}`);
      const { attempt_daily_used, attempt_hourly_used, attempt_total_used } = body.buyer;
      const total = [...byDay.values()].reduce((sum, count) => sum + count, 0);
      expect([date, local, attempt_daily_used, attempt_hourly_used, attempt_total_used]).toEqual([
        date,
        local,
        byDay.get(date),
        byHour.get(hour) ?? 0,
        total,
      ]);
    }
    // Three local days, one of them as long as it is.
    expect([...lengths.values()].toSorted((a, b) => a - b)).toEqual(
      [24, 24, hours].toSorted((a, b) => a - b),
    );
    expect([...byDay.values()]).toEqual([DAILY, DAILY, DAILY]);
  },
);
