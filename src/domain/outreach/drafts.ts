import { createHash } from 'node:crypto';
import { SOFTSWITCH, type Carrier } from '../../platform/carriers/carrier';
import { NO_SWITCH } from '../../platform/carriers/softswitch';
import type { Mailer } from '../../platform/mail/mailer';
import type { ActionRow } from '../schedules/engine/plan';
import { escapeHtml, substitute, type TokenSource } from '../../platform/tokens/substitute';
import { toConnection, type Connection, type NumberColumn, type OutreachContext } from './context';
import { isRecording } from '../../data/phone/machine-message';
import type { LiveSwitches } from '../switches/originate';
import type { DueLead } from './due-lead';
import type { CallRow, EmailRow, TextMessageRow } from './record-steps';

export interface Channels {
  carrier: Carrier;
  mailer: Mailer;
  /** The sender of e-mails whose action and schedule have none. */
  mail_from: string;
}

/** Channels for leads that are known. */
export interface CompanyChannels extends Channels {
  switches: LiveSwitches;
}

/** A text message, a call or an e-mail that is ready to be sent, as a row of `table`. */
export type Draft =
  | { table: 'text_messages'; row: TextMessageRow; column: NumberColumn }
  | { table: 'calls'; row: CallRow; column: NumberColumn }
  | { table: 'emails'; row: EmailRow };

/** Why there is no draft, as text for the lead's history. */
export interface Fault {
  fault: string;
}

const MAX_SMS_CHARS = 1_600;

interface DraftContext {
  records: OutreachContext;
  channels: CompanyChannels;
}

/** The draft of an action for a lead. Sends nothing. */
export function draftAction(
  lead: DueLead,
  action: ActionRow,
  { records, channels }: DraftContext,
): Draft | Fault {
  switch (action.action_type) {
    case 'email':
      return draftEmail(lead, action, { records, channels });
    case 'dial':
      return draftCall(lead, toConnection(action), { records, channels, action });
    default:
      return draftSms(lead, action, { records, channels });
  }
}

function draftSms(
  lead: DueLead,
  action: ActionRow,
  { records, channels }: DraftContext,
): Draft | Fault {
  const refusal = channels.carrier.refusals?.texts;
  if (refusal) return { fault: refusal };
  const number = records.pickNumber(lead, 'sms_number_id');
  if (!number) return { fault: 'the company owns no number to text from' };
  const body = substitute(action.body ?? '', records.buildTokens(lead, number)).trim();
  if (body === '') return { fault: 'the text is empty once its tokens are filled in' };
  if (body.length > MAX_SMS_CHARS)
    return {
      fault:
        `the text has ${body.length} characters once its tokens are filled in; ` +
        `at most ${MAX_SMS_CHARS} can be sent`,
    };
  const row = {
    ...buildCommonColumns(lead, action),
    from_number: number.number,
    to_number: lead.caller_number,
    body,
    carrier: channels.carrier.name,
    carrier_message_id: null,
  };
  return { table: 'text_messages', row, column: 'sms_number_id' };
}

/** The call of a dial action, or without an action the callback that a lead requested. */
export function draftCall(
  lead: DueLead,
  connection: Connection,
  { records, channels, action }: DraftContext & { action?: ActionRow },
): Draft | Fault {
  const { connect_to, timeout_seconds, machine_action, machine_message } = connection;
  const refusal = findCallRefusal(lead, channels);
  if (refusal) return { fault: refusal };
  const number = records.pickNumber(lead, 'dial_number_id');
  if (!number) return { fault: 'the company owns no number to call from' };
  const routed = connect_to === null;
  // Without detection each call that is answered counts as one by a person.
  const detects = channels.carrier.capabilities.detection;
  const offerId = routed ? records.findCallOffer(lead) : lead.offer_id;
  if (routed && offerId === null)
    return { fault: 'neither the lead nor its schedule has an offer whose buyers could take it' };
  const row = {
    ...buildCommonColumns(lead, action),
    offer_id: offerId,
    from_number: number.number,
    to_number: lead.caller_number,
    connect_to,
    routed,
    machine_action: detects && (routed || machine_action !== 'connect') ? machine_action : null,
    machine_message: fillMessage(machine_message, records.buildTokens(lead, number)),
    carrier: channels.carrier.name,
    carrier_call_id: null,
    switch_id: channels.switches.get(lead.company_id) ?? null,
    timeout_seconds,
  };
  return { table: 'calls', row, column: 'dial_number_id' };
}

/** Why the company of a lead places no calls at all; undefined where it does. */
export function findCallRefusal(
  { company_id }: Pick<DueLead, 'company_id'>,
  { carrier, switches }: Pick<CompanyChannels, 'carrier' | 'switches'>,
): string | undefined {
  const hasNoSwitch = carrier.name === SOFTSWITCH && !switches.has(company_id);
  return carrier.refusals?.calls ?? (hasNoSwitch ? NO_SWITCH : undefined);
}

const fillMessage = (message: string | null, tokens: TokenSource): string | null =>
  message === null || isRecording(message) ? message : substitute(message, tokens);

/** A line break in a subject would begin another header. */
const toOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

function draftEmail(
  lead: DueLead,
  action: ActionRow,
  { records, channels }: DraftContext,
): Draft | Fault {
  if (!lead.email) return { fault: 'the lead has no e-mail address' };
  const tokens: TokenSource = records.buildTokens(lead);
  const schedule = records.findSchedule(lead)?.row;
  const html = action.html ?? false;
  const row = {
    ...buildCommonColumns(lead, action),
    from_email: action.from_email ?? schedule?.from_email ?? channels.mail_from,
    to_email: lead.email,
    subject: toOneLine(substitute(action.subject ?? '', tokens)),
    body: substitute(action.body ?? '', tokens, html ? escapeHtml : undefined),
    html,
    mailer: channels.mailer.name,
    message_id: null,
  };
  return { table: 'emails', row };
}

const buildCommonColumns = (lead: DueLead, action?: ActionRow) => ({
  company_id: lead.company_id,
  uuid: buildStepKey(lead, action),
  status: 'sending',
  error_code: null,
  error_message: null,
  lead_id: lead.id,
  offer_id: lead.offer_id,
  schedule_id: lead.schedule_id,
  schedule_action_id: action?.id ?? null,
  token_values: lead.data,
});

/**
 * The key of a step: of an action of the lead's schedule, or of the callback that it requested. The
 * key is identical in every process and at every try, and differs between steps. A UUIDv7 with the
 * lead's time.
 */
function buildStepKey(
  { uuid, step, scheduled_callback_id, callback_at }: DueLead,
  action: ActionRow | undefined,
): string {
  const name = action
    ? `${step}/${action.id}`
    : `callback/${scheduled_callback_id}/${callback_at?.getTime()}`;
  const hash = createHash('sha256').update(`${uuid}/${name}`).digest('hex');
  const variant = ((parseInt(hash[3]!, 16) & 3) | 8).toString(16);
  const [versionPart, variantPart] = [`7${hash.slice(0, 3)}`, `${variant}${hash.slice(4, 7)}`];
  return `${uuid.slice(0, 13)}-${versionPart}-${variantPart}-${hash.slice(7, 19)}`;
}
