import type { HeldUsage } from '../caps/caps';
import type { Statements } from '../../data/db';
import { buildBidQuestion, applyBids } from '../routing/bidding';
import { decide } from '../routing/engine/decide';
import { loadRoutingBatch, type RoutingContext } from '../routing/load-routing';
import { measureDecision } from '../routing/measure-decision';
import { buildPreDialCheck, type PreDialCheckRequired } from '../routing/pre-dial-webhooks';
import { buildCapUsages, toSlots, type CapUsage } from '../routing/cap-usage';
import { splitBatches } from '../../platform/telemetry/metrics';
import { buildRound } from './outcome';
import {
  toRoutingRequest,
  loadFactsForNewCall,
  buildNewCall,
  buildNewSession,
  buildStartEvents,
  type IncomingCall,
} from './new-call';
import { BEGIN_CALLS } from './queries/begin-calls';
import { toCallParams, type StartCall } from './record-call';
import type { CallSession } from './session';

/** Result for one call of a batch. The words mean that nothing of the call was written. */
export type BatchResult =
  CallSession | PreDialCheckRequired | 'unknown_offer' | 'retry' | 'needs_transaction';

/**
 * Starts calls with one statement that reads and one that writes. `retry`: the caps had no room for
 * all calls, on the state of that time. `needs_transaction`: the call has a reservation, was
 * reported before, goes to a buyer that pays for being dialed, cannot share a cap with an earlier
 * call of the batch, or failed.
 */
export async function startCallBatch(
  db: Statements,
  incoming: readonly IncomingCall[],
  now: Date,
): Promise<BatchResult[]> {
  const contexts = await loadRoutingBatch(db, incoming.map(toRoutingRequest), now);
  const results: BatchResult[] = incoming.map(() => 'needs_transaction');
  const decided: DecidedCall[] = [];
  const usageByCap: UsageByCap = new Map();
  for (const [index, context] of contexts.entries()) {
    // An error in one call must not fail the batch; that call is retried alone and fails there.
    const result = context
      ? await decideCall(db, { incoming: incoming[index]!, context, usageByCap }, now).catch(
          () => 'needs_transaction' as const,
        )
      : 'unknown_offer';
    if (typeof result === 'object' && 'round' in result) decided.push({ ...result, index });
    else results[index] = result;
  }
  const { started, left } = await writeAll(db, decided, now);
  for (const [{ index, call, context, round }, id] of started) {
    measureDecision(round.decision);
    results[index] = buildNewSession(call, { id, ...round }, { context, now });
  }
  for (const { index } of left) results[index] = 'retry';
  return results;
}

/** By the id of a row of caps: what the calls so far take of it. */
type UsageByCap = Map<number, CapUsage>;

interface DecidedCall extends StartCall {
  index: number;
  context: RoutingContext;
  uses: readonly CapUsage[];
}

/** Decides the next call of a batch, and adds what it takes to what the calls before it take. */
async function decideCall(
  db: Statements,
  {
    incoming,
    context: read,
    usageByCap,
  }: { incoming: IncomingCall; context: RoutingContext; usageByCap: UsageByCap },
  now: Date,
): Promise<Omit<DecidedCall, 'index'> | PreDialCheckRequired | 'needs_transaction'> {
  if (read.reservation || read.is_known) return 'needs_transaction';
  const { preDial } = incoming;
  const context = applyBids(read, preDial?.bids);
  const call = buildNewCall(incoming, context, now);
  const routingFacts = await loadFactsForNewCall(db, { incoming, call, context }, now);
  const bidsRequired = preDial && buildBidQuestion(context, routingFacts, { call });
  if (bidsRequired) return bidsRequired;
  const evaluation = decide(context.candidates, routingFacts, context.callColumns);
  const members = evaluation.first?.members ?? [];
  const { tokens } = routingFacts;
  const check = preDial && buildPreDialCheck(members, context.webhooks, { call, tokens, preDial });
  if (check) return check;
  if (members.some(({ buyer }) => buyer.pays_at_dial)) return 'needs_transaction';
  const uses = buildCapUsages(evaluation.first, context.caps, routingFacts);
  if (!uses.every((use) => canShareCap(usageByCap.get(use.limit_id), use)))
    return 'needs_transaction';
  for (const use of uses) usageByCap.set(use.limit_id, use);
  const routing = { ...context, routingFacts, events: buildStartEvents(call) };
  const chosen = { evaluation, members, slots: toSlots(uses), caps: [] };
  return { call, context, uses, round: buildRound({ ...call, round: 0 }, routing, chosen) };
}

