import { sql, statement } from '../../../data/sql';

export const READ_TEXT_MESSAGE = statement(
  'outreach.read_text_message',
  sql`
    SELECT created_at, status, error_code, from_number, to_number, body
    FROM text_messages
    WHERE company_id = {company_id} AND uuid = {uuid}::uuid
  `,
  { prepared: false },
);

export const READ_CALL = statement(
  'outreach.read_call',
  sql`
    SELECT created_at, status, error_code, from_number, to_number, connect_to,
      routed, machine_action, machine_message
    FROM calls
    WHERE company_id = {company_id} AND uuid = {uuid}::uuid
  `,
  { prepared: false },
);

export const READ_EMAIL = statement(
  'outreach.read_email',
  sql`
    SELECT created_at, status, error_code, from_email, to_email, subject, body, html
    FROM emails
    WHERE company_id = {company_id} AND uuid = {uuid}::uuid
  `,
  { prepared: false },
);

export const MESSAGE_IDS_OF_NUMBER = statement(
  'outreach.message_ids_of_number',
  sql`
    SELECT m.carrier_message_id AS carrier_id
    FROM leads l
    JOIN text_messages m ON m.company_id = l.company_id AND m.lead_id = l.id
    WHERE l.company_id = {company_id} AND l.caller_number = {caller_number}
      AND m.carrier_message_id IS NOT NULL AND m.direction = 'outbound'
  `,
  { prepared: false },
).returning<{ carrier_id: string }>();

export const CALL_IDS_OF_NUMBER = statement(
  'outreach.call_ids_of_number',
  sql`
    SELECT c.carrier_call_id AS carrier_id
    FROM calls c
    WHERE c.company_id = {company_id} AND c.caller_number = {caller_number}
      AND c.carrier_call_id IS NOT NULL AND c.direction = 'outbound'
  `,
  { prepared: false },
).returning<{ carrier_id: string }>();
