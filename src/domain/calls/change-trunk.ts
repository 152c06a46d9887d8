import type { Db } from '../../data/db';
import { isTrunkFailure } from '../routing/engine/leg-failure';
import { pickAttempt } from '../routing/engine/progress';
import { applyRoute } from '../routing/engine/trunks';
import type { AttemptState, CallState } from './call-state';
import { buildDetails, type ReportedEvent } from './event-change';
import { CHANGE_TRUNK } from './queries/change-trunk';
import type { AttemptRow } from './read-call';
import type { TrunkFault } from './record-call';
import { computeLease } from './session';

// A trunk that fails says nothing about its buyer: the buyer is dialed again through the next one.

/** An attempt, and the fault of its trunk. */
export interface FailedTrunk {
  attempt: AttemptState;
  trunk_id: number;
  fault: string;
}

/** The trunk that has failed by an event, be it the present one of its attempt or not. */
export function findFailedTrunk(
  attempts: readonly AttemptState[],
  reported: ReportedEvent,
): FailedTrunk | undefined {
  const { event, trunk, sip_code, q850 } = reported;
  if (event !== 'failed' || !trunk || !isTrunkFailure(reported)) return undefined;
  const attempt = pickAttempt(attempts, reported);
  const route = attempt?.routes?.find((tried) => tried.trunk.name === trunk);
  if (attempt?.status !== 'ringing' || !route) return undefined;
  const { trunk_id } = route;
  return { attempt, trunk_id, fault: `${trunk} answered ${sip_code ?? `${q850} (Q.850)`}` };
}

/** False for a report that is repeated: the attempt is dialed through another trunk by now. */
export const isPresentTrunk = ({ attempt, trunk_id }: FailedTrunk): boolean =>
  attempt.trunk_id === trunk_id;

/**
 * Dials the buyer through its next trunk with room. `left`: there is none, and nothing was written.
 */
export async function changeTrunk(
  db: Pick<Db, 'sql'>,
  { call, attempts, version }: CallState,
  { failed, reported, now }: { failed: FailedTrunk; reported: ReportedEvent; now: Date },
): Promise<'changed' | 'stale' | 'left'> {
  const { attempt, fault } = failed;
  const lease = computeLease(call, attempts);
  const failedTrunks = listFailedTrunks(attempts, failed);
  const routes = (attempt.routes ?? []).filter(({ trunk_id }) => !failedTrunks.has(trunk_id));
  for (const route of routes) {
    const event = {
      event: 'trunk_failed',
      message: `${fault}: dialed again through ${route.trunk.name}`,
      buyer_id: attempt.buyer_id,
      details: buildDetails(reported),
    };
    const [row] = await db.sql(CHANGE_TRUNK, {
      ...{ call_id: call.id, version, now, attempt: attempt.uuid, fault },
      route: JSON.stringify({
        trunk_id: route.trunk_id,
        dial: applyRoute(attempt.dial, route),
      }),
      event: JSON.stringify(event),
      lease_until: new Date(now.getTime() + lease * 1000),
    });
    if (row!.outcome !== 'trunk_full') return row!.outcome;
  }
  return 'left';
}

/** Ids of all trunks that have failed for a call. */
export const listFailedTrunks = (
  attempts: readonly AttemptRow[],
  failed: FailedTrunk | undefined,
): ReadonlySet<number> =>
  new Set([
    ...attempts.flatMap(({ failed_trunk_ids }) => failed_trunk_ids),
    ...(failed ? [failed.trunk_id] : []),
  ]);

export const toTrunkFault = ({ attempt, fault }: FailedTrunk): TrunkFault => ({
  attempt: attempt.uuid,
  fault,
});
