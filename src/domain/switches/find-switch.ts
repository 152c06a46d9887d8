import type { Db } from '../../data/db';
import { buildReferenceProblem, type Reference } from '../../data/records';
import { notFound } from '../../platform/errors';
import { FIND_SWITCH } from './queries/switches';

type Connection = Pick<Db, 'sql' | 'accessScope'>;

/** Users who are limited to records of teams have no switches. */
const findSwitch = async (db: Connection, reference: Reference): Promise<string | undefined> =>
  db.accessScope
    ? undefined
    : (await db.sql(FIND_SWITCH, { reference: String(reference).trim() }))[0]?.id;

/** The id of the switch in a path, by name, id or uuid. Throws 404. */
export async function requireSwitch(db: Connection, reference: Reference): Promise<string> {
  const id = await findSwitch(db, reference);
  if (id === undefined) throw notFound();
  return id;
}

/** The id of the switch in a field. Throws 422. */
export async function resolveSwitch(
  db: Connection,
  reference: Reference,
  field: string,
): Promise<string> {
  const id = await findSwitch(db, reference);
  if (id === undefined) throw buildReferenceProblem(field, [String(reference)]);
  return id;
}
