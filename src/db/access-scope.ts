import { identify, type Reference, type Table } from './references';
import type { Db } from './tenant';

// What a limited caller sees: the records that the caller's teams are granted, and what belongs to those. Every condition is SQL over a row, with the
// parameters {company_id}, {scope_teams} and {scope_user}, which no filter is called.

/** To which records a caller is limited. */
export interface AccessScope {
  scope_user: string;
  /** The caller's teams that allow what is being done, as an array of PostgreSQL. */
  scope_teams: string;
}

const TEAMS = 'ANY({scope_teams}::bigint[])';
const granted = (kind: 'buyer' | 'buyer_group' | 'offer', teams = '') =>
  `SELECT g.${kind}_id FROM access_control_list_${kind}s g ${teams && 'JOIN access_control_lists a ON a.company_id = g.company_id AND a.id = g.access_control_list_id'}
  WHERE g.company_id = {company_id} AND g.access_control_list_id = ${TEAMS} ${teams}`;
const inGroups = (teams = '') =>
  `SELECT m.buyer_id FROM access_control_list_buyer_groups g ${teams && 'JOIN access_control_lists a ON a.company_id = g.company_id AND a.id = g.access_control_list_id'}
  JOIN buyer_group_members m ON m.company_id = g.company_id AND m.buyer_group_id = g.buyer_group_id WHERE g.company_id = {company_id} AND g.access_control_list_id = ${TEAMS} ${teams}`;
const anyOf = (...selects: string[]) => `ANY(ARRAY(${selects.join(' UNION ')}))`;

const BUYERS = anyOf(granted('buyer'), inGroups());
const GROUPS = anyOf(granted('buyer_group'));
const OFFERS = anyOf(granted('offer'));

/** Teams without buyers and groups see all that comes to their offers. */
const OF_OFFERS_ALONE = ['buyer', 'buyer_group']
  .map(
    (kind) =>
      `AND NOT EXISTS (SELECT FROM access_control_list_${kind}s n WHERE n.company_id = g.company_id AND n.access_control_list_id = g.access_control_list_id)`,
  )
  .join(' ');
/** Buyers of teams that see what these paid for at their own offers alone, with those offers. */
const PAIRS = `SELECT FROM access_control_list_offers o JOIN access_control_lists a ON a.company_id = o.company_id AND a.id = o.access_control_list_id
  WHERE o.company_id = t.company_id AND o.offer_id = t.offer_id AND o.access_control_list_id = ${TEAMS} AND NOT a.all_offers AND (
    EXISTS (SELECT FROM access_control_list_buyers g WHERE g.company_id = o.company_id AND g.access_control_list_id = o.access_control_list_id AND g.buyer_id = t.buyer_id)
    OR EXISTS (SELECT FROM access_control_list_buyer_groups g JOIN buyer_group_members m ON m.company_id = g.company_id AND m.buyer_group_id = g.buyer_group_id
      WHERE g.company_id = o.company_id AND g.access_control_list_id = o.access_control_list_id AND m.buyer_id = t.buyer_id))`;
const limitedTo = (all_offers: boolean) => {
  const teams = `AND ${all_offers ? '' : 'NOT '}a.all_offers`;
  return anyOf(granted('buyer', teams), inGroups(teams));
};

/** A call or a lead: one that a granted buyer paid for, or that came to a granted offer. */
const PAID_FOR = `(t.buyer_converted AND t.buyer_id = ${limitedTo(true)} OR t.buyer_converted AND t.buyer_id = ${limitedTo(false)} AND EXISTS (${PAIRS})
  OR t.offer_id = ${anyOf(granted('offer') + OF_OFFERS_ALONE)})`;

/** What belongs to a record of another table that is seen. */
const through = (table: Table, column: string) =>
  `EXISTS (SELECT FROM (SELECT x.* FROM ${table} x WHERE x.company_id = t.company_id AND x.id = t.${column}) t WHERE ${CONDITIONS[table]})`;
/** What has the number of such a call or lead. */
const ofNumber = (table: 'leads' | 'calls') =>
  `EXISTS (SELECT FROM (SELECT x.* FROM ${table} x WHERE x.company_id = t.company_id AND x.caller_number = t.caller_number AND x.deleted_at IS NULL) t WHERE ${PAID_FOR})`;
const attached = (table: string, own: string, column: string, seen: string) =>
  `EXISTS (SELECT FROM ${table} x WHERE x.company_id = t.company_id AND x.${own} = t.id AND x.${column} = ${seen})`;

