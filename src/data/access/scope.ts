import { GRANT } from './queries/grants';
import {
  BUYERS,
  CONDITIONS,
  GROUPS,
  OFFERS,
  PAID_FOR,
  REPORTABLE,
  SCHEDULES,
  SOURCES,
  TEAMS,
  WHOLE_CONDITIONS,
} from './conditions';
import { identify, type Reference, type Table } from '../references';
import { template } from '../statement';
import type { AccessScope, Db } from '../db';

export type Viewer = Pick<Db, 'company_id' | 'query' | 'accessScope'>;

export interface Team {
  id: string;
  permissions: ReadonlySet<string>;
}

/**
 * The records that a caller may use a permission on: those of the teams that give the permission.
 * Undefined for a caller who sees all records of the company.
 */
export function buildAccessScope(
  { teams, user_id }: { teams?: readonly Team[] | undefined; user_id: bigint | null },
  permission: string | undefined,
): AccessScope | undefined {
  if (!teams) return undefined;
  const allowing = teams.filter(
    ({ permissions }) => permission === undefined || permissions.has(permission),
  );
  return {
    scope_user: String(user_id),
    scope_teams: `{${allowing.map(({ id }) => id).join(',')}}`,
    all_teams: teams.map(({ id }) => id),
  };
}

/** The condition for a row t of a table to be visible; undefined where all rows are. */
export const buildVisibleCondition = (table: Table): string | undefined => CONDITIONS[table];

/**
 * The condition that a filter or a search needs in addition to `buildVisibleCondition`, because it
 * could reveal hidden records; undefined if it needs none.
 */
export function buildFilterCondition(filter: string, table: Table): string | undefined {
  if (SINGLE_IDS[filter]) return `t.${filter} = ${SINGLE_IDS[filter]}`;
  // The text of a call, and of its attempts, contains the buyer that it was connected to.
  return filter === 'fulltext' && (table === 'calls' || table === 'call_attempts')
    ? `(t.buyer_id IS NULL OR t.buyer_id = ${BUYERS})`
    : undefined;
}

/** True for a condition that few of many rows meet, which the planner cannot know. */
export const isRare = (condition: string): boolean => condition === PAID_FOR;

export const buildBuyerCondition = (sql: string): string => `${sql} = ${BUYERS}`;

export const buildGroupCondition = (sql: string): string => `${sql} = ${GROUPS}`;

const buildVisibleList = (list: string, condition: string) =>
  `ARRAY(
    SELECT x FROM unnest(${list}) WITH ORDINALITY AS u(x, n) WHERE x = ${condition} ORDER BY n)`;

const LISTS_OF_IDS: Record<string, string> = {
  buyer_ids: BUYERS,
  buyer_group_ids: GROUPS,
  offer_ids: OFFERS,
  team_ids: TEAMS,
  traffic_source_ids: SOURCES,
  blocked_offer_ids: OFFERS,
  blocked_schedule_ids: SCHEDULES,
  opt_out_offer_ids: OFFERS,
  opt_out_schedule_ids: SCHEDULES,
};
const SINGLE_IDS: Record<string, string> = {
  buyer_id: BUYERS,
  buyer_group_id: GROUPS,
  quality_assurance_id: BUYERS,
};
/** Columns that describe the buyer of the column buyer_id. */
const OF_BUYER = new Set(['buyer', 'user_buyer_id', 'connected_to', 'connect_to', 'buyer_name']);

/**
 * SQL of a column that refers to buyers, groups, offers or teams, without the hidden ones.
 * `findColumn` returns the SQL of another column of the resource, if it has that column: a
 * description of a buyer is masked together with the buyer's id.
 */
export function maskColumn(
  name: string,
  sql: string,
  findColumn: (name: string) => string | undefined,
): string {
  // The change log keeps its changes as far as the user who made them may read them.
  if (name === 'changes') return `coalesce(t.changes_shown, ${sql})`;
  if (name === 'maxed_out_by') {
    // A traffic source must not show the limits of revenue either.
    const hidden = findColumn('allowed_buyer_ids') ? '%revenue%' : 'earned%';
    return `CASE WHEN ${sql} NOT LIKE '${hidden}' THEN ${sql} END`;
  }
  if (LISTS_OF_IDS[name]) return buildVisibleList(sql, LISTS_OF_IDS[name]);
  if (SINGLE_IDS[name]) return `CASE WHEN ${sql} = ${SINGLE_IDS[name]} THEN ${sql} END`;
  const [members, groups, buyer] = ['buyer_ids', 'buyer_group_ids', 'buyer_id'].map(findColumn);
  if (name === 'quality_assurance_user_id')
    return `CASE WHEN t.quality_assurance_id = ${BUYERS} THEN ${sql} END`;
  if (name === 'buyers_count' && members)
    return `cardinality(${buildVisibleList(members, BUYERS)})`;
  if (name === 'buyer_group_names' && groups) {
    return `ARRAY(
      SELECT g.name FROM buyer_groups g
      WHERE g.company_id = {company_id} AND g.id = ANY(${buildVisibleList(groups, GROUPS)})
      ORDER BY g.id)`;
  }
  return OF_BUYER.has(name) && buyer ? `CASE WHEN ${buyer} = ${BUYERS} THEN ${sql} END` : sql;
}

