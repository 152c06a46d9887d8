import { createHash } from 'node:crypto';
import type { Carrier, Failure } from '../carriers/carrier';
import type { DueLead } from './load-leads';
import type { ActionRow } from '../schedules/engine/plan';
import type { CallRow, EmailRow, TextMessageRow } from './record-steps';
import type { Mailer, MailFailure } from '../mail/mailer';
import { escapeHtml, substitute, type TokenSource } from '../tokens/substitute';
import type { Connection, NumberColumn, OutreachContext } from './context';

/** Who carries out what is drafted. */
export interface Edges {
  carrier: Carrier;
  mailer: Mailer;
  /** Who e-mails are from when neither action nor schedule says. */
  mail_from: string;
}

/** A text, a call or an e-mail, ready to go. */
export type Draft =
  | { table: 'text_messages'; row: TextMessageRow; column: NumberColumn }
  | { table: 'calls'; row: CallRow; column: NumberColumn; timeout_seconds: number }
  | { table: 'emails'; row: EmailRow };

/** What cannot be drafted, in words for the log. */
export interface Fault {
  fault: string;
}

const LONGEST_SMS = 1_600;

/**
 * The key of what is to be done for a lead by an action, or as the callback it asked for: the same however often it is tried, by whichever process,
 * and another for every step and callback. A UUIDv7 whose time is that of the lead.
 */
