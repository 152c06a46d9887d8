import type { Deps } from '../deps';
import type { JobContext } from '../jobs/queue';
import type { Tasks } from '../jobs/tasks';

type Owner = Tasks['resume_leads'];
type Context = Pick<Deps, 'tenants' | 'clock'>;

const BATCH = 2_000;

/** Brings the leads that waited while their offer or schedule was paused back into action; those of a schedule where they stood. */
export const resumeLeads = (
  owner: Owner,
  { signal }: JobContext,
  context: Context,
): Promise<void> =>
  inBatches(owner, signal, context, {
    // Those in a schedule of the offer too: they were stopped with it.
    owned: 'l.offer_id = $2::bigint',
    which: `l.is_live AND l.status = 'disabled'`,
    set: `status = CASE WHEN l.schedule_id IS NULL THEN 'queue' ELSE 'scheduled' END, due_at = CASE WHEN l.schedule_id IS NULL AND l.expires_in IS NULL THEN NULL ELSE $4::timestamptz END`,
    event: 'resumed',
  });

/** Ends the leads of a deleted offer or schedule. */
export const removeLeads = (
  owner: Owner,
  { signal }: JobContext,
  context: Context,
): Promise<void> =>
  inBatches(owner, signal, context, {
    owned: 'l.offer_id = $2::bigint AND l.schedule_id IS NULL',
    which: 'l.is_live',
    set: `status = 'disabled', is_live = false, due_at = NULL, claim_id = NULL`,
    event: 'removed',
  });

interface Change {
  /** Which leads are those of an offer. */
  owned: string;
  which: string;
  set: string;
  event: string;
}

async function inBatches(
  { company_id, offer_id, schedule_id }: Owner,
  signal: AbortSignal,
  { tenants, clock }: Context,
  { owned: of_offer, which, set, event }: Change,
): Promise<void> {
  const db = tenants.of(BigInt(company_id));
  const owned = schedule_id === undefined ? of_offer : 'l.schedule_id = $2::bigint';
  const text = `WITH batch AS (SELECT l.id FROM leads l WHERE l.company_id = $1 AND ${owned} AND l.id > $3::bigint AND l.deleted_at IS NULL AND ${which} ORDER BY l.id LIMIT ${BATCH} FOR UPDATE),
    changed AS (UPDATE leads l SET ${set}, updated_at = $4::timestamptz FROM batch WHERE l.company_id = $1 AND l.id = batch.id RETURNING l.id),
    logged AS (INSERT INTO lead_logs (company_id, created_at, lead_id, event) SELECT $1, $4::timestamptz, id, '${event}' FROM changed ORDER BY id RETURNING 1)
    SELECT max(id)::text AS last FROM changed`;
  for (let last: string | null = '0'; last !== null;) {
    signal.throwIfAborted();
    const rows: { last: string | null }[] = await db.query({
      text,
      values: [company_id, schedule_id ?? offer_id, last, clock()],
    });
    last = rows[0]!.last;
  }
}
