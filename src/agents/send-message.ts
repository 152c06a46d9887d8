import { replaceAttached } from '../db/attachments';
import { AGENT_CHANNEL } from './streams';
import { resolveReferences, type Reference } from '../db/records';
import type { Db } from '../db/tenant';

/** Whom a request says a message is for. */
export interface TargetFields {
  agent_status_id?: Reference | null;
  buyer_ids?: Reference[] | null;
  buyer_group_ids?: Reference[] | null;
  call_center_ids?: Reference[] | null;
}

/** The same as ids; undefined where the request says nothing. */
export interface Targets {
  agent_status_id?: bigint | null;
  buyer_ids?: bigint[];
  buyer_group_ids?: bigint[];
  call_center_ids?: bigint[];
}

const LISTS = {
  call_center_ids: {
    table: 'call_centers',
    pairs: 'agent_message_call_centers',
    column: 'call_center_id',
  },
  buyer_group_ids: {
    table: 'buyer_groups',
    pairs: 'agent_message_buyer_groups',
    column: 'buyer_group_id',
  },
  buyer_ids: { table: 'buyers', pairs: 'agent_message_buyers', column: 'buyer_id' },
} as const;
type ListName = keyof typeof LISTS;
const LIST_NAMES = Object.keys(LISTS) as ListName[];

/** Finds what the fields name, and locks it against deletion; refuses with 422 what names nothing. */
export async function targetsOf(db: Db, fields: TargetFields): Promise<Targets> {
  const targets: Targets = {};
  const { agent_status_id: status } = fields;
  if (status !== undefined) {
    targets.agent_status_id =
      status === null
        ? null
        : (
            await resolveReferences(db, 'agent_statuses', [status], { field: 'agent_status_id' })
          )[0]!;
  }
  for (const field of LIST_NAMES) {
    if (fields[field] !== undefined)
      targets[field] = await resolveReferences(db, LISTS[field].table, fields[field] ?? [], {
        field,
      });
  }
  return targets;
}

/** Writes whom the message, whose row is locked, is for, and answers whether that is anybody else than before. */
export async function writeTargets(db: Db, id: bigint, targets: Targets): Promise<boolean> {
  let changed = false;
  if (targets.agent_status_id !== undefined) {
    const same = { id, agent_status_id: targets.agent_status_id };
    changed = (await db.prisma.agentMessage.count({ where: same })) === 0;
    if (changed)
      await db.prisma.agentMessage.updateMany({
        where: { id },
        data: { agent_status_id: targets.agent_status_id },
      });
  }
  for (const name of LIST_NAMES) {
    const wanted = targets[name];
    if (!wanted) continue;
    const { pairs, column } = LISTS[name];
    const text = `SELECT ${column}::text AS id FROM ${pairs} WHERE company_id = $1 AND agent_message_id = $2::bigint ORDER BY ${column}`;
    const before = await db.query<{ id: string }>({ text, values: [db.company_id, id] });
    if (before.map((row) => row.id).join() === wanted.join()) continue;
    await replaceAttached(db, pairs, { agent_message_id: id }, { [column]: wanted });
    changed = true;
  }
  return changed;
}

const OF_MESSAGE = 'x.company_id = $1 AND x.agent_message_id = $2::bigint';
/** Agents of what the message names; null when it names nothing, which is everybody. */
const NAMED = `SELECT CASE WHEN ${LIST_NAMES.map((name) => `EXISTS (SELECT FROM ${LISTS[name].pairs} x WHERE ${OF_MESSAGE})`).join(' OR ')} THEN ARRAY(
    SELECT c.agent_id::text FROM agent_message_call_centers x JOIN agent_call_centers c ON c.company_id = x.company_id AND c.call_center_id = x.call_center_id WHERE ${OF_MESSAGE}
    UNION SELECT b.agent_id::text FROM agent_message_buyers x JOIN agent_buyers b ON b.company_id = x.company_id AND b.buyer_id = x.buyer_id WHERE ${OF_MESSAGE}
    UNION SELECT b.agent_id::text FROM agent_message_buyer_groups x JOIN buyer_group_members m ON m.company_id = x.company_id AND m.buyer_group_id = x.buyer_group_id
      JOIN agent_buyers b ON b.company_id = m.company_id AND b.buyer_id = m.buyer_id WHERE ${OF_MESSAGE})
  END AS named`;

