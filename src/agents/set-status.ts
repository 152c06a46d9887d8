import { unknownReferences, type Reference, resolveReferences } from '../db/records';
import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';
import { moveCount } from '../db/counters';

/** What agents of every company can be doing, in the order of menus; the migration that made statuses has the same. */
const BUILT_IN = {
  available: 'Available',
  on_call: 'On call',
  wrap_up: 'Wrap-up',
  away: 'Away',
  offline: 'Offline',
};
const OFFLINE = 'offline' satisfies keyof typeof BUILT_IN;

/** Gives a new company the built-in statuses. */
export async function makeBuiltInStatuses(db: Db, now: Date): Promise<void> {
  const rows = Object.entries(BUILT_IN).map(([key, name], n) => ({
    company_id: db.company_id,
    key,
    name,
    is_online: key !== OFFLINE,
    position: n + 1,
    built_in: true,
    created_at: now,
    updated_at: now,
  }));
  await db.prisma.agentStatus.createMany({ data: rows });
  await moveCount(db, 'agent_statuses', rows.length);
}

/** The id of the status that new agents are in. */
export async function offlineStatus(db: Db): Promise<bigint> {
  const { id } = await db.prisma.agentStatus.findFirstOrThrow({
    where: { key: OFFLINE, deleted_at: null },
    select: { id: true },
  });
  return id;
}

/** The status that a request names, locked against its deletion. Refuses with 422 on the field what names none. */
export async function namedStatus(
  db: Db,
  { agent_status_id, key }: { agent_status_id?: Reference | undefined; key?: string | undefined },
): Promise<bigint> {
  const by_id =
    agent_status_id === undefined
      ? undefined
      : (
          await resolveReferences(db, 'agent_statuses', [agent_status_id], {
            field: 'agent_status_id',
          })
        )[0]!;
  if (key === undefined) {
    if (by_id === undefined)
      throw HttpProblem.field('agent_status_id', 'must be given, or key in its place');
    return by_id;
  }
  const [by_key] = await db.query<{ id: string }>({
    text: 'SELECT id::text FROM agent_statuses WHERE company_id = $1 AND key = $2 AND deleted_at IS NULL FOR SHARE',
    values: [db.company_id, key],
  });
  if (!by_key) throw unknownReferences('key', [key]);
  if (by_id !== undefined && by_id !== BigInt(by_key.id))
    throw HttpProblem.field(
      'key',
      'must be the key of the status in agent_status_id, or be left out',
    );
  return BigInt(by_key.id);
}

const TIMESTAMPS =
  'INSERT INTO agent_status_timestamps (company_id, created_at, updated_at, agent_id, user_id, agent_status_id, key)';
const ROWS =
  'SELECT a.company_id, $3::timestamptz, $3::timestamptz, a.id, a.user_id, a.agent_status_id, s.key';
const STATUS = 'JOIN agent_statuses s ON s.company_id = a.company_id AND s.id = a.agent_status_id';

/** Writes the status that a new agent starts in as the first row of its chain. */
export async function startStatus(db: Db, agent_id: bigint, now: Date): Promise<void> {
  const text = `${TIMESTAMPS} ${ROWS} FROM agents a ${STATUS} WHERE a.company_id = $1 AND a.id = $2::bigint`;
  await db.query({ text, values: [db.company_id, agent_id, now.toISOString()] });
}

/**
 * Puts an agent into a status. One statement: parallel changes follow one another on the agent's row, and each that is a change is a row of the
 * chain. The status must be locked against its deletion.
 */
export async function changeStatus(
  db: Db,
  agent_id: bigint,
  { agent_status_id, now }: { agent_status_id: bigint; now: Date },
): Promise<void> {
  const text = `WITH a AS (UPDATE agents SET agent_status_id = $4::bigint, status_changed_at = $3::timestamptz, updated_at = $3::timestamptz, user_updated_at = $3::timestamptz
    WHERE company_id = $1 AND id = $2::bigint AND agent_status_id <> $4::bigint RETURNING company_id, id, user_id, agent_status_id)
  ${TIMESTAMPS} ${ROWS} FROM a ${STATUS}`;
  await db.query({ text, values: [db.company_id, agent_id, now.toISOString(), agent_status_id] });
}
