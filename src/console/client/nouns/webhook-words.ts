/** The events of webhooks, as sentences. */
export const TRIGGER_WORDS: Readonly<Record<string, string>> = {
  new_lead_created: 'A lead was submitted',
  lead_changed: 'A lead has changed',
  lead_opted_out: 'A lead has opted out',
  contact_fields_changed: 'The data or e-mail address of a lead has changed',
  new_call_started: 'A call has come in or was placed',
  buyer_dialled: 'A buyer is dialed',
  buyer_answered: 'A buyer has answered',
  buyer_converted: 'A buyer pays for a call',
  buyer_did_not_convert: 'A call that a buyer took has ended unpaid',
  offer_converted: 'A source is paid for a call',
  conversion_returned: 'A call is no longer paid for',
  every_call: 'A call has ended',
  call_changed: 'Something was reported about an ended call',
  agent_online: 'An agent has become available',
  agent_offline: 'An agent has left',
  balance_low: 'The balance of a buyer is low',
  statement_ready: 'A statement has been drawn up',
  alert_started: 'An alert has begun',
  alert_ended: 'An alert has ended',
  manual: 'Only when fired by hand',
  before_buyer_dialled: 'A buyer is about to be dialed: your system may say no',
};

/** An event that was sent. */
export const describeEvent = ({ trigger_type: type }: Readonly<Record<string, unknown>>): string =>
  type === 'manual' ? 'Fired by hand' : (TRIGGER_WORDS[String(type)] ?? String(type));
