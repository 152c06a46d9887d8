import type { Deps } from '../deps';
import { handleCallEvent } from './handle-event';
import { CLAIM_LEGS_TO_STOP } from './queries/legs';

const BATCH = 50;
/** A leg that still rings is tried again after this. */
const RETRY_DELAY_MS = 5_000;

/**
 * Stops legs that have rung for the time of their buyer, where the carrier would let them ring as
 * long as the longest of their round. Returns how many were stopped. Any number of processes may
 * run this at the same time. A buyer that has answered meanwhile keeps the call.
 */
export async function stopLegs({
  database,
  tenants,
  carrier,
  clock,
  log,
}: Pick<Deps, 'database' | 'tenants' | 'carrier' | 'clock' | 'log'>): Promise<number> {
  if (!carrier.capabilities.cancel_leg) return 0;
  const now = clock();
  const againAt = new Date(now.getTime() + RETRY_DELAY_MS);
  const legs = await database.sql(CLAIM_LEGS_TO_STOP, { now, again_at: againAt, limit: BATCH });
  const stopped = await Promise.all(
    legs.map(async ({ company_id, call_id, attempt, leg_sid, carrier: name }) => {
      if (name !== carrier.name) return false;
      const done = await carrier.stopRinging(leg_sid!);
      if (!done.ok) {
        if (done.code !== 'not_live')
          log.warn({ call_id, code: done.code }, 'the ringing of a leg could not be stopped');
        return false;
      }
      const event = { event: 'no_answer', attempt, ends_separately: true } as const;
      await handleCallEvent(tenants.of(BigInt(company_id)), call_id, event, clock());
      return true;
    }),
  );
  return stopped.filter(Boolean).length;
}
