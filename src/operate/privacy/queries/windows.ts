import { sql, statement } from '../../../data/sql';
import { isSpelled } from './spelled';

// Tables without an id, a window of rows at a time: each statement returns the end of its window.

/** Unreadable rows of uploaded files; `last_file` and `last_line` are the end of the window. */
export const ERASE_REJECTED_ROWS = statement(
  'erasure.erase_rejected_rows',
  sql`
    WITH part AS (
      SELECT r.buyer_suppression_file_id AS file_id, r.line
      FROM rejected_rows r
      WHERE r.company_id = {company_id}
        AND (r.buyer_suppression_file_id, r.line) > ({after_file}::bigint, {after_line}::bigint)
      ORDER BY r.buyer_suppression_file_id, r.line
      LIMIT {limit}::int
    ),
    changed AS (
      UPDATE rejected_rows r
      SET caller_id = ''
      FROM part p
      WHERE r.company_id = {company_id} AND r.buyer_suppression_file_id = p.file_id
        AND r.line = p.line AND ${isSpelled('r.caller_id')}
      RETURNING 1
    )
    SELECT
      p.file_id::text AS last_file,
      p.line::text AS last_line,
      (SELECT count(*)::int FROM changed) AS erased
    FROM part p
    ORDER BY p.file_id DESC, p.line DESC
    LIMIT 1
  `,
  { prepared: false },
).returning<{ last_file: string; last_line: string }>();

/** Values of lists that are the number or an address, within the next window. */
export const FIND_LIST_VALUES = statement(
  'erasure.find_list_values',
  sql`
    WITH part AS (
      SELECT v.value_list_id AS list_id, v.id, v.value
      FROM list_values v
      WHERE v.company_id = {company_id}
        AND (v.value_list_id, v.id) > ({after_list}::bigint, {after_id}::bigint)
      ORDER BY v.value_list_id, v.id
      LIMIT {limit}::int
    )
    SELECT
      p.list_id::text AS last_list,
      p.id::text AS last_id,
      (
        SELECT coalesce(jsonb_agg(jsonb_build_object('list', q.list_id, 'value', q.value)), '[]')
        FROM part q
        WHERE ${isSpelled('q.value')}
      ) AS spelled
    FROM part p
    ORDER BY p.list_id DESC, p.id DESC
    LIMIT 1
  `,
  { prepared: false },
).returning<{ last_list: string; last_id: string }>();

export const LOCK_LIST = statement(
  'erasure.lock_list',
  sql`
    SELECT id FROM value_lists WHERE company_id = {company_id} AND id = {list} FOR NO KEY UPDATE
  `,
  { prepared: false },
);
