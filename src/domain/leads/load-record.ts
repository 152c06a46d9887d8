import type { Db } from '../../data/tenant';
import { leadProjection } from './columns';
import type { RecordForm } from './upsert-lead';
import { recordTemplate } from '../../data/projection/record-statements';

/**
 * Columns that a submission itself contains: a sender with only a lead token is shown no others.
 */
export interface SentColumns {
  data?: unknown;
  email?: string | null;
  remote_ip?: string | null;
  zones?: readonly string[];
}

/** The record of a lead as JSON, limited to what the caller may read. `now` is an ISO 8601 time. */
export async function loadRecord(
  db: Db,
  id: string,
  { form, now, sentColumns }: { form: RecordForm; now: string; sentColumns: SentColumns },
): Promise<string> {
  const statement = recordTemplate(leadProjection, 'id', {
    ...form,
    limited: db.accessScope !== undefined,
  });
  const [row] = await db.query<{ record: string }>(
    statement({
      ...db.accessScope,
      company_id: db.company_id,
      now,
      id,
      request: JSON.stringify(sentColumns),
    }),
  );
  return row!.record;
}
