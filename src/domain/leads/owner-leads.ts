import type { Row } from '../../data/sql';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { JobContext } from '../../data/jobs/queue';
import type { Tasks } from '../../data/jobs/tasks';
import { REMOVE_OWNER_LEADS, RESUME_OWNER_LEADS } from './queries/owner-leads';

type Owner = Tasks['resume_leads'];
type Context = Pick<Deps, 'tenants' | 'clock'>;

interface Batch {
  offer_id: string | null;
  schedule_id: string | null;
  /** Only leads with greater ids are changed. */
  after: string;
  now: Date;
}

/**
 * Resumes leads that were stopped while their offer or schedule was paused, at their next action.
 */
export const resumeLeads = (owner: Owner, job: JobContext, context: Context): Promise<void> =>
  changeInBatches(owner, job, context, (db, batch) =>
    db.sql(RESUME_OWNER_LEADS, { ...batch, event: 'resumed', message: null }),
  );

export const removeLeads = (owner: Owner, job: JobContext, context: Context): Promise<void> =>
  changeInBatches(owner, job, context, (db, batch) =>
    db.sql(REMOVE_OWNER_LEADS, { ...batch, event: 'removed', message: null }),
  );

async function changeInBatches(
  owner: Owner,
  { signal }: JobContext,
  { tenants, clock }: Context,
  change: (db: Db, batch: Batch) => Promise<Row<'leads.resume_owner_leads'>[]>,
): Promise<void> {
  const { offer_id = null, schedule_id = null } = owner;
  const db = tenants.of(BigInt(owner.company_id));
  let after: string | null = '0';
  while (after !== null) {
    signal.throwIfAborted();
    const [batch]: { last: string | null }[] = await change(db, {
      offer_id,
      schedule_id,
      after,
      now: clock(),
    });
    after = batch!.last;
  }
}
