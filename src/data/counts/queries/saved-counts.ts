import { SERVER_RUN } from '../../postgres/server-run';
import { sql, statement } from '../../sql';

/** A restored copy of a database has its own transactions, unknown to the snapshot. */
const CLUSTER = sql`(SELECT system_identifier::text FROM pg_control_system())`;

export const LOAD_COUNT = statement(
  'db.load_count',
  sql`
    UPDATE saved_counts
    SET used_at = now()
    WHERE company_id = {company_id} AND key = {key} AND cluster = ${CLUSTER}
    RETURNING counted::text AS counted, ${SERVER_RUN} AS run
  `,
  { prepared: true, nullable: [] },
).returning<{ counted: string; run: string }>();

/**
 * Saves only in the run of the server that counted: a reader of the row then also sees all
 * transactions that the snapshot of the count has seen, because they came before it. So the row
 * also holds in later runs.
 */
export const SAVE_COUNT = statement(
  'db.save_count',
  sql`
    INSERT INTO saved_counts (company_id, key, cluster, counted, used_at)
    SELECT {company_id}, {key}, ${CLUSTER}, {counted}, now()
    WHERE ${SERVER_RUN} = {run}
    ON CONFLICT (company_id, key) DO UPDATE SET
      cluster = excluded.cluster,
      counted = excluded.counted,
      used_at = excluded.used_at
  `,
  { prepared: true },
);

/**
 * A portion, for all companies. Counts of another cluster would hold again if the database returned
 * to it, but miss the changes made in between.
 */
export const DELETE_UNUSED_COUNTS = statement(
  'db.delete_unused_counts',
  sql`
    WITH unused AS (
      SELECT company_id, key
      FROM saved_counts
      WHERE used_at < now() - interval '30 days' OR cluster <> ${CLUSTER}
      LIMIT {max}::int
      FOR UPDATE SKIP LOCKED
    ),
    deleted AS (
      DELETE FROM saved_counts c
      USING unused u
      WHERE c.company_id = u.company_id AND c.key = u.key
      RETURNING c.company_id
    )
    SELECT count(*)::int AS deleted FROM deleted
  `,
  { prepared: false },
);
