/** A record named by the caller: its number or its uuid, as a number or as text. */
export type Reference = string | number;

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const NUMBER = /^[1-9]\d{0,14}$/;

/** What a reference names a record by, and the condition for it: $1 is the company, $2 the value. Undefined when it can name no record. */
export function identify(
  reference: Reference,
): { key: 'id' | 'uuid'; value: string; sql: string } | undefined {
  const text = String(reference);
  if (NUMBER.test(text))
    return { key: 'id', value: text, sql: 'company_id = $1 AND id = $2::bigint' };
  return UUID.test(text)
    ? { key: 'uuid', value: text.toLowerCase(), sql: 'company_id = $1 AND uuid = $2::uuid' }
    : undefined;
}

/** Tables whose records can be named by a reference. */
export type Table =
  | 'buyers'
  | 'buyer_groups'
  | 'buyer_fleets'
  | 'buyer_suppressions'
  | 'buyer_suppression_files'
  | 'access_tokens'
  | 'offers'
  | 'schedules'
  | 'schedule_actions'
  | 'traffic_sources'
  | 'numbers'
  | 'contacts'
  | 'leads'
  | 'lead_logs'
  | 'text_messages'
  | 'emails'
  | 'calls'
  | 'call_events'
  | 'call_attempts'
  | 'inbound_webhooks'
  | 'access_control_lists'
  | 'change_logs'
  | 'users'
  | 'call_centers'
  | 'agent_statuses'
  | 'agents'
  | 'agent_status_timestamps'
  | 'agent_messages'
  | 'outgoing_webhooks'
  | 'webhook_logs'
  | 'webhook_manual_fires'
  | 'conversions';

/** The digits of a telephone number that names a record of numbers; undefined for what is an id. A plus sign that was decoded twice is a space. */
export function telephoneOf(text: string): string | undefined {
  const [, long, short] = /^[+ ]?(\d{11,15})$|^[+ ](\d{7,10})$/.exec(text) ?? [];
  return long ?? short;
}
