import type { DialBuyer } from '../routing/engine/progress';

// Buyers of one round, as carriers dial them together.

export type DialedLeg = Pick<
  DialBuyer,
  | 'attempt'
  | 'number'
  | 'timeout_seconds'
  | 'caller_id'
  | 'dtmf_tones'
  | 'headers'
  | 'press_one_to_accept'
  | 'record_calls'
>;

/** How long a buyer is waited for that is asked for a key. */
export const KEY_SECONDS = 10;

/** The shortest ring time that carriers accept. */
const MIN_RING_SECONDS = 5;

/** How long a carrier rings all of them: as long as the longest. */
export function pickRingSeconds(
  dial: readonly Pick<DialedLeg, 'timeout_seconds'>[],
  maxSeconds = Infinity,
): number {
  const ring = Math.max(...dial.map(({ timeout_seconds }) => timeout_seconds));
  return Math.min(Math.max(ring, MIN_RING_SECONDS), maxSeconds);
}

/**
 * Carriers show one number to all buyers that are dialed together. Without one they would show the
 * caller's, which some must not see: then, and if they should see different ones, they see the
 * number called.
 */
export function pickCallerId(
  dial: readonly Pick<DialedLeg, 'caller_id'>[],
  numberCalled: string,
): string {
  const [shown, ...rest] = new Set(dial.map(({ caller_id }) => caller_id));
  return rest.length === 0 && shown ? shown : numberCalled;
}