const REACHED = `a.deleted_at IS NULL AND (m.agent_status_id IS NULL OR a.agent_status_id = m.agent_status_id) AND ($4::bigint[] IS NULL OR a.id = ANY($4::bigint[]))`;
/** Agents are locked in the order of their ids, whoever sends: two that send at once do not wait for each other. */
const LOCK = `SELECT a.id::text AS id, ${REACHED} AS reached FROM agents a, agent_messages m
  WHERE m.company_id = $1 AND m.id = $2::bigint AND a.company_id = $1 AND (a.id = ANY($3::bigint[]) OR ${REACHED}) ORDER BY a.id FOR NO KEY UPDATE OF a`;

/** Works out anew whom the message reaches, and tells them; those it reached before and no longer does are told that it is withdrawn. `again`: those it reached before too. */
export async function reach(db: Db, id: bigint, { again }: { again: boolean }): Promise<void> {
  const before = await recipients(db, id);
  const [row] = await db.query<{ named: string[] | null }>({
    text: NAMED,
    values: [db.company_id, id],
  });
  const locked = await db.query<{ id: string; reached: boolean }>({
    text: LOCK,
    values: [db.company_id, id, before, row!.named],
  });
  const now = locked.filter(({ reached }) => reached).map((agent) => agent.id);
  const [had, has] = [new Set(before), new Set(now)];
  const lost = before.filter((agent) => !has.has(agent));
  const gained = now.filter((agent) => !had.has(agent));
  const values = (agents: string[]) => [db.company_id, id, agents];
  await db.query({
    text: `DELETE FROM agent_message_recipients x WHERE ${OF_MESSAGE} AND agent_id = ANY($3::bigint[])`,
    values: values(lost),
  });
  await db.query({
    text: 'INSERT INTO agent_message_recipients (company_id, agent_message_id, agent_id) SELECT $1, $2::bigint, unnest($3::bigint[])',
    values: values(gained),
  });
  await db.prisma.agentMessage.updateMany({
    where: { id },
    data: { agent_widget_count: now.length },
  });
  await tell(db, id, again ? [...lost, ...now] : [...lost, ...gained]);
}

/** Tells those whom the message has reached that it is no longer as it was. */
export async function tellRecipients(db: Db, id: bigint): Promise<void> {
  const agents = await recipients(db, id);
  const text =
    'SELECT id::text FROM agents WHERE company_id = $1 AND id = ANY($2::bigint[]) ORDER BY id FOR NO KEY UPDATE';
  await db.query({ text, values: [db.company_id, agents] });
  await tell(db, id, agents);
}

async function recipients(db: Db, id: bigint): Promise<string[]> {
  const text = `SELECT agent_id::text AS id FROM agent_message_recipients x WHERE ${OF_MESSAGE} ORDER BY agent_id`;
  return (await db.query<{ id: string }>({ text, values: [db.company_id, id] })).map(
    (row) => row.id,
  );
}

/** Gives each agent, whose row is locked, its next event. */
async function tell(db: Db, id: bigint, agents: readonly string[]): Promise<void> {
  if (agents.length === 0) return;
  await db.query({
    text: `WITH a AS (UPDATE agents SET last_event_id = last_event_id + 1 WHERE company_id = $1 AND id = ANY($3::bigint[]) RETURNING id, last_event_id)
      INSERT INTO agent_events (company_id, agent_id, event_id, agent_message_id) SELECT $1, id, last_event_id, $2::bigint FROM a`,
    values: [db.company_id, id, agents],
  });
  await db.query({
    text: 'SELECT pg_notify($1, $2::text || id)::text FROM unnest($3::text[]) id',
    values: [AGENT_CHANNEL, `${db.company_id}/`, agents],
  });
}
