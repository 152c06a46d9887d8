import { drawBy } from '../../domain/routing/engine/draw';

// Plans a day of a busy demo company: who calls when, and how the calls go. Pure: equal seed and
// time make an equal plan.

export interface BusyOptions {
  /** End of the 24 hours that are made. */
  now: Date;
  seed: string;
  calls: number;
  leads: number;
}

export const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Calls per hour, from midnight in California: few at night, most at eleven and at four. */
const BY_HOUR = [
  2, 1, 1, 1, 2, 5, 12, 28, 52, 74, 88, 94, 82, 80, 86, 91, 92, 78, 58, 44, 32, 20, 11, 5,
];
/** Offset of that curve from UTC. Daylight saving time would only shift it. */
const CURVE_OFFSET_HOURS = 8;

export interface PlannedCall {
  at: Date;
  /** Decides about its routing, and about the behaviour of its parties. */
  seed: string;
  offer: 'auto' | 'home' | 'legal';
  source: 'search' | 'social' | 'partner';
  caller_number: string | null;
  state: string;
  /** Seconds until the caller gives up, if no one has answered. */
  patience: number;
  /** Seconds of conversation. */
  talk: number;
}

export interface PlannedLead {
  at: Date;
  caller_number: string;
  first_name: string;
  state: string;
  zip: string;
  source: PlannedCall['source'];
  /** Waits at an offer for a call, and has no schedule. */
  is_queued: boolean;
  /** How the lead ends; with `stays`, it remains in its schedule. */
  end: 'calls' | 'opts_out' | 'is_blocked' | 'is_removed' | 'stays';
  ends_at: Date;
}

export interface BusyPlan {
  calls: PlannedCall[];
  leads: PlannedLead[];
}

type Weighted<T> = readonly (readonly [T, weight: number])[];

/** Numbers between 0 and 1; equal seeds give equal numbers. */
export function createChances(seed: string): () => number {
  const draw = drawBy(seed);
  let key = 0;
  return () => Math.exp(-draw(key++, 1));
}

/** Draws an entry in proportion to its weight. */
export function choose<T>(chance: number, entries: Weighted<T>): T {
  const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
  let left = chance * total;
  for (const [entry, weight] of entries) if ((left -= weight) <= 0) return entry;
  return entries.at(-1)![0];
}

const OFFERS: Weighted<PlannedCall['offer']> = [
  ['auto', 50],
  ['home', 42],
  ['legal', 8],
];
const SOURCES: Weighted<PlannedCall['source']> = [
  ['search', 50],
  ['social', 30],
  ['partner', 20],
];
const PLACES: Weighted<{ state: string; area: string; zip: string }> = [
  [{ state: 'CA', area: '310', zip: '90012' }, 45],
  [{ state: 'NV', area: '702', zip: '89101' }, 12],
  [{ state: 'OR', area: '503', zip: '97201' }, 10],
  [{ state: 'NY', area: '212', zip: '10001' }, 18],
  [{ state: 'MA', area: '617', zip: '02108' }, 15],
];
const NAMES = ['Ana', 'Ben', 'Chen', 'Dora', 'Eli', 'Fay', 'Gus', 'Hana', 'Ivo', 'June'];

export function planBusyDay({ now, seed, ...count }: BusyOptions): BusyPlan {
  const chance = createChances(`${seed}/plan`);
  const leads = Array.from({ length: count.leads }, (_, n) => drawLead(n, now, chance));
  const ofLeads = leads.flatMap((lead) =>
    lead.end === 'calls' ? [buildLeadCall(lead, chance)] : [],
  );
  const otherCalls = Array.from({ length: Math.max(0, count.calls - ofLeads.length) }, (_, n) =>
    drawCall(n, n < UNDER_WAY ? drawRecentTime(now, chance) : drawTime(now, chance), chance),
  );
  const calls = [...ofLeads, ...otherCalls].map((call, n) => ({ ...call, seed: `${seed}/${n}` }));
  return { calls: calls.toSorted((a, b) => +a.at - +b.at), leads };
}

/** Calls that begin just before the end of the day, at any hour. */
const UNDER_WAY = 6;
const drawRecentTime = (now: Date, chance: () => number) =>
  new Date(now.getTime() - 20_000 - Math.floor(chance() * 100_000));

/** Draws a time of the last 24 hours by the curve of calls. */
function drawTime(now: Date, chance: () => number): Date {
  const start = now.getTime() - DAY_MS;
  const hours = Array.from({ length: 24 }, (_, n) => start + n * 60 * MINUTE_MS);
  const hour = choose(
    chance(),
    hours.map((at) => [at, BY_HOUR[(new Date(at).getUTCHours() + 24 - CURVE_OFFSET_HOURS) % 24]!]),
  );
  return new Date(hour + Math.floor(chance() * 60 * MINUTE_MS));
}

/** Seconds: most conversations are brief, some take a quarter of an hour. */
const drawTalk = (chance: () => number) => Math.round(15 - Math.log(chance()) * 150);

function drawCall(n: number, at: Date, chance: () => number): Omit<PlannedCall, 'seed'> {
  const { state, area } = choose(chance(), PLACES);
  // One caller in eight has called before.
  const line = chance() < 0.12 ? Math.floor(chance() * 40) : 100 + (n % 9_800);
  const isWithheld = chance() < 0.02;
  return {
    at,
    offer: choose(chance(), OFFERS),
    source: choose(chance(), SOURCES),
    caller_number: isWithheld ? null : buildNumber(area, line),
    state,
    patience: n < UNDER_WAY ? 60 : Math.round(6 - Math.log(chance()) * 60),
    talk: n < UNDER_WAY ? 900 : drawTalk(chance),
  };
}

/** A number of the exchange 555, which carriers do not assign. */
const buildNumber = (area: string, line: number) => `+1${area}555${String(line).padStart(4, '0')}`;

function drawLead(n: number, now: Date, chance: () => number): PlannedLead {
  const { state, area, zip } = choose(chance(), PLACES);
  const at = drawTime(now, chance);
  const endsAt = new Date(at.getTime() + (2 + chance() * 90) * MINUTE_MS);
  const end = choose<PlannedLead['end']>(chance(), [
    ['calls', 35],
    ['opts_out', 8],
    ['is_blocked', 4],
    ['is_removed', 5],
    ['stays', 48],
  ]);
  return {
    at,
    caller_number: buildNumber(area, 9_900 - (n % 800)),
    first_name: NAMES[n % NAMES.length]!,
    state,
    zip,
    source: choose(chance(), SOURCES),
    is_queued: n % 5 === 4,
    end: endsAt > now ? 'stays' : end,
    ends_at: endsAt,
  };
}

const buildLeadCall = (
  { ends_at, caller_number, state, source }: PlannedLead,
  chance: () => number,
): Omit<PlannedCall, 'seed'> => ({
  at: ends_at,
  offer: 'auto',
  source,
  caller_number,
  state,
  patience: 60,
  talk: drawTalk(chance),
});
