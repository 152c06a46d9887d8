import type { Tasks } from '../../data/jobs/tasks';
import type { Sql } from '../../data/sql';
import type { MachineAction } from '../../data/phone/machine-message';
import type { CompletedStatus } from '../leads/final-status';
import type { DueLead } from './due-lead';
import { RECORD_STEPS } from './queries/steps';

// The changes by steps of leads, as rows to write. Ids are decimal text. A row names calls,
// messages and e-mails of the same steps by their uuid.

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
  /** The switch of the company that places it; null where a carrier does, or none is live. */
  switch_id: string | null;
  /** How long the telephones ring; the call keeps that of its action. */
  timeout_seconds: number;
}

export interface EmailRow extends Delivery {
  from_email: string;
  to_email: string;
  subject: string;
  body: string;
  html: boolean;
  mailer: string;
  message_id: string | null;
}

/** Results of steps that are no columns of a `DueLead`. */
export interface StepResult {
  is_live: boolean;
  due_at: Date | null;
  schedule_ended_at: Date | null;
  /** Null leaves the stored call unchanged. */
  attempted_call: string | null;
  connected_call: string | null;
  /** Keeps its claim, because a deferred draft is still to be sent. */
  stays_claimed: boolean;
}

/** A lead after its steps; the procedure takes the columns that steps change. */
export type SteppedLead = StepResult & Partial<Record<keyof DueLead, unknown>>;

/** An entry of a lead's history. */
interface StepLog {
  lead_id: string;
  event: string;
  message: string | null;
  schedule_action_id?: string | null;
  call?: string;
  text_message?: string;
  email?: string;
}

export interface StepRows {
  /** Leads that gave up a step whose delivery had begun. */
  abandoned: { lead_id: string }[];
  text_messages: TextMessageRow[];
  emails: EmailRow[];
  calls: CallRow[];
  logs: StepLog[];
  leads: SteppedLead[];
  contacts: { caller_number: string; calls: number; sms: number; emails: number }[];
  callbacks: { id: string; status: string; call?: string }[];
  contact_changes: { caller_number: string; change: 'opt_out' | 'block' }[];
  moves: { lead_id: string; schedule_id: string; status_if_ended: CompletedStatus }[];
  numbers: { id: string }[];
}

export const createStepRows = (): StepRows => ({
  abandoned: [],
  text_messages: [],
  emails: [],
  calls: [],
  logs: [],
  leads: [],
  contacts: [],
  callbacks: [],
  contact_changes: [],
  moves: [],
  numbers: [],
});

export type CompanySteps = { company_id: string } & Partial<StepRows>;

/**
 * Writes the changes by steps of locked leads in one exchange: all of them, or nothing. Returns the
 * jobs of the logs that say that a webhook is queued, in their order.
 */
export async function recordSteps(
  sql: Sql,
  batches: readonly CompanySteps[],
  now: Date,
): Promise<Tasks['send_action_webhook'][]> {
  const rows = batches.map(({ company_id, logs = [], ...others }) => {
    const lists = { ...others, logs: logs.map((log, n) => ({ ...log, n })) };
    const present = Object.entries(lists).filter(([, list]) => list.length > 0);
    return { company_id, ...Object.fromEntries(present) };
  });
  return sql(RECORD_STEPS, { batches: JSON.stringify(rows), now });
}

/** Puts the rows of each company together. */
export function combineByCompany(changes: readonly (StepRows & { company_id: string })[]) {
  const batches = new Map<string, StepRows & { company_id: string }>();
  for (const { company_id, ...rows } of changes) {
    const batch = batches.get(company_id) ?? { company_id, ...createStepRows() };
    batches.set(company_id, batch);
    for (const kind of Object.keys(rows) as (keyof StepRows)[])
      (batch[kind] as unknown[]).push(...rows[kind]);
  }
  return [...batches.values()];
}
