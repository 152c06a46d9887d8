import { setImmediate as othersTurn } from 'node:timers/promises';
import type { CallFacts } from '../queries/caller-facts';
import {
  countCalls,
  readBuyerNames,
  readCallers,
  readObserved,
  readPastCalls,
  readSetup,
  readTalked,
  type Period,
  type Setup,
} from './queries/replayed-calls';
import type { Db } from '../../db/tenant';
import { semaphore } from '../../db/semaphore';
import { HttpProblem } from '../../errors';
import type { Candidate } from '../engine/eligibility';
import {
  noFigures,
  replay,
  type Configuration,
  type Figures,
  type Replay,
  type ReplayedCall,
} from './replay';
import {
  changed,
  differenceOf,
  NO_COUNTS,
  sumOf,
  totalOf,
  type BuyerChange,
  type Counts,
  type GroupChange,
} from './change';
import type { Limits } from './caps';
import { assumptionsOf } from './assumptions';
import { expectationsOf, type Given, type Rate } from './outcome';
import { parsePair } from '../../tokens/filters';
import { loadRouting } from '../load-routing';
import { newSeed } from '../seed';
import { configurationOf, groupsOf, countReal, realCalls, syntheticCalls } from './calls';

/** Calls of a day that have not come. */
export interface Synthetic extends Given {
  calls: number;
  tokens: Record<string, unknown>;
}

export interface Simulating {
  period: Period;
  /** Without it the calls that have really come are replayed. */
  synthetic: Synthetic | undefined;
  changes: {
    buyers: (BuyerChange & { field: string })[];
    groups: (GroupChange & { field: string })[];
  };
  seed: string | undefined;
  now: Date;
}

export const MOST_CALLS = 100_000;
/** Calls times buyers: each call looks at every buyer. */
export const MOST_LOOKS = 1_000_000;
/** Before it, where the calls themselves have not come. */
const OBSERVED_DAYS = 28;
const DAY = 86_400_000;

/** Replays calls of an offer as it is configured and as it would be, and answers how they would have moved. Writes nothing. */
export async function simulate(
  db: Db,
  { period, synthetic, changes, seed = newSeed(), now }: Simulating,
) {
  const { offer_id, from, to } = period;
  const { facts, candidates } = (await loadRouting(db, {
    source: { offer_id: String(offer_id) },
    number: null,
    now,
  }))!;
  requireKnown(candidates, changes);
  await requireBounded(db, period, { synthetic, buyers: candidates.length });
  const observed_in = synthetic
    ? { offer_id, from: new Date(now.getTime() - OBSERVED_DAYS * DAY), to: now }
    : period;
  const setup = await setUpOf(db, candidates, { from, changes });
  const observed = await readObserved(db, observed_in);
  const buyer_ids = candidates.map(({ id }) => id);
  const expected = expectationsOf(observed, {
    buyer_ids,
    talked: await readTalked(db, observed_in),
    given: synthetic ?? {},
  });
  const { calls, real } = synthetic
    ? { calls: syntheticCalls(facts, synthetic, { from, to, seed }), real: null }
    : await realCallsOf(db, period, { facts, buyer_ids, needs: needsOf(candidates, setup) });
  const configured = configurationOf(candidates, setup, facts);
  const replayed = { calls, seed, start: from, expected };
  const [before, after] = [
    await inSlices(configured, replayed),
    await inSlices(changed(configured, changes), replayed),
  ];
  const ids = [...new Set([...buyer_ids, ...(real?.keys() ?? [])])].toSorted((a, b) => a - b);
  const names = await readBuyerNames(db, ids);
  const touched = new Set(changes.buyers.map(({ id }) => id));
  const buyers = ids.map((id) => ({
    buyer_id: id,
    name: names.get(id) ?? null,
    changed: touched.has(id),
    answer_rate: rounded(expected.rates.get(id)?.answer),
    conversion_rate: rounded(expected.rates.get(id)?.conversion),
    ...compared(
      real && (real.get(id) ?? NO_COUNTS),
      before.get(id) ?? noFigures(),
      after.get(id) ?? noFigures(),
    ),
  }));
  return {
    offer_id: Number(offer_id),
    kind: synthetic ? ('synthetic' as const) : ('real' as const),
    from: from.toISOString(),
    to: to.toISOString(),
    calls: calls.length,
    seed,
    buyers,
    totals: compared(
      real && sumOf([...real.values()]),
      totalOf([...before.values()]),
      totalOf([...after.values()]),
    ),
    assumptions: assumptionsOf(synthetic ? 'synthetic' : 'real'),
  };
}