/**
 * A row of caps that has room for the sum of both has room for one after the other only if both may
 * bring the same and no time is required between them.
 */
const canShareCap = (before: CapUsage | undefined, use: CapUsage): boolean =>
  !before ||
  (use.spacing === 0 &&
    before.spacing === 0 &&
    before.slots === use.slots &&
    before.connections === use.connections &&
    before.conversions === use.conversions &&
    before.revenue === use.revenue);

interface WriteResult {
  started: [DecidedCall, id: number][];
  /** Calls whose caps had no room for all of them. */
  left: DecidedCall[];
}

const NOTHING_WRITTEN: WriteResult = { started: [], left: [] };

/**
 * Writes calls. While caps have no room for all calls that want them, tries half of these calls.
 */
async function writeAll(
  db: Statements,
  decided: readonly DecidedCall[],
  now: Date,
): Promise<WriteResult> {
  if (decided.length === 0) return NOTHING_WRITTEN;
  try {
    const rows = await db.sql(BEGIN_CALLS, buildParams(decided, now));
    for (const { context } of decided) context.basis.is_stored = true;
    return { started: rows.map(({ id }, n) => [decided[n]!, id]), left: [] };
  } catch (error) {
    const { code, detail } = error as { code?: string; detail?: string };
    if (SINGLE_CALL_ERRORS.test(code ?? '')) return NOTHING_WRITTEN;
    if (code !== NO_ROOM) throw error;
    splitBatches.inc();
    const refused = new Set((detail ?? '').slice(1, -1).split(',').map(Number));
    const wanting = decided.filter(({ uses }) => uses.some((use) => refused.has(use.limit_id)));
    const left = new Set(wanting.slice(Math.floor(wanting.length / 2)));
    const result = await writeAll(
      db,
      decided.filter((call) => !left.has(call)),
      now,
    );
    return { started: result.started, left: [...result.left, ...left] };
  }
}

/** SQLSTATE of require_caps. */
const NO_ROOM = 'TL001';
/**
 * SQLSTATE classes of errors that a single call may cause: by its values, or a record that it names
 * and that is gone; a call that was reported twice; a deadlock; a lock for which a batch must not
 * wait long.
 */
const SINGLE_CALL_ERRORS = /^(2|40|54|55P03|P0)/;

const buildParams = (decided: readonly DecidedCall[], now: Date) => ({
  now,
  ...sumUsageColumns(decided),
  uses: JSON.stringify(buildCumulativeUsage(decided)),
  ...toCallParams(decided),
});

/** Sums over all calls for each row of caps, as one array per column. */
function sumUsageColumns(decided: readonly DecidedCall[]) {
  const sums = new Map<number, Sum & { limit_id: number; spacing: number }>();
  for (const use of decided.flatMap(({ uses }) => uses)) {
    const sum = sums.get(use.limit_id);
    if (sum) add(sum, use);
    else sums.set(use.limit_id, { ...use, calls: 1 });
  }
  const usageByCap = [...sums.values()];
  return {
    limit_ids: usageByCap.map(({ limit_id }) => limit_id),
    moved_calls: usageByCap.map(({ calls }) => calls),
    moved_connections: usageByCap.map(({ connections }) => connections),
    moved_conversions: usageByCap.map(({ conversions }) => conversions),
    moved_revenue: usageByCap.map(({ revenue }) => revenue),
    moved_slots: usageByCap.map(({ slots }) => slots),
    spacings: usageByCap.map(({ spacing }) => spacing),
  };
}

/** Sums over several calls for one row of caps. */
type Sum = HeldUsage & { calls: number; slots: number };

function add(sum: Sum, { slots, connections, conversions, revenue }: CapUsage): void {
  sum.calls++;
  sum.slots += slots;
  sum.connections += connections;
  sum.conversions += conversions;
  sum.revenue += revenue;
}

/**
 * For each call: what it takes of each row of caps, summed up with what the calls after it take.
 */
function buildCumulativeUsage(decided: readonly DecidedCall[]) {
  const after = new Map<number, Sum>();
  return decided.toReversed().flatMap(({ uses }, reversed) =>
    uses.map((use, n) => {
      const sum = after.get(use.limit_id) ?? {
        calls: 0,
        slots: 0,
        connections: 0,
        conversions: 0,
        revenue: 0,
      };
      after.set(use.limit_id, sum);
      add(sum, use);
      return {
        ...use,
        index: decided.length - 1 - reversed,
        n,
        calls: sum.calls,
        slots: sum.slots,
        held_connections: sum.connections,
        held_conversions: sum.conversions,
        held_revenue: sum.revenue,
      };
    }),
  );
}
