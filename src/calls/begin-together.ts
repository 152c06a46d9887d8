import type { Held } from '../buyers/caps';
import type { Statements } from '../db/tenant';
import { bidsRequired, withAnswers } from '../routing/bidding';
import { decide } from '../routing/engine/decide';
import { loadRoutings, type RoutingContext } from '../routing/load-routing';
import { measureDecision } from '../routing/measure-decision';
import { preDialCheckOf, type PreDialCheckRequired } from '../routing/pre-dial-webhooks';
import { buildCapUsages, toSlots, type CapUsage } from '../routing/cap-usage';
import { splitBatches } from '../telemetry/metrics';
import { outcomeOf } from './outcome';
import {
  askedOf,
  factsOfNewCall,
  newCallOf,
  newSessionOf,
  startedOf,
  type IncomingCall,
} from './new-call';
import { BEGIN_CALLS } from './queries/begin-calls';
import { beginningsOf, type BeginningCall } from './record-call';
import type { CallSession } from './session';

/** Result for one call of a batch. The words mean that nothing of the call was written. */
export type BegunTogether = CallSession | PreDialCheckRequired | 'no_offer' | 'again' | 'apart';

/**
 * Starts calls with one statement that reads and one that writes. `retry`: the caps had no room for
 * all calls, on the state of that time. `needs_transaction`: the call has a reservation, was
 * reported before, goes to a buyer that pays for being dialed, cannot share a cap with an earlier
 * call of the batch, or failed.
 */
export async function beginTogether(
  db: Statements,
  incoming: readonly IncomingCall[],
  now: Date,
): Promise<BegunTogether[]> {
  const contexts = await loadRoutings(db, incoming.map(askedOf), now);
  const results: BegunTogether[] = incoming.map(() => 'apart');
  const decided: DecidedCall[] = [];
  const moves: Moves = new Map();
  for (const [place, found] of contexts.entries()) {
    // An error in one call must not fail the batch; that call is retried alone and fails there.
    const one = found
      ? await decideOne(db, { incoming: incoming[place]!, found, moves }, now).catch(
          () => 'apart' as const,
        )
      : 'no_offer';
    if (typeof one === 'object' && 'round' in one) decided.push({ ...one, place });
    else results[place] = one;
  }
  const { written, left } = await writeAll(db, decided, now);
  for (const [{ place, call, found, round }, id] of written) {
    measureDecision(round.decision);
    results[place] = newSessionOf(call, { id, ...round }, { found, now });
  }
  for (const { place } of left) results[place] = 'again';
  return results;
}

/** By the id of a row of caps: what the calls so far take of it. */
type Moves = Map<number, CapUsage>;

interface DecidedCall extends BeginningCall {
  place: number;
  found: RoutingContext;
  uses: readonly CapUsage[];
}

/** Decides the next call of a batch, and adds what it takes to what the calls before it take. */
async function decideOne(
  db: Statements,
  { incoming, found: read, moves }: { incoming: IncomingCall; found: RoutingContext; moves: Moves },
  now: Date,
): Promise<Omit<DecidedCall, 'place'> | PreDialCheckRequired | 'apart'> {
  if (read.reservation || read.is_known) return 'apart';
  const { vetoes } = incoming;
  const found = withAnswers(read, vetoes?.bids);
  const call = newCallOf(incoming, found, now);
  const asked = await factsOfNewCall(db, { incoming, call, found }, now);
  const bids_required = vetoes && bidsRequired(found, asked, { call });
  if (bids_required) return bids_required;
  const judged = decide(found.candidates, asked, found.lined_up);
  const members = judged.first?.members ?? [];
  const { tokens } = asked;
  const check = vetoes && preDialCheckOf(members, found.webhooks, { call, tokens, vetoes });
  if (check) return check;
  if (members.some(({ buyer }) => buyer.pays_at_dial)) return 'apart';
  const uses = buildCapUsages(judged.first, found.caps, asked);
  if (!uses.every((use) => goesWith(moves.get(use.limit_id), use))) return 'apart';
  for (const use of uses) moves.set(use.limit_id, use);
  const routing = { ...found, asked, events: startedOf(call) };
  const chosen = { judged, members, slots: toSlots(uses), caps: [] };
  return { call, found, uses, round: outcomeOf({ ...call, round: 0 }, routing, chosen) };
}

