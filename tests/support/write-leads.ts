// SQL with which tests write leads past the API, as statements of the service do: with what they
// record (src/domain/leads/queries/record-leads.ts).

/** Changes the leads l of a condition; `reason` is why they leave their schedule by that. */
export const leadUpdate = (set: string, where: string, reason = 'NULL'): string => `
  WITH held AS MATERIALIZED (
    SELECT l AS was, l.company_id AS held_company, l.id AS held_id
    FROM leads l
    WHERE ${where}
    ORDER BY l.id
    FOR NO KEY UPDATE
  ),
  changed AS (
    UPDATE leads l
    SET ${set}
    FROM held
    WHERE l.company_id = held_company AND l.id = held_id
    RETURNING held.was, l AS is_now
  )
  SELECT count(record_lead_change(x.was, leave_schedule(x.is_now, ${reason}))) AS n
  FROM changed x`;

/** Returns the id of each lead that is inserted. */
export const leadInsert = (insert: string): string => `
  WITH made AS (${insert} RETURNING leads AS is_now),
  counted AS MATERIALIZED (
    SELECT count_next_actions(company_id, '{}', array_agg(hour)) AS is_counted
    FROM made
    CROSS JOIN LATERAL (
      SELECT
        (made.is_now).company_id,
        next_action_hour(
          (made.is_now).due_at, (made.is_now).callback_at, (made.is_now).next_action_at
        ) AS hour
    ) x
    GROUP BY company_id
  )
  SELECT (x.is_now).id, record_new_lead(x.is_now) AS recorded
  FROM made x
  JOIN counted ON is_counted
  ORDER BY (x.is_now).id`;
