import type { Sql } from '../../data/sql';
import type { MachineAction } from '../../data/phone/machine-message';
import { writeLogs, type LogEntry } from '../leads/write-logs';
import {
  ABANDON_CALLS,
  ABANDON_EMAILS,
  ABANDON_TEXT_MESSAGES,
  END_CALLBACKS,
  MARK_NUMBERS_ASSIGNED,
} from './queries/end-steps';
import { COUNT_CONTACTED } from './queries/contacts';
import { saveLeads, type LeadProgress } from '../leads/save-progress';
import { RECORD_CALLS, RECORD_EMAILS, RECORD_TEXT_MESSAGES } from './queries/record-steps';

interface Delivery {
  company_id: string;
  /** The key of the step: however often the step is recorded, there is one row. */
  uuid: string;
  status: string;
  /** Null while it is not known whether an attempt was accepted. */
  error_code: string | null;
  error_message: string | null;
  lead_id: string | null;
  offer_id: string | null;
  schedule_id: string | null;
  schedule_action_id: string | null;
  token_values: Record<string, unknown>;
}

export interface TextMessageRow extends Delivery {
  from_number: string;
  to_number: string;
  body: string;
  carrier: string;
  carrier_message_id: string | null;
}

export interface CallRow extends Delivery {
  from_number: string;
  to_number: string;
  /** Null for a call that is routed. */
  connect_to: string | null;
  routed: boolean;
  /** Null when the carrier detects no answering machines. */
  machine_action: MachineAction | null;
  machine_message: string | null;
  carrier: string;
  carrier_call_id: string | null;
}

/** The sandbox has placed a call that is not answered yet. */
export const isRingingInSandbox = ({
  carrier,
  status,
}: Pick<CallRow, 'carrier' | 'status'>): boolean => carrier === 'sandbox' && status === 'ringing';

export interface EmailRow extends Delivery {
  from_email: string;
  to_email: string;
  subject: string;
  body: string;
  html: boolean;
  mailer: string;
  message_id: string | null;
}

/** The state of a lead after its steps. Its calls are uuids of rows in the recording. */
export interface LeadState extends Omit<LeadProgress, 'attempted_call_id' | 'connected_call_id'> {
  /** Null leaves the stored call unchanged. */
  attempted_call: string | null;
  connected_call: string | null;
}

/** An entry of a lead's history; `call`, `text_message` and `email` are uuids of the recording. */
type StepLog = LogEntry & {
  company_id: string;
  call?: string;
  text_message?: string;
  email?: string;
};

export interface Recording {
  text_messages: TextMessageRow[];
  emails: EmailRow[];
  calls: CallRow[];
  logs: StepLog[];
  leads: LeadState[];
  contacts: {
    company_id: string;
    caller_number: string;
    calls: number;
    sms: number;
    emails: number;
  }[];
  callbacks: { company_id: string; id: string; status: string; call?: string }[];
  numbers: { company_id: string; id: string }[];
  /** Leads that gave up a step whose delivery had begun. */
  abandoned: { company_id: string; lead_id: string }[];
}

export const createRecording = (): Recording => ({
  text_messages: [],
  emails: [],
  calls: [],
  logs: [],
  leads: [],
  contacts: [],
  callbacks: [],
  numbers: [],
  abandoned: [],
});

/**
 * Writes the changes by steps of locked leads, in a fixed number of statements. Returns the ids of
 * the logs in their order. Call `markNumbersAssigned` at the end of the transaction.
 */
export async function recordSteps(sql: Sql, recording: Recording, now: Date): Promise<string[]> {
  await abandonSteps(sql, recording.abandoned, now);
  const ids = await recordDeliveries(sql, recording, now);
  const findId = (uuid: string | null | undefined) => (uuid ? (ids.get(uuid) ?? null) : null);
  const logs = recording.logs.map(({ call, text_message, email, ...log }) => ({
    ...log,
    call_id: findId(call),
    text_message_id: findId(text_message),
    email_id: findId(email),
  }));
  const logIds = await writeLogs(sql, logs, now);
  const leads = recording.leads.map(({ attempted_call, connected_call, ...state }) => ({
    ...state,
    attempted_call_id: findId(attempted_call),
    connected_call_id: findId(connected_call),
  }));
  await saveLeads(sql, leads, now);
  if (recording.contacts.length > 0)
    await sql(COUNT_CONTACTED, { contacts: JSON.stringify(recording.contacts), now });
  const callbacks = recording.callbacks.map(({ call, ...callback }) => ({
    ...callback,
    call_id: findId(call),
  }));
  if (callbacks.length > 0) await sql(END_CALLBACKS, { callbacks: JSON.stringify(callbacks) });
  return logIds;
}

async function abandonSteps(sql: Sql, abandoned: Recording['abandoned'], now: Date): Promise<void> {
  if (abandoned.length === 0) return;
  const params = { leads: JSON.stringify(abandoned), now };
  await sql(ABANDON_TEXT_MESSAGES, params);
  await sql(ABANDON_EMAILS, params);
  await sql(ABANDON_CALLS, params);
}

async function recordDeliveries(
  sql: Sql,
  { text_messages, emails, calls }: Pick<Recording, Channel>,
  now: Date,
): Promise<Map<string, string>> {
  const writtenRows = [
    ...(await recordRows(sql, 'text_messages', text_messages, now)),
    ...(await recordRows(sql, 'emails', emails, now)),
    ...(await recordRows(sql, 'calls', calls, now)),
  ];
  return new Map(writtenRows.map(({ uuid, id }) => [uuid, id]));
}

type Channel = 'text_messages' | 'emails' | 'calls';

async function recordRows(
  sql: Sql,
  table: Channel,
  deliveries: readonly Delivery[],
  now: Date,
): Promise<{ id: string; uuid: string }[]> {
  if (deliveries.length === 0) return [];
  const params = { rows: JSON.stringify(deliveries), now };
  if (table === 'text_messages') return sql(RECORD_TEXT_MESSAGES, params);
  return table === 'emails' ? sql(RECORD_EMAILS, params) : sql(RECORD_CALLS, params);
}

/**
 * Records that a message, call or e-mail is about to be sent. It may have been sent from then on,
 * until its result is recorded.
 */
export async function recordIntent(
  sql: Sql,
  table: Channel,
  row: Delivery,
  now: Date,
): Promise<void> {
  await recordRows(sql, table, [row], now);
}

/**
 * Records that leads were contacted from numbers. Must come last in a transaction: numbers are
 * locked after leads and counters.
 */
export async function markNumbersAssigned(
  sql: Sql,
  numbers: Recording['numbers'],
  now: Date,
): Promise<void> {
  if (numbers.length > 0)
    await sql(MARK_NUMBERS_ASSIGNED, { numbers: JSON.stringify(numbers), now });
}
