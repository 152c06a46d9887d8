import { buyersPassedOver, routingDecisions } from '../telemetry/metrics';
import type { StoredDecision } from './engine/decision';

/** Counts a decision that was recorded. What the database rolls back afterwards stays counted. */
export function measureDecision({ action, reason, faults }: StoredDecision): void {
  routingDecisions.inc({ action, reason: reason ?? 'none' });
  // One entry for each reason, not for each buyer.
  for (const fault of faults) buyersPassedOver.inc({ reason: fault.reason }, fault.ids.length);
}
