import type { Db } from '../db/tenant';
import { leadProjection } from './columns';
import type { RecordForm } from './upsert-lead';
import { recordTemplate } from '../db/record-statements';

/** The record of a lead as JSON, as it is now. `now` is an ISO time. */
export async function loadRecord(
  db: Db,
  id: string,
  { form, now }: { form: RecordForm; now: string },
): Promise<string> {
  const statement = recordTemplate(leadProjection, 'id', form);
  const [row] = await db.query<{ record: string }>(
    statement({ company_id: db.company_id, now, id }),
  );
  return row!.record;
}
