/**
 * A record as a request names it: by its id or uuid, as a number or as text, or by the customer's
 * own identifier, which counts if the others match no record.
 */
export type Reference = string | number;

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const ID = /^[1-9]\d{0,14}$/;

export interface RecordKey {
  key: 'id' | 'uuid';
  value: string;
  /** The condition for the record, where $1 is the company and $2 the value. */
  sql: string;
}

/** Reads the key in a reference; undefined if it can match no record. */
export function identify(reference: Reference): RecordKey | undefined {
  const text = String(reference);
  if (ID.test(text)) return { key: 'id', value: text, sql: 'company_id = $1 AND id = $2::bigint' };
  if (!UUID.test(text)) return undefined;
  return { key: 'uuid', value: text.toLowerCase(), sql: 'company_id = $1 AND uuid = $2::uuid' };
}

/** The condition of Prisma for the record with a key. */
export const toWhere = ({ key, value }: RecordKey): { id: bigint } | { uuid: string } =>
  key === 'id' ? { id: BigInt(value) } : { uuid: value };

/** The unique condition of Prisma for a record of a company. */
export const toKey = ({ company_id }: { company_id: bigint }, id: bigint) => ({
  company_id_id: { company_id, id },
});

export type Table =
  | 'access_control_lists'
  | 'access_tokens'
  | 'account_entries'
  | 'agent_messages'
  | 'agent_status_timestamps'
  | 'agent_statuses'
  | 'agents'
  | 'alert_rules'
  | 'alerts'
  | 'buyer_fleets'
  | 'buyer_groups'
  | 'buyer_suppression_files'
  | 'buyer_suppressions'
  | 'buyers'
  | 'call_attempts'
  | 'call_centers'
  | 'call_events'
  | 'calls'
  | 'change_logs'
  | 'contacts'
  | 'conversions'
  | 'dispositions'
  | 'emails'
  | 'inbound_webhooks'
  | 'lead_logs'
  | 'leads'
  | 'numbers'
  | 'offers'
  | 'outgoing_webhooks'
  | 'schedule_actions'
  | 'schedules'
  | 'statements'
  | 'switches'
  | 'text_messages'
  | 'traffic_source_tokens'
  | 'traffic_sources'
  | 'trunks'
  | 'users'
  | 'value_lists'
  | 'webhook_logs'
  | 'webhook_manual_fires';

/** The column with the customer's own identifier, for tables that have one. */
export const OWN_KEYS: Partial<Record<Table, string>> = {
  buyer_fleets: 'user_fleet_id',
  buyers: 'user_buyer_id',
  call_centers: 'user_call_center_id',
  offers: 'user_offer_id',
  schedules: 'user_schedule_id',
  traffic_sources: 'user_traffic_source_id',
  trunks: 'name',
};

/**
 * True for a field that names records to remove. An absent record counts as removed, so such a
 * field may name records that do not exist or that the caller cannot see.
 */
export const isRemoval = (field: string): boolean => field.startsWith('remove_');

/**
 * Returns the digits of a telephone number that names a record of numbers; undefined for an id. A
 * plus sign that was decoded twice has become a space.
 */
export function parseTelephone(text: string): string | undefined {
  const [, long, short] = /^[+ ]?(\d{11,15})$|^[+ ](\d{7,10})$/.exec(text) ?? [];
  return long ?? short;
}
