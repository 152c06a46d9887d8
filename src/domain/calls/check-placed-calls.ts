import type { Deps } from '../deps';
import { forEach } from '../../data/jobs/each';
import { CHECK_PLACED_CALL, FIND_PLACED_TO_CHECK } from './queries/outbound';
import { LONGEST_PERSON_SECONDS } from './session';

const BATCH = 200;
/** How much later than the end of its ringing a call may be reported as answered or ended. */
const GRACE_SECONDS = 60;

/**
 * Ends calls that switches were to place and that were neither placed nor reported in time, so that
 * their schedules go on. Returns how many calls were looked at. Any number of processes may run
 * this at the same time.
 */
export async function checkPlacedCalls({
  database,
  tenants,
  clock,
  log,
}: Pick<Deps, 'database' | 'tenants' | 'clock' | 'log'>): Promise<number> {
  const now = clock();
  const due = await database.sql(FIND_PLACED_TO_CHECK, { now, limit: BATCH });
  const limits = { grace_seconds: GRACE_SECONDS, longest_seconds: LONGEST_PERSON_SECONDS };
  await forEach(due, async ({ company_id, call_id }) => {
    const { sql } = tenants.of(BigInt(company_id));
    const [checked] = await sql(CHECK_PLACED_CALL, { call_id, now, ...limits });
    if (checked!.is_ended)
      log.warn({ company_id, call_id }, 'a call that a switch was to place has ended unreported');
  });
  return due.length;
}