export async function selectVisibleBuyers(
  db: Viewer,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const missing = new Set((await findHidden(db, 'buyers', ids)).map(Number));
  return new Set(ids.filter((id) => !missing.has(id)));
}

/** Returns the ids of all buyers that a limited caller sees. */
export async function listVisibleBuyers(db: Viewer): Promise<number[]> {
  const rows = await db.query<{ id: string }>(
    findBuyers({ ...db.accessScope, company_id: db.company_id }),
  );
  return rows.map(({ id }) => Number(id));
}

const findBuyers = template(
  `SELECT t.id FROM buyers t
  WHERE t.company_id = {company_id} AND t.deleted_at IS NULL AND ${CONDITIONS.buyers}`,
  { prepared: false },
);

/** Tables without deleted_at. */
const APPEND_ONLY = new Set<Table>(['account_entries', 'alerts', 'conversions', 'statements']);

/**
 * Returns the references that match no living record visible to the caller. They name records by id
 * or uuid, or by another `key`. Empty for callers who may see everything.
 */
export async function findHidden(
  db: Viewer,
  table: Table,
  references: readonly Reference[],
  key = 'id',
): Promise<Reference[]> {
  return findUnmatched(db, { table, key, condition: buildVisibleCondition(table) }, references);
}

/**
 * Returns the references that match no living record that is entirely the caller's: a visible
 * record that others use too belongs to the caller only in part.
 */
export async function findNotWhole(
  db: Viewer,
  table: Table,
  references: readonly Reference[],
  key = 'id',
): Promise<Reference[]> {
  return findUnmatched(db, { table, key, condition: WHOLE_CONDITIONS[table] }, references);
}

/** True for calls on which a buyer of the limited caller may report. */
export const mayReportOn = async (
  db: Viewer,
  { table, references }: { table: Table; references: readonly Reference[] },
): Promise<boolean> =>
  db.accessScope !== undefined &&
  table === 'calls' &&
  (await findUnmatched(db, { table, key: 'id', condition: REPORTABLE }, references)).length === 0;

/** Returns the references that match no living record which meets the condition. */
export async function findUnmatched(
  db: Viewer,
  { table, key, condition }: { table: Table; key: string; condition: string | undefined },
  references: readonly Reference[],
): Promise<Reference[]> {
  if (!db.accessScope || !condition || references.length === 0) return [];
  const identifiers = references.map((reference) =>
    key === 'id' ? identify(reference) : { key, value: String(reference) },
  );
  const listValues = (kind: string) =>
    identifiers.flatMap((name) => (name?.key === kind ? [name.value] : []));
  const find = template(
    key === 'id' ? byIdSql(table, condition) : byKeySql(table, condition, key),
    { prepared: false },
  );
  const rows = await db.query<{ id: string; uuid: string | null }>(
    find({
      ...db.accessScope,
      company_id: db.company_id,
      keys: listValues(key),
      uuids: listValues('uuid'),
    }),
  );
  const matchedKeys = new Set(rows.flatMap(({ id, uuid }) => [id, uuid]));
  return references.filter((_, n) => !identifiers[n] || !matchedKeys.has(identifiers[n].value));
}

const livingSql = (table: Table) => (APPEND_ONLY.has(table) ? 'true' : 't.deleted_at IS NULL');

const byIdSql = (table: Table, condition: string) => `
  SELECT t.id::text AS id, t.uuid::text AS uuid
  FROM ${table} t
  WHERE t.company_id = {company_id}
    AND (t.id = ANY({keys}::bigint[]) OR t.uuid = ANY({uuids}::uuid[]))
    AND ${livingSql(table)}
    AND ${condition}`;

const byKeySql = (table: Table, condition: string, key: string) => `
  SELECT t.${key}::text AS id, NULL AS uuid
  FROM ${table} t
  WHERE t.company_id = {company_id}
    AND t.${key}::text = ANY({keys}::text[])
    AND ${livingSql(table)}
    AND ${condition}`;

/** Grants a record that a limited caller has created to the teams that allowed it. */
export async function grantToTeams(
  db: Db,
  kind: 'buyer' | 'buyer_group' | 'offer' | 'traffic_source',
  id: bigint,
): Promise<void> {
  if (!db.accessScope) return;
  const { scope_teams } = db.accessScope;
  await db.sql(GRANT[kind], { scope_teams, id });
}
