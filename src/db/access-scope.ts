import type { Side } from '../contract-document';
import { GRANT } from './queries/grants';
import {
  BUYERS,
  CONDITIONS,
  GROUPS,
  OFFERS,
  PAID_FOR,
  SCHEDULES,
  SOURCES,
  TEAMS,
  WHOLE_CONDITIONS,
} from './access-conditions';
import { SIDES, VISIBLE_SIDES } from './access-sides';
import { identify, type Reference, type Table } from './references';
import { template } from './statement';
import type { Db } from './tenant';

/** The part of the company's records that a limited caller may see, as parameters of conditions. */
export interface AccessScope {
  scope_user: string;
  /** The caller's teams that allow what is being done, as a PostgreSQL array: `{1,2}`. */
  scope_teams: string;
  /** All teams of the caller. */
  all_teams: readonly string[];
}

/** What a check of visibility needs. */
export type Viewer = Pick<Db, 'company_id' | 'query' | 'accessScope'>;

/** The condition for a row t of a table to be visible; undefined where all rows are. */
export const visible = (table: Table): string | undefined => CONDITIONS[table];

/**
 * The condition that a filter or a search needs in addition to `visible`, because it could reveal
 * records that are not: undefined where it needs none.
 */
export function alsoVisible(filter: string, table: Table): string | undefined {
  if (SINGLE_IDS[filter]) return `t.${filter} = ${SINGLE_IDS[filter]}`;
  // The text of a call, and of its attempts, contains the buyer that it was connected to.
  return filter === 'fulltext' && (table === 'calls' || table === 'call_attempts')
    ? `(t.buyer_id IS NULL OR t.buyer_id = ${BUYERS})`
    : undefined;
}

/** Whether a condition leaves few of many rows, which the planner cannot know. */
export const isRare = (condition: string): boolean => condition === PAID_FOR;

/** The condition for the id of a buyer to be visible. */
export const visibleBuyer = (sql: string): string => `${sql} = ${BUYERS}`;

/** The condition for the id of a group of buyers to be visible. */
export const visibleGroup = (sql: string): string => `${sql} = ${GROUPS}`;

/** SQL of the visible ids of a list, in its order. */
const visibleOf = (list: string, condition: string) =>
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
 * SQL of a column that refers to buyers, groups, offers or teams, without those that are not
 * visible. `columnOf` returns the SQL of another column of the resource, if it has that column:
 * what describes a buyer is masked where the buyer's id is.
 */
export function masked(
  name: string,
  sql: string,
  columnOf: (name: string) => string | undefined,
): string {
  // Of the change log: what was changed, as far as the user who changed it may read it.
  if (name === 'changes') return `coalesce(t.changes_shown, ${sql})`;
  if (name === 'maxed_out_by') {
    // Of a traffic source, what buyers pay is hidden too.
    const hidden = columnOf('allowed_buyer_ids') ? '%revenue%' : 'earned%';
    return `CASE WHEN ${sql} NOT LIKE '${hidden}' THEN ${sql} END`;
  }
  if (LISTS_OF_IDS[name]) return visibleOf(sql, LISTS_OF_IDS[name]);
  if (SINGLE_IDS[name]) return `CASE WHEN ${sql} = ${SINGLE_IDS[name]} THEN ${sql} END`;
  const [members, groups, buyer] = ['buyer_ids', 'buyer_group_ids', 'buyer_id'].map(columnOf);
  if (name === 'quality_assurance_user_id')
    return `CASE WHEN t.quality_assurance_id = ${BUYERS} THEN ${sql} END`;
  if (name === 'buyers_count' && members) return `cardinality(${visibleOf(members, BUYERS)})`;
  if (name === 'buyer_group_names' && groups) {
    return `ARRAY(
      SELECT g.name FROM buyer_groups g
      WHERE g.company_id = {company_id} AND g.id = ANY(${visibleOf(groups, GROUPS)})
      ORDER BY g.id)`;
  }
  return OF_BUYER.has(name) && buyer ? `CASE WHEN ${buyer} = ${BUYERS} THEN ${sql} END` : sql;
}

/** The name of a join that knows which sides of the row t a limited caller sees. */
export const SIDES_ALIAS = 'sides';

/** The condition, with that join, for the caller to see a side of the row t. */
export function sideCondition(side: Side): string {
  if (side === 'company') return 'false';
  return side === 'both'
    ? `(${SIDES_ALIAS}.sale AND ${SIDES_ALIAS}.purchase)`
    : `${SIDES_ALIAS}.${side}`;
}

