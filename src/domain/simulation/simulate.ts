import type { OwnCarrier } from '../../platform/carriers/carrier';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { readLookups } from '../../platform/tokens/filter-lookups';
import { combineNeeds, type FilterNeeds } from '../../platform/tokens/filter-needs';
import { parsePair } from '../../platform/tokens/filters';
import { lookUpForFilters } from '../value-lists/look-up';
import { loadBuyerNames } from '../routing/buyer-names';
import type { Candidate } from '../routing/engine/candidate';
import { loadRouting, newSeed, type CallFacts } from '../routing/context';
import {
  buildConfiguration,
  countReal,
  listGroups,
  buildRealCalls,
  buildSyntheticCalls,
  type Members,
} from './calls';
import type { Limits } from './caps';
import {
  applyChanges,
  type BuyerChange,
  type Counts,
  type GroupChange,
  subtractCounts,
  NO_COUNTS,
  sumCounts,
  sumFigures,
} from './change';
import { type ReplayedCall, noFigures, type Figures } from './model';
import {
  buildExpectations,
  type Assumptions,
  type Expectations,
  type Rate,
  DEFAULTS,
  MIN_OBSERVED,
} from './outcome';
import {
  countCalls,
  loadCallers,
  loadObservedAttempts,
  loadPastCalls,
  loadSetup,
  loadTalkDurations,
  type Period,
  type Setup,
} from './read';
import { replay, MAX_ROUNDS } from './replay';
import { semaphore } from '../../data/semaphore';
import { pauses } from '../../data/jobs/pauses';

/** Synthetic calls, instead of real ones. */
export interface Synthetic extends Assumptions {
  calls: number;
  tokens: Record<string, unknown>;
}

/** `field` is the path of a change in the request, for error messages. */
export interface SimulationOrder {
  period: Period;
  /** Absent: the real calls of the period are replayed. */
  synthetic: Synthetic | undefined;
  changes: {
    buyers: (BuyerChange & { field: string })[];
    groups: (GroupChange & { field: string })[];
  };
  seed: string | undefined;
  /** The carrier of the installation, for synthetic calls. */
  carrier: OwnCarrier;
  now: Date;
}

const MAX_CALLS = 100_000;
/** Calls times buyers: each call checks every buyer. */
const MAX_CHECKS = 1_000_000;
/** Synthetic calls use rates of the attempts in this many days before now. */
const OBSERVED_DAYS = 28;
const DAY_MS = 86_400_000;

/**
 * Replays calls of an offer as configured and as changed, and compares the results. Writes nothing.
 */
export async function simulate(db: Db, order: SimulationOrder) {
  const { period, synthetic, changes, seed = newSeed(), now } = order;
  const { offer_id, from, to } = period;
  const { facts, candidates } = (await loadRouting(db, {
    source: { offer_id: String(offer_id) },
    number: null,
    traffic_source_id: null,
    now,
  }))!;
  requireOfOffer(candidates, changes);
  await requireBounded(db, period, { synthetic, buyers: candidates.length });
  const setup = await loadOfferSetup(db, candidates, { from, changes });
  const expected = await loadExpectations(db, candidates, order);
  const needs = combineNeeds(listFilters(candidates, setup));
  const { calls, real } = synthetic
    ? {
        calls: await loadSyntheticCalls(
          db,
          { ...synthetic, carrier: order.carrier },
          { facts, needs, from, to, seed },
        ),
        real: null,
      }
    : await loadRealCalls(db, order, { facts, candidates, setup, needs });
  const configured = buildConfiguration(candidates, setup, facts);
  const replayed = { calls, seed, start: from, expected };
  const asConfigured = await runInSlices(() => replay(configured, replayed));
  const asChanged = await runInSlices(() => replay(applyChanges(configured, changes), replayed));
  const buyerIds = new Set([...candidates.map(({ id }) => id), ...(real?.keys() ?? [])]);
  const ids = [...buyerIds].toSorted((a, b) => a - b);
  const kind = synthetic ? ('synthetic' as const) : ('real' as const);
  return {
    offer_id: Number(offer_id),
    kind,
    from: from.toISOString(),
    to: to.toISOString(),
    calls: calls.length,
    seed,
    ...compare({
      ids,
      names: await loadBuyerNames(db, ids),
      changed: new Set(changes.buyers.map(({ id }) => id)),
      expected,
      real,
      as_configured: asConfigured,
      as_changed: asChanged,
    }),
    assumptions: listAssumptions(kind),
  };
}

