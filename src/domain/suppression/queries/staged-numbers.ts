import { sql, statement } from '../../../data/sql';

// A batch of an import: its numbers are copied to a temporary table, then merged into the list in
// one statement.

const STAGED_NUMBERS = sql`
  CREATE TEMP TABLE IF NOT EXISTS staged_numbers (number bigint NOT NULL) ON COMMIT DELETE ROWS`;

/**
 * Creates the temporary table, inside a transaction. The planner has no statistics of it: probing
 * the primary key for each number is the only plan that is as fast for a list of ten numbers as for
 * one of ten million, so the others are turned off.
 */
export const STAGE = sql`
  ${STAGED_NUMBERS};
  SET LOCAL enable_seqscan = off;
  SET LOCAL enable_bitmapscan = off`;

export const COPY_STAGED_NUMBERS = sql`COPY staged_numbers FROM STDIN (FORMAT binary)`;

/** Creates the temporary table of rejected rows: in a cell their table is a view, without COPY. */
export const STAGE_ROWS = sql`
  CREATE TEMP TABLE IF NOT EXISTS staged_rows (
    company_id bigint NOT NULL,
    buyer_suppression_file_id bigint NOT NULL,
    line bigint NOT NULL,
    caller_id text NOT NULL,
    reason text NOT NULL
  ) ON COMMIT DELETE ROWS`;

export const COPY_STAGED_ROWS = sql`COPY staged_rows FROM STDIN`;

export const INSERT_REJECTED_ROWS = statement(
  'suppression.insert_rejected_rows',
  sql`
    INSERT INTO rejected_rows (company_id, buyer_suppression_file_id, line, caller_id, reason)
    SELECT {company_id}::bigint, r.buyer_suppression_file_id, r.line, r.caller_id, r.reason
    FROM staged_rows r`,
  { prepared: false, needs: STAGE_ROWS },
);

/**
 * Fails with a unique violation when another transaction adds one of the numbers at the same time.
 * ON CONFLICT would not, but takes a quarter longer: see BLOCK_STAGED_WHEN_CONTENDED.
 */
export const BLOCK_STAGED = statement(
  'suppression.block_staged',
  sql`
    INSERT INTO buyer_suppression_numbers (company_id, buyer_suppression_id, number)
    SELECT {company_id}::bigint, {list}::bigint, staged.number
    FROM staged_numbers staged
    WHERE staged.number NOT IN (
      SELECT n.number
      FROM buyer_suppression_numbers n
      WHERE n.company_id = {company_id}
        AND n.buyer_suppression_id = {list}
        AND n.number = ANY (ARRAY(SELECT number FROM staged_numbers))
    )`,
  { prepared: false, needs: STAGED_NUMBERS },
);

export const BLOCK_STAGED_WHEN_CONTENDED = statement(
  'suppression.block_staged_when_contended',
  sql`
    INSERT INTO buyer_suppression_numbers (company_id, buyer_suppression_id, number)
    SELECT {company_id}::bigint, {list}::bigint, staged.number
    FROM staged_numbers staged
    ON CONFLICT DO NOTHING`,
  { prepared: false, needs: STAGED_NUMBERS },
);

export const UNBLOCK_STAGED = statement(
  'suppression.unblock_staged',
  sql`
    DELETE FROM buyer_suppression_numbers n
    WHERE n.company_id = {company_id}
      AND n.buyer_suppression_id = {list}
      AND n.number = ANY (ARRAY(SELECT number FROM staged_numbers))`,
  { prepared: false, needs: STAGED_NUMBERS },
);
