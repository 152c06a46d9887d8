import { sql, statement } from '../../../data/sql';

// The numbers of a list: E.164 without the plus sign, as bigint.

/** Ascending, so that two such statements do not wait for each other. */
export const BLOCK_NUMBERS = statement(
  'suppression.block_numbers',
  sql`
    WITH added AS (
      INSERT INTO buyer_suppression_numbers (company_id, buyer_suppression_id, number)
      SELECT {company_id}, {list}, given.number
      FROM unnest({numbers}::bigint[]) AS given (number)
      ORDER BY given.number
      ON CONFLICT DO NOTHING
      RETURNING 1
    )
    SELECT count(*) AS changed FROM added`,
  { prepared: false },
);

/**
 * Locks the numbers that UNBLOCK_NUMBERS deletes, ascending: a DELETE locks its rows in the order
 * of its plan, and two of them could wait for each other.
 */
export const LOCK_NUMBERS = statement(
  'suppression.lock_numbers',
  sql`
    SELECT
    FROM buyer_suppression_numbers
    WHERE company_id = {company_id}
      AND buyer_suppression_id = {list}
      AND number = ANY({numbers}::bigint[])
    ORDER BY number
    FOR UPDATE`,
  { prepared: false },
);

export const UNBLOCK_NUMBERS = statement(
  'suppression.unblock_numbers',
  sql`
    WITH removed AS (
      DELETE FROM buyer_suppression_numbers
      WHERE company_id = {company_id}
        AND buyer_suppression_id = {list}
        AND number = ANY({numbers}::bigint[])
      RETURNING 1
    )
    SELECT count(*) AS changed FROM removed`,
  { prepared: false },
);

/** Returns no row when the list has been deleted, after waiting for a deletion in progress. */
export const MOVE_BLOCKED_COUNT = statement(
  'suppression.move_blocked_count',
  sql`
    UPDATE buyer_suppressions
    SET blocked = blocked + {by}::bigint
    WHERE company_id = {company_id} AND id = {list} AND deleted_at IS NULL
    RETURNING id`,
  { prepared: false },
);

/**
 * Erases the next numbers after `after`. Starting at the first number would skip all deleted rows.
 */
export const ERASE_NUMBERS = statement(
  'suppression.erase_numbers',
  sql`
    WITH batch AS (
      SELECT number
      FROM buyer_suppression_numbers
      WHERE company_id = {company_id}
        AND buyer_suppression_id = {list}
        AND number > {after}
      ORDER BY number
      LIMIT 20000
    ),
    erased AS (
      DELETE FROM buyer_suppression_numbers
      WHERE company_id = {company_id}
        AND buyer_suppression_id = {list}
        AND number IN (SELECT number FROM batch)
    )
    SELECT max(number) AS last FROM batch`,
  { prepared: false, nullable: ['last'] },
);

/**
 * The lists that contain the number are found first, with one probe of the primary key for each
 * list of the company: a buyer can have many lists, but few lists contain the number of one caller.
 */
export const FIND_SUPPRESSED_BUYERS = statement(
  'suppression.find_suppressed_buyers',
  sql`
    WITH holding AS MATERIALIZED (
      SELECT l.id
      FROM buyer_suppressions l
      WHERE l.company_id = {company_id}
        AND l.deleted_at IS NULL
        AND l.blocked > 0
        AND EXISTS (
          SELECT
          FROM buyer_suppression_numbers n
          WHERE n.company_id = {company_id}
            AND n.buyer_suppression_id = l.id
            AND n.number = {number}::bigint
        )
    )
    SELECT a.buyer_id::float8, a.buyer_suppression_id::float8
    FROM holding
    JOIN buyer_suppression_buyers a
      ON a.company_id = {company_id}
      AND a.buyer_suppression_id = holding.id
      AND a.buyer_id = ANY({buyer_ids}::bigint[])
    ORDER BY a.buyer_id, a.buyer_suppression_id`,
  { prepared: true },
);