function keyOf(
  { uuid, step, scheduled_callback_id, callback_at }: DueLead,
  action: ActionRow | undefined,
): string {
  const what = action
    ? `${step}/${action.id}`
    : `callback/${scheduled_callback_id}/${callback_at?.getTime()}`;
  const hash = createHash('sha256').update(`${uuid}/${what}`).digest('hex');
  const variant = ((parseInt(hash[3]!, 16) & 3) | 8).toString(16);
  return `${uuid.slice(0, 13)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}

type Drafting = { world: OutreachContext; edges: Edges };

/** What an action would send to a lead. Nothing is sent. */
export function draft(lead: DueLead, action: ActionRow, { world, edges }: Drafting): Draft | Fault {
  const schedule = world.scheduleOf(lead)?.row;
  if (action.action_type === 'email')
    return draftEmail(lead, action, {
      tokens: world.tokensOf(lead),
      edges,
      from: action.from_email ?? schedule?.from_email ?? edges.mail_from,
    });
  if (action.action_type === 'dial')
    return draftCall(
      lead,
      { connect_to: action.connect_to!, timeout_seconds: action.timeout_seconds! },
      { world, edges, action },
    );
  const number = world.numberFor(lead, 'sms_number_id');
  if (!number) return { fault: 'the company owns no number to text from' };
  const body = substitute(action.body ?? '', world.tokensOf(lead, number)).trim();
  if (body === '') return { fault: 'the text is empty once its tokens are put in' };
  if (body.length > LONGEST_SMS)
    return {
      fault: `the text has ${body.length} characters once its tokens are put in; at most ${LONGEST_SMS} can be sent`,
    };
  const row = {
    ...common(lead, action),
    from_number: number.number,
    to_number: lead.caller_number,
    body,
    carrier: edges.carrier.name,
    carrier_message_id: null,
  };
  return { table: 'text_messages', row, column: 'sms_number_id' };
}

/** The call of an action, or without one the callback that a lead asked for. */
export function draftCall(
  lead: DueLead,
  { connect_to, timeout_seconds }: Connection,
  { world, edges, action }: Drafting & { action?: ActionRow },
): Draft | Fault {
  const number = world.numberFor(lead, 'dial_number_id');
  if (!number) return { fault: 'the company owns no number to call from' };
  const row = {
    ...common(lead, action),
    from_number: number.number,
    to_number: lead.caller_number,
    connect_to,
    carrier: edges.carrier.name,
    carrier_call_id: null,
  };
  return { table: 'calls', row, column: 'dial_number_id', timeout_seconds };
}

/** Line breaks in a subject would begin another header. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

function draftEmail(
  lead: DueLead,
  action: ActionRow,
  { tokens, edges, from }: { tokens: TokenSource; edges: Edges; from: string },
): Draft | Fault {
  if (!lead.email) return { fault: 'the lead has no e-mail address' };
  const html = action.html ?? false;
  const subject = oneLine(substitute(action.subject ?? '', tokens));
  const body = substitute(action.body ?? '', tokens, html ? escapeHtml : undefined);
  const row = {
    ...common(lead, action),
    from_email: from,
    to_email: lead.email,
    subject,
    body,
    html,
    mailer: edges.mailer.name,
    message_id: null,
  };
  return { table: 'emails', row };
}

const common = (lead: DueLead, action?: ActionRow) => ({
  company_id: lead.company_id,
  uuid: keyOf(lead, action),
  status: 'sending',
  error_code: null,
  error_message: null,
  lead_id: lead.id,
  offer_id: lead.offer_id,
  schedule_id: lead.schedule_id,
  schedule_action_id: action?.id ?? null,
  token_values: lead.data,
});

/** Whether it can be sent within the transaction that records it, many of them at once. */
export const isInstant = ({ table }: Draft, { carrier, mailer }: Edges): boolean =>
  table === 'emails' ? mailer.instant : carrier.instant;

/** What is known of earlier tries of a draft. */
export interface Earlier {
  tried_at?: Date;
  taken?: readonly string[];
}

export interface Sent {
  /** The draft with what became of it. */
  draft: Draft;
  /** It went out, though it may not have arrived. */
  ok: boolean;
  /** It may be tried again. */
  retryable: boolean;
}

/** Hands a draft to the carrier or the mailer, once. */
export async function send(
  draft: Draft,
  earlier: Earlier,
  { carrier, mailer }: Edges,
): Promise<Sent> {
  const { row } = draft;
  if (draft.table === 'emails') {
    const { from_email: from, to_email: to, subject, body, html } = draft.row;
    const outcome = await mailer.send({
      key: row.uuid,
      from,
      to,
      subject,
      ...(html ? { html: body } : { text: body }),
    });
    if (!outcome.ok) return failed(draft, outcome);
    return {
      draft: {
        ...draft,
        row: {
          ...draft.row,
          status: 'sent',
          error_code: null,
          error_message: null,
          message_id: outcome.message_id,
        },
      },
      ok: true,
      retryable: false,
    };
  }
  const [from, to] = [`+${draft.row.from_number}`, `+${draft.row.to_number}`];
  const request = { ...earlier, key: row.uuid, from, to };
  const clean = { error_code: null, error_message: null };
  if (draft.table === 'text_messages') {
    const outcome = await carrier.sendSms({ ...request, body: draft.row.body });
    if (!outcome.ok) return failed(draft, outcome);
    const told = {
      ...clean,
      status: outcome.status,
      carrier_message_id: outcome.carrier_id,
      ...(outcome.code && { error_code: outcome.code }),
    };
    return { draft: { ...draft, row: { ...draft.row, ...told } }, ok: true, retryable: false };
  }
  const { timeout_seconds } = draft;
  const outcome = await carrier.placeCall({
    ...request,
    connect_to: draft.row.connect_to,
    timeout_seconds,
  });
  if (!outcome.ok) return failed(draft, outcome);
  const told = {
    ...clean,
    status: outcome.status,
    carrier_call_id: outcome.carrier_id,
    ...(outcome.code && { error_code: outcome.code }),
  };
  return { draft: { ...draft, row: { ...draft.row, ...told } }, ok: true, retryable: false };
}

function failed(draft: Draft, failure: Failure | MailFailure): Sent {
  const { retryable, code, message } = failure;
  // Without a code the row stays in doubt: whoever tries again looks first whether this try got through.
  const in_doubt = 'maybe_sent' in failure && failure.maybe_sent === true;
  return {
    draft: withStatus(draft, retryable ? 'sending' : 'failed', {
      code: in_doubt ? null : code,
      message,
    }),
    ok: false,
    retryable,
  };
}

export function withStatus(
  draft: Draft,
  status: string,
  { code, message }: { code: string | null; message: string | null },
): Draft {
  return {
    ...draft,
    row: { ...draft.row, status, error_code: code, error_message: message },
  } as Draft;
}
