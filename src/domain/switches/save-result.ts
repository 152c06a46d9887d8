import type { Db } from '../../data/db';
import { cutText } from '../../platform/storable-text';
import { SAVE_RESULT } from './queries/commands';

const MAX_REASON_CHARS = 500;

interface CommandKey {
  switch_id: string;
  command_id: number | string;
}

/** Saves the first result of a command that has not expired; others change nothing. */
export async function saveResult(
  db: Pick<Db, 'sql'>,
  key: CommandKey,
  { result, reason }: { result: 'done' | 'failed'; reason: string | null },
  now: Date,
): Promise<void> {
  const text = reason === null ? null : cutText(reason, MAX_REASON_CHARS);
  await db.sql(SAVE_RESULT, { ...key, result, reason: text, now });
}