/** Which records of a table are seen. Those of tables that are not here are the company's, and seen by all who have the permission. */
const CONDITIONS: Partial<Record<Table, string>> = {
  buyers: `t.id = ${BUYERS}`,
  buyer_groups: `t.id = ${GROUPS}`,
  offers: `t.id = ${OFFERS}`,
  calls: PAID_FOR,
  leads: PAID_FOR,
  call_attempts: `t.buyer_id = ${BUYERS}`,
  call_events: `(t.buyer_id IS NULL OR t.buyer_id = ${BUYERS})`,
  numbers: `(t.offer_id = ${OFFERS} OR t.buyer_id = ${BUYERS})`,
  schedules: `t.offer_id = ${OFFERS}`,
  inbound_webhooks: `t.offer_id = ${OFFERS}`,
  buyer_fleets: `EXISTS (SELECT FROM buyers x WHERE x.company_id = t.company_id AND x.buyer_fleet_id = t.id AND x.id = ${BUYERS})`,
  buyer_suppressions: `(${attached('buyer_suppression_buyers', 'buyer_suppression_id', 'buyer_id', BUYERS)} OR ${attached('buyer_suppression_offers', 'buyer_suppression_id', 'offer_id', OFFERS)})`,
  conversions: `t.buyer_id = ${BUYERS}`,
  outgoing_webhooks: `(t.owner_type = 'Buyer' AND t.owner_id = ${BUYERS} OR t.owner_type = 'BuyerGroup' AND t.owner_id = ${GROUPS} OR t.owner_type = 'Offer' AND t.owner_id = ${OFFERS})`,
  users: `EXISTS (SELECT FROM access_control_list_users x WHERE x.company_id = t.company_id AND x.user_id = t.id AND x.access_control_list_id = ${TEAMS})`,
  access_control_lists: `t.id = ${TEAMS}`,
  agent_messages: `(t.user_id = {scope_user}::bigint OR EXISTS (SELECT FROM agent_message_recipients x JOIN agents g ON g.company_id = x.company_id AND g.id = x.agent_id
    WHERE x.company_id = t.company_id AND x.agent_message_id = t.id AND g.user_id = {scope_user}::bigint AND g.deleted_at IS NULL))`,
  agents: `(t.user_id = {scope_user}::bigint OR EXISTS (SELECT FROM access_control_list_users x WHERE x.company_id = t.company_id AND x.user_id = t.user_id AND x.access_control_list_id = ${TEAMS})
    OR EXISTS (SELECT FROM agent_buyers x WHERE x.company_id = t.company_id AND x.agent_id = t.id AND x.buyer_id = ${BUYERS}))`,
  access_tokens: 't.user_id = {scope_user}::bigint',
  change_logs: 't.user_id = {scope_user}::bigint',
};
Object.assign(CONDITIONS, {
  schedule_actions: through('schedules', 'schedule_id'),
  buyer_suppression_files: through('buyer_suppressions', 'buyer_suppression_id'),
  lead_logs: through('leads', 'lead_id'),
  text_messages: through('leads', 'lead_id'),
  emails: through('leads', 'lead_id'),
  agent_status_timestamps: through('agents', 'agent_id'),
  contacts: `(${ofNumber('leads')} OR ${ofNumber('calls')})`,
  webhook_logs: through('outgoing_webhooks', 'outgoing_webhook_id'),
  webhook_manual_fires: through('outgoing_webhooks', 'outgoing_webhook_id'),
} satisfies Partial<Record<Table, string>>);

/** The condition for a row t of a table to be seen by a limited caller; undefined where all are. */
export const visible = (table: Table): string | undefined => CONDITIONS[table];

/** What a filter, or a search, must not tell of beyond what is seen: by its name, the condition that goes with it. */
export function alsoVisible(filter: string, table: Table): string | undefined {
  if (SINGLE[filter]) return `t.${filter} = ${SINGLE[filter]}`;
  // A call is found by where it was connected to.
  return filter === 'fulltext' && table === 'calls'
    ? `(t.buyer_id IS NULL OR t.buyer_id = ${BUYERS})`
    : undefined;
}

/** Whether a condition leaves few of many rows, which the planner cannot know. */
export const isRare = (condition: string): boolean => condition === PAID_FOR;

/** The condition for a buyer's id to be one that is seen. */
export const visibleBuyer = (sql: string): string => `${sql} = ${BUYERS}`;

