import { sql, statement } from '../../../data/sql';

/**
 * Values of a call for the fields of events, and details that earlier events of one kind have
 * reported.
 */
export const READ_REPORTED = statement(
  'calls.read_reported',
  sql`
    SELECT
      c.answered_duration AS duration, c.recording_url, c.hangup_cause,
      c.agent_id::text AS agent_id, c.answered_by,
      coalesce(
        (
          SELECT json_agg(e.details)
          FROM call_events e
          WHERE e.company_id = c.company_id
            AND e.call_id = c.id
            AND e.event = {event}
            AND e.details IS NOT NULL
        ),
        '[]'
      ) AS details
    FROM calls c
    WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint`,
  {
    prepared: true,
    nullable: ['duration', 'recording_url', 'hangup_cause', 'agent_id', 'answered_by'],
  },
);
