import { sql, statement, TIMESTAMP_FORMAT } from '../../../data/sql';
import type { Schemas } from '../../../platform/contract/contract';

/** Words that the contract has lists of. */
type Words = Pick<Schemas['SwitchCommand'], 'command' | 'status'>;

/** Gives the switch of a call a command (prisma/sql/switches/add_switch_command.sql). */
export const ADD_COMMAND = statement(
  'switches.add_command',
  sql`
    SELECT r.switch_id::text AS switch_id, r.command_id::text AS command_id, r.is_pushed
    FROM add_switch_command(
      {company_id}::bigint, {call_id}::bigint, {now}::timestamptz, {command}::json, {channel}
    ) r`,
  { prepared: true, nullable: ['switch_id', 'command_id', 'is_pushed'] },
);

/** A call that has ended is not placed any more. */
const IS_DUE = sql`(
        m.expires_at > {now}::timestamptz
        AND NOT (m.command = 'originate' AND c.ended_at IS NOT NULL)
      )`;

const COMMAND = sql`
    SELECT
      m.command_id::float8 AS id, m.command,
      CASE
        WHEN m.result IS NOT NULL THEN m.result
        WHEN NOT ${IS_DUE} THEN 'expired'
        ELSE 'open'
      END AS status,
      to_char(m.created_at, ${TIMESTAMP_FORMAT}) AS created_at,
      to_char(m.expires_at, ${TIMESTAMP_FORMAT}) AS expires_at,
      m.call_id::float8 AS call_id, c.uuid::text AS call_uuid, c.carrier_call_id AS call_sid,
      m.attempt::text AS attempt, m.leg_sid, m.digits, m.number, m.caller_id, m.timeout_seconds,
      m.detect_machine, m.key_press_id::float8 AS key_press_id, m.reason
    FROM switch_commands m
    JOIN calls c ON c.company_id = m.company_id AND c.id = m.call_id
    WHERE m.company_id = {company_id} AND m.switch_id = {switch_id}::bigint`;

/** Commands of a switch after a number, that have neither a result nor expired. */
export const LIST_OPEN_COMMANDS = statement(
  'switches.list_open_commands',
  sql`${COMMAND}
      AND m.command_id > {after}::bigint
      AND m.result IS NULL AND ${IS_DUE}
    ORDER BY m.command_id
    LIMIT {limit}::int`,
  { prepared: true },
).returning<Words>();

export const READ_COMMAND = statement(
  'switches.read_command',
  sql`${COMMAND}
      AND m.command_id = {command_id}::bigint`,
  { prepared: true },
).returning<Words>();

/** Saves the result of a command (prisma/sql/switches/save_command_result.sql). */
export const SAVE_RESULT = statement(
  'switches.save_result',
  sql`
    SELECT save_command_result(
      {company_id}::bigint, {switch_id}::bigint, {command_id}::bigint, {now}::timestamptz, {result},
      {reason}
    )::text AS saved`,
  { prepared: true, records: true },
);

/** Has switches place calls (prisma/sql/switches/originate_calls.sql). */
export const ORIGINATE_CALLS = statement(
  'switches.originate_calls',
  sql`
    SELECT r.switch_id::text AS switch_id, r.command_id::text AS command_id
    FROM originate_calls(
      {company_id}::bigint, {placed}::json, {now}::timestamptz, {valid_seconds}::int, {channel}
    ) r`,
  { prepared: true },
);

/** Requests that have new commands, or that must end because their switch is deleted. */
export const FIND_SWITCHES_TO_WAKE = statement(
  'switches.find_to_wake',
  sql`
    SELECT followed.n::int, s.id IS NULL AS must_end
    FROM unnest({company_ids}::bigint[], {switch_ids}::bigint[], {positions}::bigint[])
      WITH ORDINALITY AS followed(company_id, switch_id, position, n)
    LEFT JOIN switches s ON s.company_id = followed.company_id
      AND s.id = followed.switch_id AND s.deleted_at IS NULL
    WHERE s.id IS NULL OR s.last_command_id > followed.position`,
  { prepared: false },
);

/** Address and keys for a push; none if the command has a result, or its switch no URL. */
export const READ_PUSH = statement(
  'switches.read_push',
  sql`
    SELECT s.webhook_url AS url, s.uuid::text AS uuid, s.secret_version, s.secret_rotated_at
    FROM switch_commands m
    JOIN switches s ON s.company_id = m.company_id AND s.id = m.switch_id
    JOIN calls c ON c.company_id = m.company_id AND c.id = m.call_id
    WHERE m.company_id = {company_id} AND m.switch_id = {switch_id}::bigint
      AND m.command_id = {command_id}::bigint
      AND m.result IS NULL AND ${IS_DUE}
      AND s.webhook_url IS NOT NULL AND s.deleted_at IS NULL`,
  { prepared: false },
).returning<{ url: string }>();
