import { notVisible } from './access-scope';
import { resolveReferences, resolveUserBuyerIds, type Reference, type Table } from './records';
import type { Db } from './tenant';

/** Tables that attach buyers to something, by the column of that something. */
const OWNERS = {
  buyer_group_members: 'buyer_group_id',
  buyer_suppression_buyers: 'buyer_suppression_id',
  offer_buyers: 'offer_id',
  agent_buyers: 'agent_id',
} as const;
type AttachmentTable = keyof typeof OWNERS;

/** What a request says about the buyers of a record. */
export interface BuyerChanges {
  buyer_ids?: Reference[] | null;
  add_buyer_ids?: Reference[] | null;
  remove_buyer_ids?: Reference[] | null;
  add_user_buyer_ids?: string[] | null;
  remove_user_buyer_ids?: string[] | null;
}

/**
 * Replaces, then adds, then removes. The owner's row must be locked, so that parallel changes follow one another and none is lost; the buyers
 * are locked before any attachment is touched, as in the deletion of a buyer.
 */
export async function changeBuyers(
  db: Db,
  table: AttachmentTable,
  owner: bigint,
  fields: BuyerChanges,
): Promise<void> {
  const resolve = (name: 'buyer_ids' | 'add_buyer_ids' | 'remove_buyer_ids') =>
    resolveReferences(db, 'buyers', fields[name] ?? [], { field: name });
  const byUser = (name: 'add_user_buyer_ids' | 'remove_user_buyer_ids') =>
    resolveUserBuyerIds(db, fields[name] ?? [], name);
  const members = fields.buyer_ids === undefined ? undefined : await resolve('buyer_ids');
  const added = [...(await resolve('add_buyer_ids')), ...(await byUser('add_user_buyer_ids'))];
  const removed = [
    ...(await resolve('remove_buyer_ids')),
    ...(await byUser('remove_user_buyer_ids')),
  ];
  const column = OWNERS[table];
  if (members)
    await detach(db, table, `${column} = $2 AND buyer_id <> ALL($3::bigint[])`, [
      owner,
      [...members, ...(await hidden(db, table, [column, owner, 'buyer_id']))],
    ]);
  await attach(db, table, { [column]: [owner], buyer_id: [...(members ?? []), ...added] });
  if (removed.length > 0)
    await detach(db, table, `${column} = $2 AND buyer_id = ANY($3::bigint[])`, [owner, removed]);
}

/** Tables that attach records of one kind to records of another. */
type PairTable =
  | AttachmentTable
  | 'offer_buyer_groups'
  | 'buyer_suppression_offers'
  | 'buyer_suppression_schedules'
  | 'access_control_list_users'
  | 'access_control_list_buyers'
  | 'access_control_list_buyer_groups'
  | 'access_control_list_offers'
  | 'agent_call_centers'
  | 'agent_message_buyers'
  | 'agent_message_buyer_groups'
  | 'agent_message_call_centers';

/** Attaches exactly `others` to a record. One of the two sides must be locked: the side that comes first in the order of locks (CONTRIBUTING). */
export async function replaceAttached(
  db: Db,
  table: PairTable,
  record: Record<string, bigint>,
  others: Record<string, readonly bigint[]>,
): Promise<void> {
  const [[column, id]] = Object.entries(record) as [[string, bigint]];
  const [[other, ids]] = Object.entries(others) as [[string, readonly bigint[]]];
  await detach(db, table, `${column} = $2 AND ${other} <> ALL($3::bigint[])`, [
    id,
    [...ids, ...(await hidden(db, table, [column, id, other]))],
  ]);
  await attach(db, table, { [column]: [id], [other]: ids });
}

/** What is attached that a limited caller does not see, and so does not replace. */
async function hidden(
  db: Db,
  table: PairTable,
  [column, id, other]: [column: string, id: bigint, other: string],
): Promise<bigint[]> {
  if (!db.accessScope) return [];
  const rows = await db.query<{ id: string }>({
    text: `SELECT ${other}::text AS id FROM ${table} WHERE company_id = $1 AND ${column} = $2`,
    values: [db.company_id, id],
  });
  const ids = rows.map((row) => row.id);
  return (await notVisible(db, other.replace(/_id$/, 's') as Table, ids)).map((each) =>
    BigInt(each),
  );
}

/** The suppression lists that a request names, locked; undefined when it says nothing of them. */
export async function suppressionsOf(
  db: Db,
  { buyer_suppression_ids: named }: { buyer_suppression_ids?: Reference[] | null },
): Promise<bigint[] | undefined> {
  return named === undefined
    ? undefined
    : resolveReferences(db, 'buyer_suppressions', named ?? [], { field: 'buyer_suppression_ids' });
}

/** Takes a buyer out of all its groups and offers and off all its lists. */
export async function detachBuyer(db: Db, buyer_id: bigint): Promise<void> {
  for (const table of Object.keys(OWNERS) as AttachmentTable[])
    await detach(db, table, 'buyer_id = $2 AND $3::bigint[] IS NOT NULL', [buyer_id, []]);
}

/** Every pair of the two lists of ids. */
async function attach(
  db: Db,
  table: PairTable,
  columns: Record<string, readonly bigint[]>,
): Promise<void> {
  const [[first, a], [second, b]] = Object.entries(columns) as [
    [string, readonly bigint[]],
    [string, readonly bigint[]],
  ];
  if (a.length === 0 || b.length === 0) return;
  await db.query({
    text: `INSERT INTO ${table} (company_id, ${first}, ${second}) SELECT $1, a, b FROM unnest($2::bigint[]) a, unnest($3::bigint[]) b ON CONFLICT DO NOTHING`,
    values: [db.company_id, a, b],
  });
}

async function detach(
  db: Db,
  table: PairTable,
  condition: string,
  values: [id: bigint, others: readonly bigint[]],
): Promise<void> {
  await db.query({
    text: `DELETE FROM ${table} WHERE company_id = $1 AND ${condition}`,
    values: [db.company_id, ...values],
  });
}
