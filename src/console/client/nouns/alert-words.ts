/** The kinds of alert rules, as sentences. */
export const ALERT_KINDS: Readonly<Record<string, string>> = {
  cap_used: 'A cap is nearly used up',
  connect_rate_low: 'Too few calls are connected',
  no_calls: 'No calls come in',
  balance_low: 'The balance of a buyer is low',
  carrier_errors: 'Calls and texts fail at the carrier',
  webhook_paused: 'A webhook was paused by the service',
};

/** The fields that a kind needs or takes, besides its name and whom it mails. */
const KIND_FIELDS: Readonly<Record<string, readonly string[]>> = {
  cap_used: ['percent', 'buyer_id', 'buyer_group_id', 'traffic_source_id'],
  connect_rate_low: [
    'percent',
    'minutes',
    'min_calls',
    'buyer_id',
    'traffic_source_id',
    'offer_id',
  ],
  no_calls: ['minutes', 'buyer_id', 'traffic_source_id', 'offer_id'],
  balance_low: ['amount', 'buyer_id'],
  carrier_errors: ['count', 'minutes'],
  webhook_paused: [],
};

/** True if rules of the chosen kind have the field. */
export const isFieldOfAlert = (
  name: string,
  { kind }: Readonly<Record<string, unknown>>,
): boolean => KIND_FIELDS[String(kind)]?.includes(name) === true;
