import type { Sql } from '../../data/sql';
import type { CompletedStatus } from './final-status';
import { MOVE_LEADS, SAVE_LEADS } from './queries/progress';

// How outreach writes leads. All functions take locked leads of several companies; ids are decimal
// text.

interface LeadKey {
  company_id: string;
  id: string;
}

/** The state of a lead after its steps. Times are ISO 8601. */
export interface LeadProgress extends LeadKey {
  status: string;
  is_live: boolean;
  due_at: string | null;
  next_action_at: string | null;
  callback_at: string | null;
  entered_at: string;
  first_action_at: string | null;
  last_action_at: string | null;
  last_call_at: string | null;
  schedule_ended_at: string | null;
  phase: string;
  position: number | null;
  exit_reason: string | null;
  contact_attempts: number;
  delay_reason: string | null;
  suppressed: boolean;
  unreachable: boolean;
  step: number;
  tries: number;
  sms_number_id: string | null;
  dial_number_id: string | null;
  /** Null leaves the stored call unchanged. */
  attempted_call_id: string | null;
  connected_call_id: string | null;
  called_back: boolean;
  /** The claim stays, because a deferred draft is still to be sent. */
  keeps_claim: boolean;
}

export async function saveLeads(
  sql: Sql,
  leads: readonly LeadProgress[],
  now: Date,
): Promise<void> {
  if (leads.length > 0) await sql(SAVE_LEADS, { leads: JSON.stringify(leads.map(toColumns)), now });
}

const toColumns = ({
  attempted_call_id,
  connected_call_id,
  called_back,
  keeps_claim,
  ...columns
}: LeadProgress) => ({
  ...columns,
  ...(attempted_call_id !== null && { attempted_call_id }),
  ...(connected_call_id !== null && { connected_call_id }),
  ...(called_back && { scheduled_callback_id: null }),
  ...(!keeps_claim && { claim_id: null }),
});

/** Starts leads in other schedules. Their contact attempts continue to count. */
export async function moveToSchedules(
  sql: Sql,
  moves: readonly (LeadKey & { schedule_id: string })[],
  now: Date,
): Promise<void> {
  if (moves.length === 0) return;
  await sql(MOVE_LEADS, {
    company_ids: moves.map(({ company_id }) => company_id),
    ids: moves.map(({ id }) => id),
    schedule_ids: moves.map(({ schedule_id }) => schedule_id),
    now,
  });
}

export async function endLeads(
  sql: Sql,
  endings: readonly (LeadKey & { status: CompletedStatus })[],
  now: Date,
): Promise<void> {
  if (endings.length === 0) return;
  const ended = { is_live: false, due_at: null, next_action_at: null, schedule_ended_at: now };
  const leads = endings.map(({ company_id, id, status }) => ({ company_id, id, status, ...ended }));
  await sql(SAVE_LEADS, { leads: JSON.stringify(leads), now });
}
