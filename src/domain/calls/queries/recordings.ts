import { sql, statement } from '../../../data/sql';

/** Keeps a stored file as the recording of a call (prisma/sql/calls/store_recording.sql). */
export const STORE_RECORDING = statement(
  'calls.store_recording',
  sql`
    SELECT r AS outcome
    FROM store_recording(
      {company_id}::bigint, {call_id}::bigint, {now}::timestamptz, {file_key}, {media_type},
      {sha256}, {recording_url}
    ) r`,
  { prepared: true, records: true },
).returning<{ outcome: 'stored' | 'repeated' | 'gone' }>();
