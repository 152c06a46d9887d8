import { findHidden } from './access/scope';
import { LOCK_BUYERS_BY_USER_ID } from './queries/attachments';
import { resolveReferences, buildReferenceProblem } from './records';
import { isRemoval, type Reference, type Table } from './references';
import { recordTableWrite } from './routing-changes';
import type { Db } from './db';

// Tables of pairs (company, record, other record), such as the buyers of a group or the lists of an
// offer. The owner's row must be locked, so that parallel changes follow one another.

/** Tables that attach buyers to a record, with the column of that record. */
const OWNERS = {
  buyer_group_members: 'buyer_group_id',
  buyer_suppression_buyers: 'buyer_suppression_id',
  offer_buyers: 'offer_id',
  agent_buyers: 'agent_id',
} as const;
type BuyerTable = keyof typeof OWNERS;

export type PairTable =
  | BuyerTable
  | 'offer_buyer_groups'
  | 'buyer_suppression_offers'
  | 'buyer_suppression_schedules'
  | 'access_control_list_users'
  | 'access_control_list_buyers'
  | 'access_control_list_buyer_groups'
  | 'access_control_list_offers'
  | 'access_control_list_traffic_sources'
  | 'agent_call_centers'
  | 'agent_message_buyers'
  | 'agent_message_buyer_groups'
  | 'agent_message_call_centers';

export interface BuyerChanges {
  buyer_ids?: Reference[] | null;
  add_buyer_ids?: Reference[] | null;
  remove_buyer_ids?: Reference[] | null;
  add_user_buyer_ids?: string[] | null;
  remove_user_buyer_ids?: string[] | null;
}

/**
 * Replaces the buyers of a record, then adds, then removes. The owner's row must be locked. The
 * buyers are locked before any pair is touched, like in the deletion of a buyer.
 */
export async function changeBuyers(
  db: Db,
  table: BuyerTable,
  owner: bigint,
  changes: BuyerChanges,
): Promise<void> {
  const byReference = (field: 'buyer_ids' | 'add_buyer_ids' | 'remove_buyer_ids') =>
    resolveReferences(db, 'buyers', changes[field] ?? [], { field, lenient: isRemoval(field) });
  const byUserId = (field: 'add_user_buyer_ids' | 'remove_user_buyer_ids') =>
    resolveUserBuyerIds(db, changes[field] ?? [], field);
  const members = changes.buyer_ids === undefined ? undefined : await byReference('buyer_ids');
  const added = [
    ...(await byReference('add_buyer_ids')),
    ...(await byUserId('add_user_buyer_ids')),
  ];
  const removed = [
    ...(await byReference('remove_buyer_ids')),
    ...(await byUserId('remove_user_buyer_ids')),
  ];
  const column = OWNERS[table];
  const pairs = { table, column, id: owner, attachedColumn: 'buyer_id' };
  if (members) await detachOthers(db, pairs, members);
  await attach(db, pairs, [...(members ?? []), ...added]);
  if (removed.length > 0) {
    recordTableWrite(db, table);
    await db.query({
      text: `DELETE FROM ${table}
        WHERE company_id = $1 AND ${column} = $2 AND buyer_id = ANY($3::bigint[])`,
      values: [db.company_id, owner, removed],
    });
  }
}

/**
 * Attaches exactly `attachedIds` to a record, for example `{ offer_id }` and `{ buyer_group_id: [1,
 * 2] }`. The record or the attached records must be locked, whichever come first in the order of
 * locks.
 */
export async function replaceAttached(
  db: Db,
  table: PairTable,
  record: Record<string, bigint>,
  attachedIds: Record<string, readonly bigint[]>,
): Promise<void> {
  const [[column, id]] = Object.entries(record) as [[string, bigint]];
  const [[attachedColumn, ids]] = Object.entries(attachedIds) as [[string, readonly bigint[]]];
  const pairs = { table, column, id, attachedColumn };
  await detachOthers(db, pairs, ids);
  await attach(db, pairs, ids);
}

/**
 * Locks the suppression lists that a request names and returns their ids; undefined if it names
 * none.
 */
export async function resolveSuppressions(
  db: Db,
  { buyer_suppression_ids: references }: { buyer_suppression_ids?: Reference[] | null },
): Promise<bigint[] | undefined> {
  return references === undefined
    ? undefined
    : resolveReferences(db, 'buyer_suppressions', references ?? [], {
        field: 'buyer_suppression_ids',
      });
}

export async function detachBuyer(db: Db, buyerId: bigint): Promise<void> {
  for (const table of Object.keys(OWNERS)) {
    recordTableWrite(db, table);
    await db.query({
      text: `DELETE FROM ${table} WHERE company_id = $1 AND buyer_id = $2`,
      values: [db.company_id, buyerId],
    });
  }
}

interface Pairs {
  table: PairTable;
  /** The column of the record, and its id. */
  column: string;
  id: bigint;
  /** The column of the attached records. */
  attachedColumn: string;
}

async function attach(
  db: Db,
  { table, column, id, attachedColumn }: Pairs,
  ids: readonly bigint[],
): Promise<void> {
  if (ids.length === 0) return;
  recordTableWrite(db, table);
  await db.query({
    text: `INSERT INTO ${table} (company_id, ${column}, ${attachedColumn})
      SELECT $1, $2, other FROM unnest($3::bigint[]) AS other
      ON CONFLICT DO NOTHING`,
    values: [db.company_id, id, ids],
  });
}

/** Detaches all but `ids`, except records that a limited caller cannot see. */
async function detachOthers(db: Db, pairs: Pairs, ids: readonly bigint[]): Promise<void> {
  const { table, column, id, attachedColumn } = pairs;
  recordTableWrite(db, table);
  await db.query({
    text: `DELETE FROM ${table}
      WHERE company_id = $1 AND ${column} = $2 AND ${attachedColumn} <> ALL($3::bigint[])`,
    values: [db.company_id, id, [...ids, ...(await findHiddenIds(db, pairs))]],
  });
}

async function findHiddenIds(
  db: Db,
  { table, column, id, attachedColumn }: Pairs,
): Promise<bigint[]> {
  if (!db.accessScope) return [];
  const rows = await db.query<{ id: string }>({
    text: `SELECT ${attachedColumn} AS id FROM ${table} WHERE company_id = $1 AND ${column} = $2`,
    values: [db.company_id, id],
  });
  const ids = rows.map((row) => row.id);
  const ofTable = attachedColumn.replace(/_id$/, 's') as Table;
  return (await findHidden(db, ofTable, ids)).map((hiddenId) => BigInt(hiddenId));
}

/**
 * Returns the ids of living buyers by their user_buyer_id. Throws 422 on `field`, naming each that
 * does not exist. Locks like resolveReferences.
 */
async function resolveUserBuyerIds(
  db: Db,
  userBuyerIds: readonly string[],
  field: string,
): Promise<bigint[]> {
  if (userBuyerIds.length === 0) return [];
  const rows = await db.sql(LOCK_BUYERS_BY_USER_ID, { user_buyer_ids: userBuyerIds });
  const existingIds = new Set(rows.map(({ user_buyer_id }) => user_buyer_id));
  const missing = userBuyerIds.filter((id) => !existingIds.has(id));
  if (missing.length > 0 && !isRemoval(field)) throw buildReferenceProblem(field, missing);
  const hiddenBuyers = isRemoval(field)
    ? new Set(await findHidden(db, 'buyers', userBuyerIds, 'user_buyer_id'))
    : new Set();
  return rows.flatMap(({ id, user_buyer_id }) =>
    hiddenBuyers.has(user_buyer_id) ? [] : BigInt(id),
  );
}
