import { resolveReferences, buildReferenceProblem, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { CHANGE_STATUS, LOCK_STATUS_BY_KEY, RECORD_FIRST_STATUS } from './queries/statuses';

interface StatusFields {
  agent_status_id?: Reference | undefined;
  key?: string | undefined;
}

/**
 * Returns the id of the status that a request names, by id or by key, and locks it against its
 * deletion. Throws a 422 problem where it names none, or two.
 */
export async function resolveStatus(
  db: Db,
  { agent_status_id: reference, key }: StatusFields,
): Promise<bigint> {
  const byId = reference === undefined ? undefined : await findStatusById(db, reference);
  if (key === undefined) {
    if (byId === undefined)
      throw HttpProblem.field(
        'agent_status_id',
        'missing_field',
        'must be given, or key instead of it',
      );
    return byId;
  }
  const [row] = await db.sql(LOCK_STATUS_BY_KEY, { key });
  if (!row) throw buildReferenceProblem('key', [key]);
  const byKey = BigInt(row.id);
  if (byId !== undefined && byId !== byKey)
    throw HttpProblem.field(
      'key',
      'conflicting_fields',
      'must be the key of the status in agent_status_id, or be left out',
    );
  return byKey;
}

async function findStatusById(db: Db, reference: Reference): Promise<bigint> {
  const field = 'agent_status_id';
  return (await resolveReferences(db, 'agent_statuses', [reference], { field }))[0]!;
}

export async function recordFirstStatus(db: Db, agentId: bigint, now: Date): Promise<void> {
  await db.sql(RECORD_FIRST_STATUS, { agent_id: agentId, now: now.toISOString() });
}

/** Records that an agent enters a status, which the caller has locked against its deletion. */
export async function changeStatus(
  db: Db,
  agentId: bigint,
  { agent_status_id, now }: { agent_status_id: bigint; now: Date },
): Promise<void> {
  await db.sql(CHANGE_STATUS, { agent_id: agentId, agent_status_id, now: now.toISOString() });
}
