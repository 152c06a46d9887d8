import { sql, statement } from '../../sql';

/**
 * Size of a block: one request for each that waits, otherwise a tenth of the remaining ones, at
 * most 500. Below 200 it is one at a time, so that a small limit is exact.
 */
const BLOCK_SIZE = sql`
  least(
    greatest(remaining, 0),
    greatest({waiting}::int, CASE WHEN remaining < 200 THEN 1 ELSE least(500, remaining / 10) END)
  )`;

/**
 * Takes a block of a subject's requests from the current window. A statement that waited for
 * another may have computed an older window than the other wrote: the newer window counts.
 */
export const TAKE_BLOCK = statement(
  'db.take_rate_limit_block',
  sql`
    INSERT INTO rate_limits AS known (company_id, subject, window_starts_at, used, granted)
    SELECT
      {company_id}::bigint,
      {subject}::text,
      to_timestamp(
        floor(extract(epoch FROM clock_timestamp()) / {window_seconds}::int) * {window_seconds}::int
      ),
      block.size,
      block.size
    FROM (SELECT {limit}::int AS remaining) whole_limit,
      LATERAL (SELECT ${BLOCK_SIZE} AS size) block
    ON CONFLICT (company_id, subject) DO UPDATE SET (window_starts_at, used, granted) = (
      SELECT
        greatest(known.window_starts_at, excluded.window_starts_at),
        spent.used + block.size,
        block.size
      FROM (
        SELECT
          CASE
            WHEN known.window_starts_at >= excluded.window_starts_at THEN known.used ELSE 0
          END AS used
      ) spent,
        LATERAL (SELECT {limit}::int - spent.used AS remaining) rest_of_limit,
        LATERAL (SELECT ${BLOCK_SIZE} AS size) block
    )
    RETURNING
      granted,
      used,
      window_starts_at::text AS window,
      extract(epoch FROM window_starts_at - clock_timestamp())::float8 + {window_seconds}::int
        AS seconds_left
  `,
  { prepared: true },
);

/** Returns unused requests of windows that are still current. */
export const RETURN_UNUSED = statement(
  'db.return_unused_rate_limit',
  sql`
    UPDATE rate_limits known
    SET used = known.used - returned.n
    FROM (
      SELECT r.company_id, r.subject, unused.n
      FROM unnest(
        {company_ids}::bigint[], {subjects}::text[], {windows}::timestamptz[], {counts}::int[]
      ) AS unused (company_id, subject, window_starts_at, n)
      JOIN rate_limits r USING (company_id, subject, window_starts_at)
      ORDER BY r.company_id, r.subject
      FOR UPDATE OF r
    ) returned
    WHERE known.company_id = returned.company_id AND known.subject = returned.subject
  `,
  { prepared: false },
);
