import { RECORD_ROUTING_CHANGE } from './queries/routing-changes';
import type { TransactionStatements } from './db';

// Every process caches the configuration of routing and only asks if it has changed:
// routing_changes counts the transactions that have changed it. Every writer of the tables below
// therefore counts its change in the same transaction, at its end or in the same statement.

/** Tables with the configuration of routing: every write of them counts. */
export const ROUTING_TABLES: ReadonlySet<string> = new Set([
  'buyers',
  'buyer_groups',
  'buyer_group_members',
  'buyer_business_hours',
  'buyer_conversions',
  'offer_buyers',
  'offer_buyer_groups',
  // Pre-dial webhooks can exclude a buyer.
  'outgoing_webhooks',
]);

/**
 * Buyers display a number as their caller id: only these columns matter to them. The others change
 * whenever a lead is given a number.
 */
export const ROUTING_COLUMNS_OF_NUMBERS: ReadonlySet<string> = new Set([
  'phone_number',
  'deleted_at',
]);

/** Counts the open transaction, once, as one that changes the routing of its company. */
export function recordRoutingChange(tx: Pick<TransactionStatements, 'beforeCommit'>): void {
  tx.beforeCommit('routing_changes', async (db) => {
    await db.sql(RECORD_ROUTING_CHANGE, {});
  });
}

/** Counts a write of any table, if it belongs to ROUTING_TABLES. */
export function recordTableWrite(
  tx: Pick<TransactionStatements, 'beforeCommit'>,
  table: string,
): void {
  if (ROUTING_TABLES.has(table)) recordRoutingChange(tx);
}
