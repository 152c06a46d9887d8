import type { Db } from '../../data/db';
import { ADD_TOKENS, SAVE_RECORDING } from './queries/change-call';

// Writers of tokens and recordings, apart from routing. The caller has locked the call.

type Sql = Pick<Db, 'sql'>;

/** Merges tokens into those of a call and marks it as changed by a user. */
export async function addTokens(
  db: Sql,
  { call_id, tokens, now }: { call_id: number; tokens: Record<string, unknown>; now: Date },
): Promise<void> {
  await db.sql(ADD_TOKENS, { call_id, tokens: JSON.stringify(tokens), now });
}

/** Saves the URL of a recording, also of a call that has ended. A later URL does not replace it. */
export async function saveRecording(
  db: Sql,
  callId: number,
  recordingUrl: string,
  now: Date,
): Promise<void> {
  await db.sql(SAVE_RECORDING, { call_id: callId, recording_url: recordingUrl, now });
}
