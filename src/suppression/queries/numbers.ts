import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { from as copyFrom } from 'pg-copy-streams';
import type { PoolClient } from 'pg';
import { template } from '../../db/statement';
import type { Db } from '../../db/tenant';

/** A suppression list of a company, in statements of its own. */
export interface ListKey {
  company_id: bigint;
  id: bigint;
}

export type Verb = 'block' | 'unblock';

/** SQL of how many percent of its rows are done, of the row of a suppression file called `file`. */
export const importPercent = (file: string): string =>
  `coalesce(CASE WHEN ${file}.status = 'succeeded' THEN 100 ELSE round(100.0 * (${file}.import_count + ${file}.rejected_count) / nullif(${file}.total_count, 0), 1) END, 0)`;

const BY_ARRAY: Record<Verb, string> = {
  block: `INSERT INTO buyer_suppression_numbers (company_id, buyer_suppression_id, number)
    SELECT $1, $2, n FROM unnest($3::bigint[]) n ORDER BY n ON CONFLICT DO NOTHING RETURNING 1`,
  unblock: `DELETE FROM buyer_suppression_numbers WHERE company_id = $1 AND buyer_suppression_id = $2 AND number = ANY($3::bigint[]) RETURNING 1`,
};

/** Waits for whoever deletes the list, and then finds it deleted. */
const MOVE_BLOCKED =
  'UPDATE buyer_suppressions SET blocked = blocked + $1::bigint WHERE company_id = $2 AND id = $3 AND deleted_at IS NULL RETURNING id';

/** A DELETE takes its rows in whatever order its plan finds them; locked before in theirs, no two of these wait for each other. */
const LOCK_IN_ORDER = `SELECT FROM buyer_suppression_numbers WHERE company_id = $1 AND buyer_suppression_id = $2 AND number = ANY($3::bigint[]) ORDER BY number FOR UPDATE`;

const signed = (verb: Verb, n: number) => (verb === 'block' ? n : -n);

/**
 * Puts numbers on a list or takes them off, and moves the list's exact count with them. Answers how many changed; undefined when the list is
 * gone, and then the transaction must not be committed. `numbers` must ascend, so that two of these do not wait for each other.
 */
export async function changeNumbers(
  db: Db,
  list: bigint,
  verb: Verb,
  numbers: readonly number[],
): Promise<number | undefined> {
  const values = [db.company_id, list, numbers];
  if (verb === 'unblock') await db.query({ text: LOCK_IN_ORDER, values });
  const text = `WITH changed AS (${BY_ARRAY[verb]}) SELECT count(*) AS n FROM changed`;
  const [changed] = await db.query<{ n: bigint | string }>({ text, values });
  const n = Number(changed!.n);
  const living = await db.query({
    text: MOVE_BLOCKED,
    values: [signed(verb, n), db.company_id, list],
  });
  return living.length === 0 ? undefined : n;
}

/** The staged numbers have no statistics: of all plans only the one that probes the primary key for each of them is as fast for a list of ten as for ten million. */
const STAGING = `CREATE TEMP TABLE IF NOT EXISTS staged_numbers (number bigint NOT NULL) ON COMMIT DELETE ROWS;
  SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off`;
const INSERT =
  'INSERT INTO buyer_suppression_numbers (company_id, buyer_suppression_id, number) SELECT $1::bigint, $2::bigint, s.number FROM staged_numbers s';
const STAGED = `n.company_id = $1 AND n.buyer_suppression_id = $2 AND n.number = ANY(ARRAY(SELECT number FROM staged_numbers))`;

/**
 * ON CONFLICT writes more than a plain insert and takes a quarter longer: it is left to the case that another adds the same number at the same moment,
 * which a plain insert answers with UNIQUE_VIOLATION.
 */
const MERGE = {
  block: `${INSERT} WHERE s.number NOT IN (SELECT n.number FROM buyer_suppression_numbers n WHERE ${STAGED})`,
  block_beside_others: `${INSERT} ON CONFLICT DO NOTHING`,
  unblock: `DELETE FROM buyer_suppression_numbers n WHERE ${STAGED}`,
} as const;

export const UNIQUE_VIOLATION = '23505';

/**
 * The same for a whole batch, packed for COPY, on a connection inside a transaction: staged, then merged in one statement. Answers how many changed,
 * of which the caller must tell `moveBlocked` before it commits.
 */
export async function mergeNumbers(
  client: PoolClient,
  list: ListKey,
  how: keyof typeof MERGE,
  packed: Uint8Array,
): Promise<number> {
  await client.query(STAGING);
  await pipeline(
    Readable.from([packed], { objectMode: false }),
    client.query(copyFrom('COPY staged_numbers FROM STDIN (FORMAT binary)')),
  );
  const { rowCount } = await client.query(MERGE[how], [list.company_id, list.id]);
  return rowCount ?? 0;
}

/** Keeps rejected rows, packed for COPY: company_id, file, line, caller_id, reason. */
export async function copyRejectedRows(client: PoolClient, packed: Uint8Array): Promise<void> {
  const copy =
    'COPY rejected_rows (company_id, buyer_suppression_file_id, line, caller_id, reason) FROM STDIN';
  await pipeline(Readable.from([packed], { objectMode: false }), client.query(copyFrom(copy)));
}

/** Moves the list's count; false when the list is gone. */
export async function moveBlocked(
  client: PoolClient,
  list: ListKey,
  verb: Verb,
  n: number,
): Promise<boolean> {
  const { rowCount } = await client.query(MOVE_BLOCKED, [
    signed(verb, n),
    list.company_id,
    list.id,
  ]);
  return rowCount === 1;
}

/** A buyer that may not get the call, and a list that says so. */
export interface Suppressed {
  buyer_id: number;
  buyer_suppression_id: number;
}

/**
 * The lists that hold the number are found first, one probe of the primary key for each living list of the company: a buyer's attachments are many,
 * the lists that hold one caller are few.
 */
const suppressed = template(
  `WITH holding AS MATERIALIZED (
    SELECT l.id FROM buyer_suppressions l WHERE l.company_id = {company_id} AND l.deleted_at IS NULL AND l.blocked > 0
      AND EXISTS (SELECT FROM buyer_suppression_numbers n WHERE n.company_id = {company_id} AND n.buyer_suppression_id = l.id AND n.number = {number}::bigint))
  SELECT a.buyer_id::float8, a.buyer_suppression_id::float8 FROM holding h
    JOIN buyer_suppression_buyers a ON a.company_id = {company_id} AND a.buyer_suppression_id = h.id AND a.buyer_id = ANY({buyer_ids}::bigint[])
  ORDER BY a.buyer_id, a.buyer_suppression_id`,
  { prepared: true },
);

/** Which of the buyers must not get a call from this number, and by which of their lists. `number` is E.164 without the plus. */
export function suppressedBuyers(
  db: Db,
  number: number,
  buyer_ids: readonly (bigint | number)[],
): Promise<Suppressed[]> {
  return db.query<Suppressed>(suppressed({ company_id: db.company_id, number, buyer_ids }));
}
