import type { Statements } from '../../data/db';
import { countUsage, NO_SETTLEMENT, type CapOwners } from '../money/engine/settlement';
import { react } from '../routing/engine/progress';
import type { CallState } from './call-state';
import {
  buildEventChange,
  buildTalkEnd,
  prepareBuyerUse,
  type EventChange,
  type ReportedEvent,
} from './event-change';
import type { Change } from './record-change';

// The end of a call that is reported as a whole, decided as any other end, but at its own time.

export interface ImportedEnd extends Pick<ReportedEvent, 'duration' | 'hangup_cause' | 'by'> {
  startedAt: Date;
  endedAt: Date;
  now: Date;
  owners: CapOwners;
}

/** Decides the end of a call that has just been begun. */
export async function prepareEnd(
  db: Pick<Statements, 'sql' | 'company_id'>,
  state: CallState,
  { duration, hangup_cause, by, endedAt }: Omit<ImportedEnd, 'owners'>,
): Promise<EventChange> {
  const isTaken = typeof duration === 'number';
  const reported = {
    ...{ event: 'completed' as const, duration, hangup_cause, by },
    took_call: isTaken,
  };
  if (isTaken) return buildTalkEnd(db, state, reported, endedAt);
  const reaction = react(state.attempts, reported);
  const { decide } = await buildEventChange(db, state, { reaction, reported, now: endedAt });
  const [dialed] = state.attempts;
  if (!dialed) return { decide };
  // Some buyers pay for being dialed.
  const talk = { talking: dialed, connected: undefined, seconds: 0 };
  const settle = await prepareBuyerUse(db, state, talk);
  return { decide: (paidBefore) => ({ ...decide(paidBefore), use: settle(paidBefore).use }) };
}

/**
 * Counts the attempt too, and everything in the windows that contain the beginning of the call.
 * Nothing was reserved for it, so that no cap can refuse it.
 */
export function countInItsTime(
  change: Change,
  { startedAt, owners }: Pick<ImportedEnd, 'startedAt' | 'owners'>,
): Change {
  const { buyer_id = null, settlement = NO_SETTLEMENT, ...use } = change.use ?? {};
  const usages = [...countUsage(owners, { attempt: 1, calls: 1 }), ...settlement.usages];
  return {
    ...change,
    use: {
      ...use,
      buyer_id,
      settlement: { ...settlement, usages: usages.map((used) => ({ ...used, at: startedAt })) },
    },
  };
}
