import { drawBy } from '../../domain/routing/engine/draw';
import { loadDemoData, type LeadEnd, type Weighted } from './data';
import type { Fields } from './requests';

// Plans a day of a busy demo company: who calls when, and how the calls go. Equal seed and time
// make an equal plan.

export interface BusyOptions {
  /** End of the 24 hours that are made. */
  now: Date;
  seed: string;
  /** Absent: as many as in assets/demo.yaml. */
  calls?: number;
  leads?: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export interface PlannedCall {
  at: Date;
  /** Decides about its routing, and about the behaviour of its parties. */
  seed: string;
  offer: Fields;
  source: Fields;
  caller_number: string | null;
  state: string;
  /** Seconds until the caller gives up, if no one has answered. */
  patience: number;
  /** Seconds of conversation. */
  talk: number;
}

/** Fields of the request that makes a lead. */
interface LeadRequest extends Fields {
  caller_id: string;
  state: string;
  traffic_source_id: Fields;
}

export interface PlannedLead {
  at: Date;
  request: LeadRequest;
  end: LeadEnd;
  ends_at: Date;
}

export interface BusyPlan {
  calls: PlannedCall[];
  leads: PlannedLead[];
}

/** Returns numbers between 0 and 1; equal seeds give equal numbers. */
export type Chance = () => number;

export function createChances(seed: string): Chance {
  const draw = drawBy(seed);
  let key = 0;
  return () => Math.exp(-draw(key++, 1));
}

/** Draws an entry in proportion to its weight. */
export function choose<T>(chance: Chance, entries: Weighted<T>): T {
  const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
  let left = chance() * total;
  for (const [entry, weight] of entries) if ((left -= weight) <= 0) return entry;
  return entries.at(-1)![0];
}

export const drawBetween = (
  chance: Chance,
  { least, most }: { least: number; most: number },
): number => least + chance() * (most - least);

/** Draws whole seconds, many of them small. */
const drawSeconds = (
  chance: Chance,
  { least, mean_above: mean }: { least: number; mean_above: number },
) => Math.round(least - Math.log(chance()) * mean);

export function planBusyDay({ now, seed, ...options }: BusyOptions): BusyPlan {
  const { day } = loadDemoData();
  const count = { calls: day.calls, leads: day.leads, ...options };
  const chance = createChances(`${seed}/plan`);
  const leads = Array.from({ length: count.leads }, (_, n) => drawLead(n, now, chance));
  const ofLeads = leads.flatMap((lead) =>
    lead.end === 'calls' ? [buildLeadCall(lead, chance)] : [],
  );
  const otherCalls = Array.from({ length: Math.max(0, count.calls - ofLeads.length) }, (_, n) =>
    drawCall(n, now, chance),
  );
  const calls = [...ofLeads, ...otherCalls].map((call, n) => ({ ...call, seed: `${seed}/${n}` }));
  return { calls: calls.toSorted((a, b) => +a.at - +b.at), leads };
}

/** Draws a time of the last 24 hours by the curve of calls. */
function drawTime(now: Date, chance: Chance): Date {
  const { by_hour: byHour, midnight_utc_hour: midnight } = loadDemoData().day;
  const start = now.getTime() - DAY_MS;
  const hours = Array.from({ length: 24 }, (_, n) => start + n * HOUR_MS);
  const hour = choose(
    chance,
    hours.map((at) => [at, byHour[(new Date(at).getUTCHours() + 24 - midnight) % 24]!]),
  );
  return new Date(hour + Math.floor(chance() * HOUR_MS));
}

const drawRecentTime = (now: Date, chance: Chance) =>
  new Date(now.getTime() - 20_000 - Math.floor(chance() * 100_000));

function drawCall(n: number, now: Date, chance: Chance): Omit<PlannedCall, 'seed'> {
  const { origins, offers, sources, callers, under_way: underWay } = loadDemoData().day;
  const isUnderWay = n < underWay.calls;
  const at = isUnderWay ? drawRecentTime(now, chance) : drawTime(now, chance);
  const { state, area } = choose(chance, origins);
  const line =
    chance() < callers.called_before_share ? Math.floor(chance() * 40) : 100 + (n % 9_800);
  const isWithheld = chance() < callers.withheld_share;
  return {
    at,
    offer: choose(chance, offers),
    source: choose(chance, sources),
    caller_number: isWithheld ? null : buildNumber(area, line),
    state,
    patience: isUnderWay ? underWay.patience : drawSeconds(chance, callers.patience),
    talk: isUnderWay ? underWay.talk : drawSeconds(chance, callers.talk),
  };
}

/** A number of the exchange 555, which carriers do not assign. */
const buildNumber = (area: string, line: number) => `+1${area}555${String(line).padStart(4, '0')}`;

function drawLead(n: number, now: Date, chance: Chance): PlannedLead {
  const { origins, sources, captured } = loadDemoData().day;
  const { first_names: names, minutes, queued_every: every } = captured;
  const { state, area, zip } = choose(chance, origins);
  const at = drawTime(now, chance);
  const endsAt = new Date(at.getTime() + drawBetween(chance, minutes) * MINUTE_MS);
  const end = choose(chance, captured.ends);
  const owner =
    n % every === every - 1
      ? { offer_id: captured.queued_offer_id }
      : { schedule_id: captured.schedule_id };
  const request = {
    caller_id: buildNumber(area, 9_900 - (n % 800)),
    first_name: names[n % names.length]!,
    state,
    zip,
    ...owner,
    traffic_source_id: choose(chance, sources),
  };
  return { at, request, end: endsAt > now ? 'stays' : end, ends_at: endsAt };
}

const buildLeadCall = (
  { ends_at, request: { caller_id, state, traffic_source_id } }: PlannedLead,
  chance: Chance,
): Omit<PlannedCall, 'seed'> => ({
  at: ends_at,
  offer: loadDemoData().day.captured.call_offer,
  source: traffic_source_id,
  caller_number: caller_id,
  state,
  patience: 60,
  talk: drawSeconds(chance, loadDemoData().day.callers.talk),
});