const list = (sql: string, condition: string) =>
  `ARRAY(SELECT x FROM unnest(${sql}) WITH ORDINALITY AS u(x, n) WHERE x = ${condition} ORDER BY n)`;
const LISTS: Record<string, string> = {
  buyer_ids: BUYERS,
  buyer_group_ids: GROUPS,
  offer_ids: OFFERS,
  team_ids: TEAMS,
};
const SINGLE: Record<string, string> = { buyer_id: BUYERS, buyer_group_id: GROUPS };
/** What is told of the buyer in buyer_id. */
const OF_BUYER = new Set(['buyer', 'user_buyer_id', 'connected_to', 'connect_to', 'buyer_name']);

/**
 * SQL of a column that refers to buyers, groups, offers or teams, without those that are not seen. `columnOf` is the SQL of another column of
 * the resource, if it has that: what is told of a record is told only beside its id.
 */
export function masked(
  name: string,
  sql: string,
  columnOf: (name: string) => string | undefined,
): string {
  if (LISTS[name]) return list(sql, LISTS[name]);
  if (SINGLE[name]) return `CASE WHEN ${sql} = ${SINGLE[name]} THEN ${sql} END`;
  const [members, groups, buyer] = ['buyer_ids', 'buyer_group_ids', 'buyer_id'].map(columnOf);
  if (name === 'buyers_count' && members) return `cardinality(${list(members, BUYERS)})`;
  if (name === 'buyer_group_names' && groups)
    return `ARRAY(SELECT g.name FROM buyer_groups g WHERE g.company_id = {company_id} AND g.id = ANY(${list(groups, GROUPS)}) ORDER BY g.id)`;
  return OF_BUYER.has(name) && buyer ? `CASE WHEN ${buyer} = ${BUYERS} THEN ${sql} END` : sql;
}

/** Which of these buyers the caller sees. */
export async function visibleBuyers(db: Db, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const missing = new Set((await notVisible(db, 'buyers', ids)).map(Number));
  return new Set(ids.filter((id) => !missing.has(id)));
}

const placed = (sql: string) =>
  sql
    .replaceAll('{company_id}', '$1')
    .replaceAll('{scope_teams}', '$2')
    .replaceAll('{scope_user}', '$3');

/** Tables whose records are never deleted. */
const EVERLASTING = new Set<Table>(['conversions']);

/** Those of the references, by id and uuid or by another key, that name no living record that the caller sees. */
export async function notVisible(
  db: Db,
  table: Table,
  references: readonly Reference[],
  key = 'id',
): Promise<Reference[]> {
  const condition = visible(table);
  if (!db.accessScope || !condition || references.length === 0) return [];
  const named = references.map((reference) =>
    key === 'id' ? identify(reference) : { key, value: String(reference) },
  );
  const valuesOf = (kind: string) =>
    named.flatMap((name) => (name?.key === kind ? [name.value] : []));
  const by =
    key === 'id'
      ? '(t.id = ANY($4::bigint[]) OR t.uuid = ANY($5::uuid[]))'
      : `t.${key}::text = ANY($4::text[]) AND $5::uuid[] IS NOT NULL`;
  const columns =
    key === 'id' ? 't.id::text AS id, t.uuid::text AS uuid' : `t.${key}::text AS id, NULL AS uuid`;
  const rows = await db.query<{ id: string; uuid: string | null }>({
    text: `SELECT ${columns} FROM ${table} t WHERE t.company_id = $1 AND ${by} ${EVERLASTING.has(table) ? '' : 'AND t.deleted_at IS NULL'} AND ${placed(condition)} AND $2::bigint[] IS NOT NULL AND $3::bigint IS NOT NULL`,
    values: [
      db.company_id,
      db.accessScope.scope_teams,
      db.accessScope.scope_user,
      valuesOf(key),
      valuesOf('uuid'),
    ],
  });
  const found = new Set(rows.flatMap(({ id, uuid }) => [id, uuid]));
  return references.filter((_, n) => !named[n] || !found.has(named[n].value));
}

/** Grants what a limited caller has made to the caller's teams that allow to make it. */
export async function grantToTeams(
  db: Db,
  kind: 'buyer' | 'buyer_group' | 'offer',
  id: bigint,
): Promise<void> {
  if (!db.accessScope) return;
  await db.query({
    text: `INSERT INTO access_control_list_${kind}s (company_id, access_control_list_id, ${kind}_id) SELECT $1, team, $3 FROM unnest($2::bigint[]) team`,
    values: [db.company_id, db.accessScope.scope_teams, id],
  });
}
