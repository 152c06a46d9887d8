import type { Db } from '../../db/tenant';
import { HttpProblem } from '../../errors';
import { foundFor } from '../../tokens/filter-lookups';
import { needsOf, type FilterNeeds } from '../../tokens/filter-needs';
import { parsePair } from '../../tokens/filters';
import { lookUpForFilters } from '../../value-lists/look-up';
import type { CallFacts } from '../caller-facts';
import type { Candidate } from '../engine/candidate';
import { loadRouting } from '../load-routing';
import { newSeed } from '../seed';
import { assumptionsOf } from './assumptions';
import {
  configurationOf,
  countReal,
  groupsOf,
  realCalls,
  syntheticCalls,
  type Members,
  type OwnCarrier,
} from './calls';
import type { Limits } from './caps';
import { changed, type BuyerChange, type Counts, type GroupChange } from './change';
import { compare } from './compare';
import { inSlices } from './in-slices';
import type { ReplayedCall } from './model';
import { expectationsOf, type Assumptions, type Expectations } from './outcome';
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
const MAX_LOOKS = 1_000_000;
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
  const setup = await setupOf(db, candidates, { from, changes });
  const expected = await expectedOf(db, candidates, order);
  const needs = needsOf(filtersOf(candidates, setup));
  const { calls, real } = synthetic
    ? {
        calls: await readSyntheticCalls(
          db,
          { ...synthetic, carrier: order.carrier },
          { facts, needs, from, to, seed },
        ),
        real: null,
      }
    : await readRealCalls(db, order, { facts, candidates, setup, needs });
  const configured = configurationOf(candidates, setup, facts);
  const replayed = { calls, seed, start: from, expected };
  const as_configured = await inSlices(() => replay(configured, replayed));
  const as_changed = await inSlices(() => replay(changed(configured, changes), replayed));
  const buyer_ids = new Set([...candidates.map(({ id }) => id), ...(real?.keys() ?? [])]);
  const ids = [...buyer_ids].toSorted((a, b) => a - b);
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
      names: await readBuyerNames(db, ids),
      changed: new Set(changes.buyers.map(({ id }) => id)),
      expected,
      real,
      as_configured,
      as_changed,
    }),
    assumptions: assumptionsOf(kind),
  };
}

/** Throws 422 for changes of buyers and groups that the offer does not have. */
function requireOfOffer(
  candidates: readonly Candidate[],
  { buyers, groups }: SimulationOrder['changes'],
): void {
  const buyer_ids = new Set(candidates.map(({ id }) => id));
  const group_ids = new Set(groupsOf(candidates).map(({ id }) => id));
  for (const { id, field } of buyers)
    if (!buyer_ids.has(id))
      throw HttpProblem.field(field, 'unknown_reference', `is no buyer of the offer: ${id}`);
  for (const { id, field } of groups)
    if (!group_ids.has(id))
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
  const max = Math.floor(MAX_LOOKS / Math.max(1, buyers));
  if (calls > max)
    throw HttpProblem.field(
      field,
      'limit_exceeded',
      `must leave at most ${max} calls to replay, as the offer has ${buyers} buyers: ` +
        `there are ${calls}`,
    );
}

async function setupOf(
  db: Db,
  candidates: readonly Candidate[],
  { from, changes }: { from: Date; changes: SimulationOrder['changes'] },
): Promise<Setup> {
  const owners = {
    from,
    buyer_ids: candidates.map(({ id }) => id),
    group_ids: groupsOf(candidates).map(({ id }) => id),
  };
  const hasTotal = ({ limits }: { limits: Limits }) =>
    Object.entries(limits).some(([name, limit]) => name.endsWith('_total_limit') && limit !== null);
  const changes_total = [...changes.buyers, ...changes.groups].some(hasTotal);
  return readSetup(db, owners, (caps) => changes_total || caps.some(hasTotal));
}

async function expectedOf(
  db: Db,
  candidates: readonly Candidate[],
  { period, synthetic, now }: SimulationOrder,
): Promise<Expectations> {
  const { offer_id } = period;
  const observed_from = new Date(now.getTime() - OBSERVED_DAYS * DAY_MS);
  const observed_in = synthetic ? { offer_id, from: observed_from, to: now } : period;
  return expectationsOf(await readObserved(db, observed_in), {
    buyer_ids: candidates.map(({ id }) => id),
    talked: await readTalked(db, observed_in),
    given: synthetic ?? {},
  });
}

interface Configured {
  facts: CallFacts;
  candidates: readonly Candidate[];
  setup: Setup;
  needs: FilterNeeds;
}

/** All have the same tokens. */
async function readSyntheticCalls(
  db: Db,
  synthetic: Synthetic & { carrier: OwnCarrier },
  {
    facts,
    needs,
    ...period
  }: { facts: CallFacts; needs: FilterNeeds; from: Date; to: Date; seed: string },
): Promise<ReplayedCall[]> {
  const members: Members = new Set();
  const calls = syntheticCalls(facts, synthetic, { ...period, members });
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
  for (const { tokens } of deciding) for (const key of foundFor(tokens)!.members) members.add(key);
}

/** Loads real calls page by page, and counts their real results by buyer. */
async function readRealCalls(
  db: Db,
  { period, carrier }: SimulationOrder,
  { facts, candidates, setup, needs }: Configured,
): Promise<{ calls: ReplayedCall[]; real: Map<number, Counts> }> {
  const calls: ReplayedCall[] = [];
  const real = new Map<number, Counts>();
  const members: Members = new Set();
  const buyer_ids = candidates.map(({ id }) => id);
  for await (const page of readPastCalls(db, period, readingOf(candidates, setup))) {
    const numbers = [...new Set(page.flatMap(({ caller_number }) => caller_number ?? []))];
    const { offer_id, from } = period;
    const callers = await readCallers(db, { offer_id, from, numbers, buyer_ids });
    const of_page = realCalls(page, facts, callers, { members, carrier });
    await addMembers(db, needs, of_page, members);
    calls.push(...of_page);
    countReal(real, page);
  }
  return { calls, real };
}

const filtersOf = (candidates: readonly Candidate[], { conversions }: Setup) => [
  ...candidates.map(({ record_token_filter_list }) => record_token_filter_list),
  ...conversions.map(({ token_values }) => token_values),
];

/** The data of past calls that the filters of these buyers need. */
function readingOf(
  candidates: readonly Candidate[],
  setup: Setup,
): { tokens: boolean; history: boolean } {
  const filters = filtersOf(candidates, setup).flat();
  const names = filters.flatMap((filter) => parsePair(filter)?.[0] ?? []);
  return {
    tokens: names.length > 0,
    history: names.some(
      (name) => name === 'previous_buyer_fleet_ids' || name.startsWith('calls_last_'),
    ),
  };
}