/** Throws 422 for changes of buyers and groups that the offer does not have. */
function requireOfOffer(
  candidates: readonly Candidate[],
  { buyers, groups }: SimulationOrder['changes'],
): void {
  const buyerIds = new Set(candidates.map(({ id }) => id));
  const groupIds = new Set(listGroups(candidates).map(({ id }) => id));
  for (const { id, field } of buyers)
    if (!buyerIds.has(id))
      throw HttpProblem.field(field, 'unknown_reference', `is no buyer of the offer: ${id}`);
  for (const { id, field } of groups)
    if (!groupIds.has(id))
      throw HttpProblem.field(
        field,
        'unknown_reference',
        `is no group of the offer that has buyers: ${id}`,
      );
}

async function requireBounded(
  db: Db,
  period: Period,
  { synthetic, buyers }: { synthetic: Synthetic | undefined; buyers: number },
): Promise<void> {
  const calls = synthetic?.calls ?? (await countCalls(db, period, MAX_CALLS + 1));
  const field = synthetic ? 'synthetic.calls' : 'to';
  if (calls > MAX_CALLS)
    throw HttpProblem.field(
      field,
      'limit_exceeded',
      `must leave at most ${MAX_CALLS} calls to replay`,
    );
  const max = Math.floor(MAX_CHECKS / Math.max(1, buyers));
  if (calls > max)
    throw HttpProblem.field(
      field,
      'limit_exceeded',
      `must leave at most ${max} calls to replay, as the offer has ${buyers} buyers: ` +
        `there are ${calls}`,
    );
}

async function loadOfferSetup(
  db: Db,
  candidates: readonly Candidate[],
  { from, changes }: { from: Date; changes: SimulationOrder['changes'] },
): Promise<Setup> {
  const owners = {
    from,
    buyer_ids: candidates.map(({ id }) => id),
    group_ids: listGroups(candidates).map(({ id }) => id),
  };
  const hasTotal = ({ limits }: { limits: Limits }) =>
    Object.entries(limits).some(([name, limit]) => name.endsWith('_total_limit') && limit !== null);
  const changesTotal = [...changes.buyers, ...changes.groups].some(hasTotal);
  return loadSetup(db, owners, (caps) => changesTotal || caps.some(hasTotal));
}

async function loadExpectations(
  db: Db,
  candidates: readonly Candidate[],
  { period, synthetic, now }: SimulationOrder,
): Promise<Expectations> {
  const { offer_id } = period;
  const observedFrom = new Date(now.getTime() - OBSERVED_DAYS * DAY_MS);
  const observedIn = synthetic ? { offer_id, from: observedFrom, to: now } : period;
  return buildExpectations(await loadObservedAttempts(db, observedIn), {
    buyer_ids: candidates.map(({ id }) => id),
    talked: await loadTalkDurations(db, observedIn),
    assumptions: synthetic ?? {},
  });
}

interface ConfiguredOffer {
  facts: CallFacts;
  candidates: readonly Candidate[];
  setup: Setup;
  needs: FilterNeeds;
}

/** All have the same tokens. */
async function loadSyntheticCalls(
  db: Db,
  synthetic: Synthetic & { carrier: OwnCarrier },
  {
    facts,
    needs,
    ...period
  }: { facts: CallFacts; needs: FilterNeeds; from: Date; to: Date; seed: string },
): Promise<ReplayedCall[]> {
  const members: Members = new Set();
  const calls = buildSyntheticCalls(facts, synthetic, { ...period, members });
  await addMembers(db, needs, calls.slice(0, 1), members);
  return calls;
}

