import type { Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { NO_SETTLEMENT, type PaidBefore, type Settlement } from '../money/engine/settlement';
import type { UnbilledReason } from '../money/engine/explain-unbilled';
import type { AttemptStatus } from '../routing/engine/progress';
import { APPLY_EVENT } from './queries/apply-event';
import type { AttemptRow } from './read-call';
import type { NewEvent, TrunkFault } from './record-call';
import { toDollarColumns } from './settle';

/** Effect of an event on a call; null leaves a column as it is. */
export interface Progress {
  /** By uuid. */
  attempts: ReadonlyMap<string, AttemptStatus>;
  /** Attempts that are open from now on: slots that none of them needs are released. */
  open: readonly AttemptRow[];
  events: readonly NewEvent[];
  status: string;
  connected: Pick<AttemptRow, 'buyer_group_id' | 'dial' | 'uuid'> | undefined;
  /** When that buyer took the call, if that is only known afterwards. */
  taken_at?: Date | undefined;
  ended_at: Date | null;
  /** Seconds. */
  answered_duration: number | null;
  hangup_cause: string | null;
  recording_url: string | null;
  lease_until: Date;
  /** True if what the caller got without a buyer is over. */
  ends_fallback?: boolean;
  /** The trunk of an attempt has failed, and no other one is left for it. */
  trunk_fault?: TrunkFault | undefined;
  /** The id of a trunk through which a telephone was reached. */
  reached_trunk?: number | undefined;
  /** Why the buyer that had the call does not pay. */
  unbilled_reason?: UnbilledReason | undefined;
}

/** Usage and payment of the buyer that has the call. */
export interface BuyerUse {
  /** Null: only the source is paid. */
  buyer_id: number | null;
  settlement: Settlement;
  /** Set when it has just taken the call: tokens that it gives to the call and its lead. */
  takes?: { tokens: Record<string, string> } | undefined;
  agent_id?: Reference | null | undefined;
}

export interface Change {
  call_id: number;
  /** The version of the call that was read; null when the call is locked. */
  version: string | null;
  now: Date;
  progress: Progress;
  use?: BuyerUse | undefined;
}

/**
 * `stale`: the call is no longer as it was read. A `PaidBefore` has the payments that were found:
 * they differ from those that the change expected, and nothing was written.
 */
export type RecordResult = 'written' | 'stale' | PaidBefore;

/** Writes what an event changes in one exchange: all of it, or nothing. */
export async function recordChange(db: Pick<Db, 'sql'>, change: Change): Promise<RecordResult> {
  const { call_id, version, now, progress, use } = change;
  const { settlement = NO_SETTLEMENT } = use ?? {};
  const [row] = await db.sql(APPLY_EVENT, {
    ...{ call_id, version, now },
    progress: JSON.stringify(toProgressColumns(change)),
    attempts: JSON.stringify(listStatuses(change)),
    events: JSON.stringify([...progress.events, ...settlement.events]),
    dollars: JSON.stringify(toDollarColumns(settlement, now)),
  });
  const { outcome, buyer_paid, source_paid } = row!;
  return outcome === 'paid_otherwise'
    ? { buyer_paid: buyer_paid!, source_paid: source_paid! }
    : outcome;
}

const dropNulls = <Id>(ids: readonly (Id | null)[]): Id[] => ids.filter((id) => id !== null);

function listStatuses({ progress }: Change) {
  const taker = progress.connected?.uuid;
  return [...progress.attempts].map(([uuid, status]) => ({
    ...{ uuid, status },
    takes: uuid === taker,
  }));
}

function toProgressColumns(change: Change) {
  const { progress, use, now } = change;
  const { connected, taken_at = now, open } = progress;
  return {
    status: progress.status,
    buyer_id: connected ? use!.buyer_id : null,
    buyer_group_id: connected?.buyer_group_id ?? null,
    connect_to: connected?.dial.number ?? null,
    has_answer: listStatuses(change).some(({ status, takes }) => takes || status === 'answered'),
    taken_at,
    ended_at: progress.ended_at,
    answered_duration: progress.answered_duration,
    hangup_cause: progress.hangup_cause,
    recording_url: progress.recording_url,
    unbilled_reason: progress.unbilled_reason,
    ends_fallback: progress.ends_fallback ?? false,
    failed_attempt: progress.trunk_fault?.attempt,
    trunk_fault: progress.trunk_fault?.fault,
    reached_trunk: progress.reached_trunk,
    lease_until: progress.lease_until,
    takes: use?.takes !== undefined,
    agent_id: use?.agent_id ?? null,
    tokens: use?.takes ? emptyToNull(use.takes.tokens) : null,
    open_buyers: open.map(({ buyer_id }) => buyer_id),
    open_groups: dropNulls(open.map(({ buyer_group_id }) => buyer_group_id)),
  };
}

const emptyToNull = (tokens: Record<string, string>): Record<string, string> | null =>
  Object.keys(tokens).length > 0 ? tokens : null;
