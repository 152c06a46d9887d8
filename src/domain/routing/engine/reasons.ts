import { offsetAt } from '../../../platform/time/zone';

/** Reasons why a buyer cannot take a call. Of several, the first in this order is given. */
export const REASONS = [
  'blacklisted',
  'offer_paused',
  'offer_suppressed',
  'traffic_source_paused',
  'traffic_source_cap_reached',
  'traffic_source_concurrency_full',
  'already_tried',
  'not_previous_buyer',
  'blocked_for_traffic_source',
  'not_allowed_for_traffic_source',
  'paused',
  'group_paused',
  'closed',
  'suppressed',
  'filter_unmet',
  'cap_reached',
  'concurrency_full',
  'out_of_balance',
  'duplicate_caller',
  'spacing',
  'key_press_unavailable',
  'tones_unavailable',
  'bidder_suspended',
  'bid_failed',
  'bid_declined',
  'bid_not_asked',
  'no_number',
  'no_trunk',
  'trunk_full',
  'vetoed',
  'not_rung',
] as const;
export type Reason = (typeof REASONS)[number];

export interface Fault {
  reason: Reason;
  message: string;
  /** Facts behind the reason, for programs. */
  details?: Record<string, unknown> | null;
}

export const pauseFault = (reason: 'paused' | 'group_paused', owner: string): Fault => ({
  reason,
  message: `${owner} is paused`,
});

/** Local date and time, and the zone, as messages show them. */
export function localTime(at: Date, zone: string): string {
  const local = new Date(at.getTime() + offsetAt(zone, at)).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 16)} ${zone}`;
}
