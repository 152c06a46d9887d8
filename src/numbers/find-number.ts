import type { Db } from '../db/tenant';
import { FIND_NUMBER } from './queries/numbers';

/** The id of the company's number with these E.164 digits; undefined when it owns none. */
export async function findNumber(
  db: Pick<Db, 'sql'>,
  phone_number: number | string,
): Promise<string | undefined> {
  return (await db.sql(FIND_NUMBER, { phone_number }))[0]?.id;
}