/** Looks up values of the calls' tokens in the lists that filters refer to. */
async function addMembers(
  db: Db,
  needs: FilterNeeds,
  calls: readonly ReplayedCall[],
  members: Members,
): Promise<void> {
  if (needs.lists.length === 0) return;
  const deciding = calls.map(({ at, facts }) => ({
    company_id: db.company_id,
    needs: { ...needs, user_traffic_source_id: false },
    tokens: facts({
      now: at,
      seed: '',
      tried: new Set(),
      previous_buyer_id: null,
      pays_again_at: new Map(),
    }).tokens,
  }));
  await lookUpForFilters(db.sql, deciding);
  for (const { tokens } of deciding)
    for (const key of readLookups(tokens)!.members) members.add(key);
}

/** Loads real calls page by page, and counts their real results by buyer. */
async function loadRealCalls(
  db: Db,
  { period, carrier }: SimulationOrder,
  { facts, candidates, setup, needs }: ConfiguredOffer,
): Promise<{ calls: ReplayedCall[]; real: Map<number, Counts> }> {
  const calls: ReplayedCall[] = [];
  const real = new Map<number, Counts>();
  const members: Members = new Set();
  const buyerIds = candidates.map(({ id }) => id);
  for await (const page of loadPastCalls(db, period, toReadNeeds(candidates, setup))) {
    const numbers = [...new Set(page.flatMap(({ caller_number }) => caller_number ?? []))];
    const { offer_id, from } = period;
    const callers = await loadCallers(db, { offer_id, from, numbers, buyer_ids: buyerIds });
    const ofPage = buildRealCalls(page, facts, callers, { members, carrier });
    await addMembers(db, needs, ofPage, members);
    calls.push(...ofPage);
    countReal(real, page);
  }
  return { calls, real };
}

const listFilters = (candidates: readonly Candidate[], { conversions }: Setup) => [
  ...candidates.map(({ record_token_filter_list }) => record_token_filter_list),
  ...conversions.map(({ token_values }) => token_values),
];

/** The data of past calls that the filters of these buyers need. */
function toReadNeeds(
  candidates: readonly Candidate[],
  setup: Setup,
): { tokens: boolean; history: boolean } {
  const filters = listFilters(candidates, setup).flat();
  const names = filters.flatMap((filter) => parsePair(filter)?.[0] ?? []);
  return {
    tokens: names.length > 0,
    history: names.some(
      (name) => name === 'previous_buyer_fleet_ids' || name.startsWith('calls_last_'),
    ),
  };
}

/** Milliseconds; shorter than elsewhere, because live calls come first. */
const SLICE_MS = 4;
/** One replay at a time in the process, for all companies: live calls come first. */
const oneAtATime = semaphore(1);

/** Runs a generator to its end, in slices. */
const runInSlices = <Result>(start: () => Generator<void, Result>): Promise<Result> =>
  oneAtATime(async () => {
    const work = start();
    const pause = pauses(SLICE_MS);
    for (;;) {
      const { done, value } = work.next();
      if (done) return value;
      const pendingPause = pause();
      if (pendingPause) await pendingPause;
    }
  });

/** The results of two replays by buyer, and those of the real calls; null for synthetic calls. */
interface Results {
  ids: readonly number[];
  names: ReadonlyMap<number, string | null>;
  changed: ReadonlySet<number>;
  expected: Expectations;
  real: ReadonlyMap<number, Counts> | null;
  as_configured: ReadonlyMap<number, Figures>;
  as_changed: ReadonlyMap<number, Figures>;
}