/** SQL of that join. */
export function sidesJoin(table: Table): string {
  const { sale, purchase } = SIDES[table] ?? { sale: 'false', purchase: 'false' };
  return `CROSS JOIN LATERAL (
    SELECT coalesce(${sale}, false) AS sale, coalesce(${purchase}, false) AS purchase
  ) ${SIDES_ALIAS}`;
}

/** Whether a caller sees a side of a visible record. */
export async function seesSideOf(
  db: Viewer,
  { table, key, references }: { table: Table; key: string; references: readonly Reference[] },
  side: 'sale' | 'purchase',
): Promise<boolean> {
  const condition = SIDES[table]?.[side];
  return (await unmatched(db, { table, key, condition }, references)).length === 0;
}

/** Whether no limited caller sees a side of records of a table. */
export const isAlwaysHidden = (table: Table, side: Side): boolean =>
  side === 'company' ||
  (side !== 'purchase' && SIDES[table]?.sale === 'false') ||
  (side !== 'sale' && SIDES[table]?.purchase === 'false');

/** Which sides of a record a caller may see of any record. */
export type VisibleSides = Record<'sale' | 'purchase', boolean>;

/** Returns which sides a caller sees of some record at least. */
export async function visibleSides(db: Viewer): Promise<VisibleSides> {
  if (!db.accessScope) return { sale: true, purchase: true };
  const [found] = await db.query<VisibleSides>(
    findSides({ ...db.accessScope, company_id: db.company_id }),
  );
  return found!;
}

const findSides = template(VISIBLE_SIDES, { prepared: true });

/** Whether a caller who sees these sides of some records sees this one. */
export const seesSide = ({ sale, purchase }: VisibleSides, side: Side): boolean =>
  side !== 'company' && (side === 'purchase' || sale) && (side === 'sale' || purchase);

/** Returns those of the buyers that the caller may see. */
export async function visibleBuyers(
  db: Viewer,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const missing = new Set((await notVisible(db, 'buyers', ids)).map(Number));
  return new Set(ids.filter((id) => !missing.has(id)));
}

/** Returns the ids of all buyers that a limited caller sees. */
export async function allVisibleBuyers(db: Viewer): Promise<number[]> {
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

/** Tables whose records are never deleted. */
const EVERLASTING = new Set<Table>(['account_entries', 'alerts', 'conversions', 'statements']);

/**
 * Returns those of the references that name no living record that the caller may see. They name
 * records by id or uuid, or by another `key`. Returns nothing for callers who may see everything.
 */
export async function notVisible(
  db: Viewer,
  table: Table,
  references: readonly Reference[],
  key = 'id',
): Promise<Reference[]> {
  return unmatched(db, { table, key, condition: visible(table) }, references);
}

/**
 * Returns those of the references that name no living record of which the caller sees the whole: a
 * visible record that others use too is only partly the caller's.
 */
export async function notWhole(
  db: Viewer,
  table: Table,
  references: readonly Reference[],
  key = 'id',
): Promise<Reference[]> {
  return unmatched(db, { table, key, condition: WHOLE_CONDITIONS[table] }, references);
}

async function unmatched(
  db: Viewer,
  { table, key, condition }: { table: Table; key: string; condition: string | undefined },
  references: readonly Reference[],
): Promise<Reference[]> {
  if (!db.accessScope || !condition || references.length === 0) return [];
  const named = references.map((reference) =>
    key === 'id' ? identify(reference) : { key, value: String(reference) },
  );
  const valuesOf = (kind: string) =>
    named.flatMap((name) => (name?.key === kind ? [name.value] : []));
  const find = template(
    key === 'id' ? byIdSql(table, condition) : byKeySql(table, condition, key),
    { prepared: false },
  );
  const rows = await db.query<{ id: string; uuid: string | null }>(
    find({
      ...db.accessScope,
      company_id: db.company_id,
      keys: valuesOf(key),
      uuids: valuesOf('uuid'),
    }),
  );
  const found = new Set(rows.flatMap(({ id, uuid }) => [id, uuid]));
  return references.filter((_, n) => !named[n] || !found.has(named[n].value));
}

const livingSql = (table: Table) => (EVERLASTING.has(table) ? 'true' : 't.deleted_at IS NULL');

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

/**
 * Grants a record that a limited caller has made to the teams that allowed the caller to make it.
 */
export async function grantToTeams(
  db: Db,
  kind: 'buyer' | 'buyer_group' | 'offer' | 'traffic_source',
  id: bigint,
): Promise<void> {
  if (!db.accessScope) return;
  const { scope_teams } = db.accessScope;
  await db.sql(GRANT[kind], { scope_teams, id });
}
