import { addDays } from 'date-fns';
import type { CallFields } from './calls';

// The expected grouped report, added up call by call with local times of Intl instead of
// PostgreSQL's, and in whole cents.

interface RandomCalls {
  buyers: number[];
  sources: number[];
  offers: number[];
  from: string;
  days: number;
  count: number;
}

/** Calls at random times, more of them around changes of the clocks. Always the same. */
export function randomCalls({
  buyers,
  sources,
  offers,
  from,
  days,
  count,
}: RandomCalls): CallFields[] {
  let state = 7;
  const below = (n: number): number => {
    state = (state * 48271) % 2147483647;
    return state % n;
  };
  const pick = <T>(...values: T[]): T => values[below(values.length)]!;
  const start = new Date(from);
  const CHANGES = ['2026-11-01T03:00:00Z', '2027-03-14T04:00:00Z', '2027-04-03T13:00:00Z'];
  const any = () => addDays(start, days).getTime() - below(days * 86_400) * 1000;
  const near = () => Date.parse(pick(...CHANGES)) + below(6 * 3_600) * 1000;
  return Array.from({ length: count }, () => {
    const createdAt = new Date(below(2) ? any() : near()).toISOString();
    const connected = below(3) > 0;
    const sold = connected && below(2) > 0;
    return {
      created_at: createdAt,
      ended_at: createdAt,
      direction: pick('inbound', 'outbound'),
      from_number: 12125550101,
      to_number: 12125550102,
      buyer_id: pick(null, ...buyers),
      traffic_source_id: pick(null, ...sources),
      offer_id: pick(null, ...offers),
      sub_id: pick(null, 'a', 'b'),
      caller_state: pick(null, 'NY', 'CA'),
      token_values: JSON.stringify(below(2) ? { campaign: pick('x', 'y') } : {}),
      connected_at: connected ? createdAt : null,
      buyer_converted: sold,
      traffic_source_converted: sold && below(2) > 0,
      revenue: sold ? below(5000) / 100 : 0,
      payout: sold ? below(2000) / 100 : 0,
      total_duration: below(300),
    };
  });
}

type Key = (call: CallFields, zone: string) => unknown;

const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** The parts of a local time; `offset` as `-04:00`. */
function toLocalParts({ created_at }: CallFields, zone: string): Record<string, string> {
  let format = FORMATS.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
    });
    FORMATS.set(zone, format);
  }
  const parts = format.formatToParts(new Date(created_at as string));
  const values = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  return { ...values, offset: values.timeZoneName!.slice(3) || '+00:00' };
}

function toDay(call: CallFields, zone: string): string {
  const { year, month, day } = toLocalParts(call, zone);
  return `${year}-${month}-${day}`;
}

/** Monday is 1, Sunday is 7. */
const toWeekday: (call: CallFields, zone: string) => number = (call, zone) =>
  new Date(toDay(call, zone)).getUTCDay() || 7;

const KEYS: Record<string, Key> = {
  buyer: ({ buyer_id }) => buyer_id,
  traffic_source: ({ traffic_source_id }) => traffic_source_id,
  offer: ({ offer_id }) => offer_id,
  sub_id: ({ sub_id }) => sub_id,
  state: ({ caller_state }) => caller_state,
  number: (call) => `+${String(call[call.direction === 'inbound' ? 'to_number' : 'from_number'])}`,
  token: ({ token_values }) =>
    (JSON.parse(token_values as string) as { campaign?: string }).campaign,
  month: (call, zone) => toDay(call, zone).slice(0, 7),
  day: toDay,
  week: (call, zone) =>
    addDays(new Date(toDay(call, zone)), 1 - toWeekday(call, zone))
      .toISOString()
      .slice(0, 10),
  // The hour begins at the first quarter of an hour with the same hour and offset.
  hour: (call, zone) => {
    const quarter = 15 * 60_000;
    const partsAt = (at: number) => toLocalParts({ created_at: new Date(at).toISOString() }, zone);
    const { hour, offset } = toLocalParts(call, zone);
    let first = Math.floor(Date.parse(call.created_at as string) / quarter) * quarter;
    for (let past = partsAt(first - quarter); past.hour === hour && past.offset === offset;) {
      first -= quarter;
      past = partsAt(first - quarter);
    }
    return `${toDay(call, zone)}T${hour}:${partsAt(first).minute}:00.000${offset}`;
  },
  hour_of_day: (call, zone) => Number(toLocalParts(call, zone).hour),
  day_of_week: toWeekday,
};

/** A quotient of whole numbers, rounded as PostgreSQL rounds: halves up. */
function ratio(part: number, all: number, digits: number): number {
  if (all === 0) return 0;
  const scale = 10n ** BigInt(digits);
  return Number((2n * BigInt(part) * scale + BigInt(all)) / (2n * BigInt(all))) / Number(scale);
}

function computeFigures(calls: CallFields[]) {
  const having = (name: string) => calls.filter((call) => call[name]).length;
  const cents = (name: string) =>
    calls.reduce((sum, call) => sum + Math.round(Number(call[name]) * 100), 0);
  const [revenue, payout] = [cents('revenue'), cents('payout')];
  const duration = calls.reduce((sum, call) => sum + Number(call.total_duration), 0);
  const [connects, conversions] = [having('connected_at'), having('buyer_converted')];
  return {
    calls: calls.length,
    connects,
    conversions,
    traffic_source_conversions: having('traffic_source_converted'),
    connect_rate: ratio(connects, calls.length, 4),
    conversion_rate: ratio(conversions, connects, 4),
    revenue: revenue / 100,
    payout: payout / 100,
    profit: (revenue - payout) / 100,
    epc: ratio(revenue, calls.length * 100, 4),
    average_duration: ratio(duration, calls.length, 1),
  };
}

/** The figures by the keys of their rows, joined by `|`, and the totals. */
export function buildReport(calls: CallFields[], groupBy: readonly string[], zone: string) {
  const rows = new Map<string, CallFields[]>();
  for (const call of calls) {
    const key = groupBy.map((by) => String(KEYS[by]!(call, zone) ?? '')).join('|');
    rows.set(key, [...(rows.get(key) ?? []), call]);
  }
  return {
    rows: new Map([...rows].map(([key, rowCalls]) => [key, computeFigures(rowCalls)])),
    totals: computeFigures(calls),
  };
}
