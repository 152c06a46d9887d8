import { findNamed, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { DESCRIBE_CALL, FIND_DISPOSITION } from './queries/describe-call';
import { recordEvent } from './record-call';

/** Fields that users write about a call; null clears a field. */
export interface CallDescription {
  disposition_key?: string | null | undefined;
  disposition_notes?: string | null | undefined;
  quality_assurance_name?: string | null | undefined;
  agent_id?: Reference | null | undefined;
}

/**
 * Writes the fields and an event, for a locked call. Throws 422 for a disposition that the company
 * does not have, with the list of those that it has.
 */
export async function describeCall(
  db: Db,
  callId: number,
  { disposition_key, disposition_notes, quality_assurance_name, agent_id }: CallDescription,
  now: Date,
): Promise<void> {
  const fields = {
    ...(disposition_key !== undefined && {
      disposition_id: await findDispositionId(db, disposition_key),
    }),
    ...(disposition_notes !== undefined && { disposition_notes }),
    ...(quality_assurance_name !== undefined && {
      quality_assurance_name: quality_assurance_name?.trim() || null,
    }),
    ...(agent_id !== undefined && { agent_id: await findAgentId(db, agent_id) }),
  };
  if (Object.keys(fields).length === 0) return;
  const changed = await db.sql(DESCRIBE_CALL, {
    call_id: callId,
    fields: JSON.stringify(fields),
    now,
  });
  if (changed.length === 0) return;
  const description = { disposition_key, disposition_notes, quality_assurance_name, agent_id };
  const said = Object.entries(description).filter(([, value]) => value !== undefined);
  await recordEvent(db, {
    call_id: callId,
    event: 'described',
    message: said.map(([name]) => name).join(', '),
    details: Object.fromEntries(said),
    now,
  });
}

async function findDispositionId(db: Db, key: string | null): Promise<string | null> {
  if (key === null || key.trim() === '') return null;
  const [row] = await db.sql(FIND_DISPOSITION, { key: key.trim().toLowerCase() });
  const { id, keys } = row!;
  if (id !== null) return id;
  const message =
    keys!.length > 0
      ? `must be the key of one of your dispositions: ${keys!.join(', ')}`
      : 'must be the key of a disposition, of which you have none: POST /dispositions makes one';
  throw HttpProblem.field('disposition_key', 'unknown_reference', message);
}

/** The id of the agent that a request names. Throws 422 for one that is not the company's. */
export const findAgentId = async (db: Db, reference: Reference | null): Promise<string | null> =>
  reference === null || reference === ''
    ? null
    : String(await findNamed(db, 'agents', { reference, field: 'agent_id' }));
