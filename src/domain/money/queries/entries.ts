import { sql, statement } from '../../../data/sql';

/** Enters an amount, and adds it to the balance of a prepaid buyer. */
export const INSERT_ENTRY = statement(
  'accounts.insert_entry',
  sql`
    SELECT enter_amount(
      {company_id}::bigint, {now}::timestamptz, {buyer_id}::bigint, {traffic_source_id}::bigint,
      {kind}::text, {amount}::numeric, {user_id}::bigint, {note}::text, {external_record_id}::text
    )::text AS id`,
  { prepared: false },
);

/**
 * Locks the account of a buyer. Every entry for the buyer takes this lock, so that the entries can
 * be summed up afterwards.
 */
export const LOCK_ACCOUNT = statement(
  'accounts.lock_account',
  sql`
    SELECT id::text
    FROM call_limits
    WHERE company_id = {company_id} AND buyer_id = {buyer_id}
    FOR NO KEY UPDATE`,
  { prepared: false },
);

/** Terms that are absent from `terms` stay as they are. */
export const CHANGE_TERMS = statement(
  'accounts.change_terms',
  sql`
    UPDATE call_limits l
    SET
      changed_by = pg_current_xact_id(),
      balance = CASE
        WHEN wanted.prepaid IS NULL OR wanted.prepaid = (l.balance IS NOT NULL) THEN l.balance
        WHEN wanted.prepaid THEN (
          SELECT coalesce(sum(e.amount), 0)
          FROM account_entries e
          WHERE e.company_id = {company_id} AND e.buyer_id = {buyer_id}
        )
      END,
      credit_limit = coalesce(wanted.credit_limit, l.credit_limit),
      balance_low_limit = CASE
        WHEN {terms}::jsonb ? 'balance_low_limit' THEN wanted.balance_low_limit
        ELSE l.balance_low_limit
      END
    FROM jsonb_to_record({terms}::jsonb) AS wanted(
      prepaid boolean, credit_limit numeric, balance_low_limit numeric
    )
    WHERE l.company_id = {company_id} AND l.buyer_id = {buyer_id}`,
  { prepared: false },
);