/**
 * A row of caps that has room for the sum of both has room for one after the other only if both may
 * bring the same and no time is required between them.
 */
const goesWith = (before: CapUsage | undefined, use: CapUsage): boolean =>
  !before ||
  (use.spacing === 0 &&
    before.spacing === 0 &&
    before.slots === use.slots &&
    before.connections === use.connections &&
    before.conversions === use.conversions &&
    before.revenue === use.revenue);

interface Written {
  written: [DecidedCall, id: number][];
  /** Calls whose caps had no room for all of them. */
  left: DecidedCall[];
}

const NOTHING: Written = { written: [], left: [] };

/**
 * Writes calls. While caps have no room for all calls that want them, tries half of these calls.
 */
async function writeAll(
  db: Statements,
  decided: readonly DecidedCall[],
  now: Date,
): Promise<Written> {
  if (decided.length === 0) return NOTHING;
  try {
    const rows = await db.sql(BEGIN_CALLS, paramsOf(decided, now));
    for (const { found } of decided) found.basis.is_stored = true;
    return { written: rows.map(({ id }, n) => [decided[n]!, id]), left: [] };
  } catch (error) {
    const { code, detail } = error as { code?: string; detail?: string };
    if (OF_ONE.test(code ?? '')) return NOTHING;
    if (code !== NO_ROOM) throw error;
    splitBatches.inc();
    const refused = new Set((detail ?? '').slice(1, -1).split(',').map(Number));
    const wanting = decided.filter(({ uses }) => uses.some((use) => refused.has(use.limit_id)));
    const left = new Set(wanting.slice(Math.floor(wanting.length / 2)));
    const result = await writeAll(
      db,
      decided.filter((each) => !left.has(each)),
      now,
    );
    return { written: result.written, left: [...result.left, ...left] };
  }
}

/** SQLSTATE of require_caps. */
const NO_ROOM = 'TL001';
/**
 * SQLSTATE classes of errors that a single call may cause: by its values, or a record that it names
 * and that is gone; a call that was reported twice; a deadlock; a lock for which a batch must not
 * wait long.
 */
const OF_ONE = /^(2|40|54|55P03|P0)/;

const paramsOf = (decided: readonly DecidedCall[], now: Date) => ({
  now,
  ...movesOf(decided),
  uses: JSON.stringify(usesAfter(decided)),
  ...beginningsOf(decided),
});

/** Sums over all calls for each row of caps, as one array per column. */
function movesOf(decided: readonly DecidedCall[]) {
  const sums = new Map<number, Sum & { limit_id: number; spacing: number }>();
  for (const use of decided.flatMap(({ uses }) => uses)) {
    const sum = sums.get(use.limit_id);
    if (sum) add(sum, use);
    else sums.set(use.limit_id, { ...use, calls: 1 });
  }
  const moves = [...sums.values()];
  return {
    limit_ids: moves.map(({ limit_id }) => limit_id),
    moved_calls: moves.map(({ calls }) => calls),
    moved_connections: moves.map(({ connections }) => connections),
    moved_conversions: moves.map(({ conversions }) => conversions),
    moved_revenue: moves.map(({ revenue }) => revenue),
    moved_slots: moves.map(({ slots }) => slots),
    spacings: moves.map(({ spacing }) => spacing),
  };
}

/** Sums over several calls for one row of caps. */
type Sum = Held & { calls: number; slots: number };

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
function usesAfter(decided: readonly DecidedCall[]) {
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
        place: decided.length - 1 - reversed,
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
