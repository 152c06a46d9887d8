import { sql, statement } from '../../../data/sql';

/** Enters an amount, and adds it to the balance of a prepaid buyer. */
export const INSERT_ENTRY = statement(
  'accounts.insert_entry',
  sql`
    WITH account AS (
      UPDATE call_limits l
      SET balance = l.balance + {amount}::numeric, changed_by = pg_current_xact_id()
      WHERE l.company_id = {company_id} AND l.buyer_id = {buyer_id}::bigint
      RETURNING l.buyer_id, l.balance, l.credit_limit, l.balance_low_limit
    ),
    warned AS MATERIALIZED (
      SELECT record_low_balance(
          {company_id}::bigint, b.buyer_id, b.balance, b.credit_limit, b.balance_low_limit
        )
      FROM account b
      WHERE b.balance < b.balance_low_limit
        AND b.balance - {amount}::numeric >= b.balance_low_limit
    )
    INSERT INTO account_entries (
      company_id, created_at, buyer_id, traffic_source_id, kind, amount, user_id, note,
      external_record_id
    )
    SELECT
      {company_id}, {now}::timestamptz, {buyer_id}::bigint, {traffic_source_id}::bigint, {kind},
      {amount}::numeric, {user_id}::bigint, {note}, {external_record_id}
    FROM (SELECT count(*) AS n FROM warned) w, (SELECT count(*) AS n FROM account) a
    WHERE w.n >= 0 AND a.n >= 0
    RETURNING id::text`,
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
