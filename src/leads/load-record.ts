import type { Db } from '../db/tenant';
import { leadProjection } from './columns';
import type { RecordForm } from './upsert-lead';
import { recordTemplate } from '../db/record-statements';

/** What a request has sent of a lead: what is shown to a sender with a lead token alone. */
export interface SentColumns {
  data?: unknown;
  email?: string | null;
  remote_ip?: string | null;
  zones?: readonly string[];
}

/** The record of a lead now as JSON, as far as the caller may read it. `now` is an ISO time. */
export async function loadRecord(
  db: Db,
  id: string,
  { form, now, sent }: { form: RecordForm; now: string; sent: SentColumns },
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
      sent: JSON.stringify(sent),
    }),
  );
  return row!.record;
}
