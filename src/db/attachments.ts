import { resolveReferences, resolveUserBuyerIds, type Reference } from './records';
import type { Db } from './tenant';

/** Tables that attach buyers to something, by the column of that something. */
const OWNERS = { buyer_group_members: 'buyer_group_id', buyer_suppression_buyers: 'buyer_suppression_id' } as const;
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
export async function changeBuyers(db: Db, table: AttachmentTable, owner: bigint, fields: BuyerChanges): Promise<void> {
  const resolve = (name: 'buyer_ids' | 'add_buyer_ids' | 'remove_buyer_ids') => resolveReferences(db, 'buyers', fields[name] ?? [], { field: name });
  const byUser = (name: 'add_user_buyer_ids' | 'remove_user_buyer_ids') => resolveUserBuyerIds(db, fields[name] ?? [], name);
  const members = fields.buyer_ids === undefined ? undefined : await resolve('buyer_ids');
  const added = [...(await resolve('add_buyer_ids')), ...(await byUser('add_user_buyer_ids'))];
  const removed = [...(await resolve('remove_buyer_ids')), ...(await byUser('remove_user_buyer_ids'))];
  const column = OWNERS[table];
  if (members) await detach(db, table, `${column} = $2 AND buyer_id <> ALL($3::bigint[])`, [owner, members]);
  await attach(db, table, { [column]: [owner], buyer_id: [...(members ?? []), ...added] });
  if (removed.length > 0) await detach(db, table, `${column} = $2 AND buyer_id = ANY($3::bigint[])`, [owner, removed]);
}

/** Makes `lists` the suppression lists of a buyer. They must be locked, and were so before the buyer. */
export async function replaceSuppressions(db: Db, buyer_id: bigint, lists: readonly bigint[]): Promise<void> {
  await detach(db, 'buyer_suppression_buyers', 'buyer_id = $2 AND buyer_suppression_id <> ALL($3::bigint[])', [buyer_id, lists]);
  await attach(db, 'buyer_suppression_buyers', { buyer_suppression_id: lists, buyer_id: [buyer_id] });
}

/** Takes a buyer out of all its groups and off all its lists. */
export async function detachBuyer(db: Db, buyer_id: bigint): Promise<void> {
  for (const table of Object.keys(OWNERS) as AttachmentTable[]) await detach(db, table, 'buyer_id = $2 AND $3::bigint[] IS NOT NULL', [buyer_id, []]);
}

/** Every pair of the two lists of ids. */
async function attach(db: Db, table: AttachmentTable, columns: Record<string, readonly bigint[]>): Promise<void> {
  const [[first, a], [second, b]] = Object.entries(columns) as [[string, readonly bigint[]], [string, readonly bigint[]]];
  if (a.length === 0 || b.length === 0) return;
  await db.query({
    text: `INSERT INTO ${table} (company_id, ${first}, ${second}) SELECT $1, a, b FROM unnest($2::bigint[]) a, unnest($3::bigint[]) b ON CONFLICT DO NOTHING`,
    values: [db.company_id, a, b],
  });
}

async function detach(db: Db, table: AttachmentTable, condition: string, values: [id: bigint, others: readonly bigint[]]): Promise<void> {
  await db.query({ text: `DELETE FROM ${table} WHERE company_id = $1 AND ${condition}`, values: [db.company_id, ...values] });
}
