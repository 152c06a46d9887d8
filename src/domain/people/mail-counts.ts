import type { Sql } from '../../data/sql';
import { COUNT_REFUSED_MAILS } from './queries/mail-addresses';

/** Mails of this day that the quotas refused, and of how many companies of a database. */
export async function countRefusedMails(
  sql: Sql,
  now: Date,
): Promise<{ mails: number; companies: number }> {
  const [count] = await sql(COUNT_REFUSED_MAILS, { day: now.toISOString().slice(0, 10) });
  return { mails: count!.mails!, companies: count!.companies! };
}
