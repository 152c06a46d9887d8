import type { Db } from '../../data/db';
import { FIND_NUMBER } from './queries/numbers';

/** The id of the company's number with these E.164 digits; undefined when it owns none. */
export async function findNumber(
  db: Pick<Db, 'sql'>,
  phoneNumber: number | string,
): Promise<string | undefined> {
  return (await db.sql(FIND_NUMBER, { phone_number: phoneNumber }))[0]?.id;
}
