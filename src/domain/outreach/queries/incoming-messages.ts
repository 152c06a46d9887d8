import { sql, statement } from '../../../data/sql';
import { recordExit } from '../../leads/queries/record-leads';

export const FIND_INCOMING_MESSAGE = statement(
  'outreach.find_incoming_message',
  sql`
    SELECT id
    FROM text_messages
    WHERE company_id = {company_id} AND carrier = {carrier}
      AND carrier_message_id = {carrier_message_id}
  `,
  { prepared: false },
);

/**
 * The lead that a message is about: a live one first, then one that was texted from the number to
 * which the message was sent, then the newest.
 */
export const FIND_LEAD_OF_SENDER = statement(
  'outreach.find_lead_of_sender',
  sql`
    SELECT l.id, l.offer_id, l.schedule_id
    FROM leads l
    LEFT JOIN numbers n ON n.company_id = l.company_id AND n.id = l.sms_number_id
    WHERE l.company_id = {company_id} AND l.caller_number = {from}::bigint
      AND l.deleted_at IS NULL
    ORDER BY l.is_live DESC, n.phone_number IS NOT DISTINCT FROM {to}::bigint DESC, l.id DESC
    LIMIT 1
  `,
  { prepared: false },
).returning<{ id: string }>();

/** A reply may end the schedule of its lead. */
export const RECORD_REPLY = statement(
  'outreach.record_reply',
  sql`
    WITH held AS MATERIALIZED (
      SELECT l AS was, l.id
      FROM leads l
      WHERE l.company_id = {company_id} AND l.id = {lead_id}::bigint AND l.is_live
      FOR NO KEY UPDATE
    ),
    changed AS (
      UPDATE leads l
      SET replied_at = {now}::timestamptz, updated_at = {now}::timestamptz
      FROM held
      WHERE l.company_id = {company_id} AND l.id = held.id
      RETURNING held.was, l AS is_now
    )
    SELECT ${recordExit(sql`'replied'`)} AS recorded
    FROM changed x
  `,
  { prepared: false },
);

/** A text message may start schedules. */
export const RECORD_TEXT_EVENT = statement(
  'outreach.record_text_event',
  sql`SELECT record_schedule_event(
    {company_id}, 'text_received', {lead_id}::bigint, NULL, {text_message_id}::bigint
  ) AS recorded`,
  { prepared: false },
);

export const INSERT_INCOMING_MESSAGE = statement(
  'outreach.insert_incoming_message',
  sql`
    INSERT INTO text_messages (
      company_id, uuid, created_at, updated_at, direction, from_number, to_number, body, status,
      carrier, carrier_message_id, lead_id, offer_id, schedule_id
    )
    VALUES (
      {company_id}::bigint, {uuid}::uuid, {now}::timestamptz, {now}::timestamptz, 'inbound',
      {from}::bigint, {to}::bigint, {body}, 'received', {carrier}, {carrier_message_id},
      {lead_id}::bigint, {offer_id}::bigint, {schedule_id}::bigint
    )
    ON CONFLICT (company_id, carrier, carrier_message_id) DO NOTHING
    RETURNING id
  `,
  { prepared: false },
);
