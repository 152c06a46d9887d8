import { buyersPassedOver, routingDecisions } from '../../platform/telemetry/metrics';
import type { StoredDecision } from './engine/explain';

/** Counts a recorded decision. A later rollback does not undo the count. */
export function measureDecision({ action, reason, faults }: StoredDecision): void {
  routingDecisions.inc({ action, reason: reason ?? 'none' });
  // `faults` has one entry for each reason, not for each buyer.
  for (const fault of faults) buyersPassedOver.inc({ reason: fault.reason }, fault.ids.length);
}
