import { sql } from '../../../data/sql';

// Parts of statements that write calls: their entries in the ledger.

export const REVENUE_ENTRY = sql`
      INSERT INTO account_entries (company_id, created_at, buyer_id, kind, amount, call_id, note)
      SELECT
        {company_id}, {now}::timestamptz, {buyer_id}::bigint, 'adjustment', -{amount}::numeric,
        call.id, {note}
      FROM call
      WHERE {buyer_id}::bigint IS NOT NULL AND {amount}::numeric <> 0`;

/** A change of the payout to the source of a call; the first one is its payout. */
export const PAYOUT_ENTRY = sql`
      INSERT INTO account_entries (
        company_id, created_at, traffic_source_id, kind, amount, call_id, note
      )
      SELECT
        {company_id}, {now}::timestamptz, call.traffic_source_id,
        CASE WHEN (was.call).traffic_source_converted THEN 'adjustment' ELSE 'payout' END,
        {amount}::numeric, call.id, {note}
      FROM call, was
      WHERE call.traffic_source_id IS NOT NULL AND {amount}::numeric <> 0`;

/** Refunds buyers the charges for a call; `returned` has their conversions. */
export const RETURN_ENTRIES = sql`
      INSERT INTO account_entries (company_id, created_at, buyer_id, kind, amount, call_id, note)
      SELECT
        {company_id}, {now}::timestamptz, e.buyer_id, 'return', -sum(e.amount),
        {call_id}::bigint, {reason}
      FROM returned r
      JOIN account_entries e
        ON e.company_id = {company_id} AND e.call_id = {call_id}::bigint
        AND e.buyer_id = r.buyer_id
      GROUP BY e.buyer_id
      HAVING sum(e.amount) <> 0`;

/** Takes back the payout of a call from its source. */
export const RETURNED_PAYOUT_ENTRY = sql`
      INSERT INTO account_entries (
        company_id, created_at, traffic_source_id, kind, amount, call_id, note
      )
      SELECT
        {company_id}, {now}::timestamptz, e.traffic_source_id, 'return', -sum(e.amount),
        {call_id}::bigint, {reason}
      FROM account_entries e
      WHERE e.company_id = {company_id}
        AND e.call_id = {call_id}::bigint
        AND e.traffic_source_id IS NOT NULL
      GROUP BY e.traffic_source_id
      HAVING sum(e.amount) <> 0`;

/**
 * The refund for a call to the buyer of the row `l` of call_limits; rows `counted` name the buyers
 * whose conversions are returned.
 */
export const RETURN_CREDIT = sql`
        coalesce(
          (
            SELECT -sum(e.amount)
            FROM account_entries e
            WHERE l.balance IS NOT NULL
              AND e.company_id = {company_id}
              AND e.call_id = {call_id}::bigint
              AND e.buyer_id = l.buyer_id
              AND EXISTS (
                SELECT
                FROM counted x
                WHERE x.buyer_id = l.buyer_id AND x.conversions > 0
              )
          ),
          0
        )`;
