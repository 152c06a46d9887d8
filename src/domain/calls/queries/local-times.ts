import { sql, statement } from '../../../data/sql';

/**
 * Times at which the local months, weeks, days or hours of a report begin. Computing the local time
 * of each call would take longer than the rest of a report, so calls are looked up among these:
 * `labels` has the keys of the calls from the same position in `bounds` on. A key is the local time
 * as seconds, for hours the time itself, or the number of an hour of the day or of a day of the
 * week. Clocks differ from UTC by multiples of 15 minutes, and change only at such; an hour that
 * they cut short begins where they do. The series begins before the first hour does, and has room
 * for calls that begin now.
 */
export const LOCAL_TIMES = statement(
  'calls.local_times',
  sql`
    WITH span AS (
      SELECT
        greatest({created_at_from}::timestamptz, min(created_at)) AS first,
        least(
          {created_at_to}::timestamptz,
          greatest(max(created_at), {now}::timestamptz) + interval '1 hour'
        ) AS last
      FROM calls
      WHERE company_id = {company_id} AND deleted_at IS NULL
      HAVING min(created_at) IS NOT NULL
    ),
    instants AS (
      SELECT u.unit, s.at, s.at AT TIME ZONE {zone}::text AS local
      FROM span,
        unnest({units}::text[]) u (unit),
        generate_series(
          date_bin('15 minutes', span.first, 'epoch') - interval '1 hour',
          span.last,
          interval '15 minutes'
        ) s (at)
    ),
    labeled AS (
      SELECT
        unit, at,
        CASE unit
          WHEN 'hour_of_day' THEN extract(hour FROM local)
          WHEN 'day_of_week' THEN extract(isodow FROM local)
          WHEN 'hour' THEN extract(epoch FROM at - (local - date_trunc('hour', local)))
          ELSE extract(epoch FROM date_trunc(unit, local))
        END::bigint AS label
      FROM instants
    ),
    changes AS (
      SELECT *, label IS DISTINCT FROM lag(label) OVER (PARTITION BY unit ORDER BY at) AS is_new
      FROM labeled
    )
    SELECT
      unit,
      array_agg(at ORDER BY at)::text AS bounds,
      array_agg(
        CASE unit WHEN 'hour' THEN extract(epoch FROM at)::bigint ELSE label END ORDER BY at
      )::text AS labels
    FROM changes
    WHERE is_new
    GROUP BY unit`,
  { prepared: false, search: true },
);
