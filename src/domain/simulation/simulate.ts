import type { Db } from '../../data/tenant';
import { HttpProblem } from '../../platform/errors';
import { readLookups } from '../../platform/tokens/filter-lookups';
import { combineNeeds, type FilterNeeds } from '../../platform/tokens/filter-needs';
import { parsePair } from '../../platform/tokens/filters';
import { lookUpForFilters } from '../value-lists/look-up';
import type { CallFacts } from '../routing/caller-facts';
import type { Candidate } from '../routing/engine/candidate';
import { loadRouting } from '../routing/load-routing';
import { newSeed } from '../routing/seed';
import { listAssumptions } from './assumptions';
import {
  buildConfiguration,
  countReal,
  listGroups,
  buildRealCalls,
  buildSyntheticCalls,
  type Members,
  type OwnCarrier,
} from './calls';
import type { Limits } from './caps';
import { applyChanges, type BuyerChange, type Counts, type GroupChange } from './change';
import { compare } from './compare';
import { runInSlices } from './in-slices';
import type { ReplayedCall } from './model';
import { buildExpectations, type Assumptions, type Expectations } from './outcome';
import {
  countCalls,
  loadBuyerNames,
  loadCallers,
  loadObservedAttempts,
  loadPastCalls,
  loadSetup,
  loadTalkDurations,
  type Period,
  type Setup,
} from './read';
import { replay } from './replay';

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