function compare({ ids, names, changed, expected, real, as_configured, as_changed }: Results) {
  const buyers = ids.map((id) => ({
    buyer_id: id,
    name: names.get(id) ?? null,
    changed: changed.has(id),
    answer_rate: roundRate(expected.rates.get(id)?.answer),
    conversion_rate: roundRate(expected.rates.get(id)?.conversion),
    ...compareFigures(
      real && (real.get(id) ?? NO_COUNTS),
      as_configured.get(id) ?? noFigures(),
      as_changed.get(id) ?? noFigures(),
    ),
  }));
  const totals = compareFigures(
    real && sumCounts([...real.values()]),
    sumFigures([...as_configured.values()]),
    sumFigures([...as_changed.values()]),
  );
  return { buyers, totals };
}

const compareFigures = (real: Counts | null, asConfigured: Figures, asChanged: Figures) => ({
  real,
  as_configured: asConfigured,
  as_changed: asChanged,
  difference: subtractCounts(asConfigured, asChanged),
});

const roundRate = (expectedRate: Rate | undefined): number | null =>
  expectedRate ? Math.round(expectedRate.rate * 10_000) / 10_000 : null;

const COMMON_ASSUMPTIONS = [
  'Both sides use the same model and differ only in the changes. Offer, buyers, groups, ' +
    'suppression lists and earnings per call are as they are now, not as they were then.',
  'Caps of the windows that run at the beginning, and totals, start with what calls had ' +
    'used of them before. A prepaid buyer starts with its balance of then and with all that was ' +
    'paid in since. Calls of other offers in the period, and calls under way at its ' +
    'beginning, are left out.',
  'A traffic source is paused, is capped, and gives its calls to buyers or not, as it is set up ' +
    'now. Its caps start with all its calls before.',
  `A call goes on to the next buyer as often as needed, at most ${MAX_ROUNDS} times.`,
  'A buyer that does not answer rings for its timeout_seconds. A conversion counts at the ' +
    'end of the call, or when the buyer is dialed if its duration is 0.',
  'A buyer with a conversion of type duration pays by how long the call lasted; one of type ' +
    'postback pays as often as was observed. The amount is the revenue of the conversion that ' +
    'is open when the buyer is dialed.',
];

const REAL_CALL_ASSUMPTIONS = [
  'Calls come in when they did, from the same callers, with their tokens and their seeds. ' +
    'Rounds that did not take place are drawn with the seed of this simulation.',
  'A buyer that was really dialed for a call answers and converts as it did, if it answered ' +
    'within its timeout_seconds. Any other answers, and pays by postback, as often as it did ' +
    'in the period.',
  'A connected call lasts as long as it did, whichever buyer takes it; one that was never ' +
    'connected lasts as long as some other. A caller who hung up while it rang does so at the ' +
    'same moment.',
  'Nobody is asked for a bid: a buyer of type rtb takes the calls for which it really bid, and ' +
    'pays that bid when the call has lasted its duration.',
  'A call with a reservation from a ping is decided like any other call. Calls that have not ' +
    'ended are left out.',
];

const SYNTHETIC_CALL_ASSUMPTIONS = [
  'Calls come in at random times, evenly distributed over the period, each from another ' +
    'caller whose number is withheld, with the tokens of the request and without a traffic ' +
    'source.',
  'Nobody is asked for a bid: buyers of type rtb take no calls.',
  'A buyer answers, and pays by postback, as often as given, or else as often as in the 28 ' +
    'days before now. A call lasts as long as given, or else as long as one of those.',
];

const RATE_ASSUMPTIONS = [
  `A rate is the buyer's own from ${MIN_OBSERVED} attempts (or connected calls) on; with ` +
    `fewer it is that of all buyers of the offer together; with fewer than ${MIN_OBSERVED} of ` +
    'those it is 1.',
  `Where no call was ever connected, a call lasts ${DEFAULTS.talked} seconds and is ` +
    `answered after ${DEFAULTS.answered_after}.`,
];

/** Explains the basis of the figures, for readers of a simulation. */
const listAssumptions = (kind: 'real' | 'synthetic'): string[] => [
  ...COMMON_ASSUMPTIONS,
  ...(kind === 'real' ? REAL_CALL_ASSUMPTIONS : SYNTHETIC_CALL_ASSUMPTIONS),
  ...RATE_ASSUMPTIONS,
];