const compared = (real: Counts | null, as_configured: Figures, as_changed: Figures) => ({
  real,
  as_configured,
  as_changed,
  difference: differenceOf(as_configured, as_changed),
});

interface Reading {
  facts: CallFacts;
  buyer_ids: readonly number[];
  needs: { tokens: boolean; history: boolean };
}

/** Calls that have come, a page at a time, and what they have really come to. */
async function realCallsOf(
  db: Db,
  period: Period,
  { facts, buyer_ids, needs }: Reading,
): Promise<{ calls: ReplayedCall[]; real: Map<number, Counts> }> {
  const calls: ReplayedCall[] = [];
  const real = new Map<number, Counts>();
  for await (const page of readPastCalls(db, period, needs)) {
    const numbers = [...new Set(page.flatMap(({ caller_number }) => caller_number ?? []))];
    calls.push(...realCalls(page, facts, await readCallers(db, { ...period, numbers, buyer_ids })));
    countReal(real, page);
  }
  return { calls, real };
}

const rounded = (one: Rate | undefined): number | null =>
  one ? Math.round(one.rate * 10_000) / 10_000 : null;

/** Who is to be changed must be there. */
function requireKnown(
  candidates: readonly Candidate[],
  { buyers, groups }: Simulating['changes'],
): void {
  const group_ids = new Set(
    candidates.flatMap((candidate) => candidate.groups.map(({ id }) => id)),
  );
  for (const { id, field } of buyers)
    if (!candidates.some((candidate) => candidate.id === id))
      throw HttpProblem.field(field, `is no buyer of the offer: ${id}`);
  for (const { id, field } of groups)
    if (!group_ids.has(id))
      throw HttpProblem.field(field, `is no group of the offer that has buyers: ${id}`);
}

async function requireBounded(
  db: Db,
  period: Period,
  { synthetic, buyers }: { synthetic: Synthetic | undefined; buyers: number },
): Promise<void> {
  const calls = synthetic?.calls ?? (await countCalls(db, period, MOST_CALLS + 1));
  const field = synthetic ? 'synthetic.calls' : 'to';
  if (calls > MOST_CALLS)
    throw HttpProblem.field(field, `must leave at most ${MOST_CALLS} calls to replay`);
  const most = Math.floor(MOST_LOOKS / Math.max(1, buyers));
  if (calls > most)
    throw HttpProblem.field(
      field,
      `must leave at most ${most} calls to replay, as the offer has ${buyers} buyers: there are ${calls}`,
    );
}

/** What of past calls must be read so that the filters of these buyers can be judged. */
function needsOf(
  candidates: readonly Candidate[],
  { conversions }: Setup,
): { tokens: boolean; history: boolean } {
  const filters = [
    ...candidates.flatMap(({ record_token_filter_list }) => record_token_filter_list),
    ...conversions.flatMap(({ token_values }) => token_values),
  ];
  const names = filters.flatMap((filter) => parsePair(filter)?.[0] ?? []);
  return {
    tokens: names.length > 0,
    history: names.some(
      (name) => name === 'previous_buyer_fleet_ids' || name.startsWith('calls_last_'),
    ),
  };
}

async function setUpOf(
  db: Db,
  candidates: readonly Candidate[],
  { from, changes }: { from: Date; changes: Simulating['changes'] },
): Promise<Setup> {
  const asked = {
    from,
    buyer_ids: candidates.map(({ id }) => id),
    group_ids: groupsOf(candidates).map(({ id }) => id),
  };
  const month = await readSetup(db, { ...asked, since: new Date(from.getTime() - 32 * DAY) });
  const hasTotal = ({ limits }: { limits: Limits }) =>
    Object.entries(limits).some(([name, limit]) => name.endsWith('_total_limit') && limit !== null);
  // Only a total asks for all that ever was.
  return [...month.caps, ...changes.buyers, ...changes.groups].some(hasTotal)
    ? readSetup(db, { ...asked, since: new Date(0) })
    : month;
}

/** Milliseconds of work after which it is the turn of requests. */
const SLICE = 4;
/** Replays of all companies wait for each other: calls come first. */
const inTurn = semaphore(1);

const inSlices = (configuration: Configuration, replayed: Replay): Promise<Map<number, Figures>> =>
  inTurn(async () => {
    const work = replay(configuration, replayed);
    for (let until = performance.now() + SLICE; ;) {
      const { done, value } = work.next();
      if (done) return value;
      if (performance.now() < until) continue;
      await othersTurn();
      until = performance.now() + SLICE;
    }
  });
