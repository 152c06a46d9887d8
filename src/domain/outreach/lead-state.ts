import type { DueLead } from './due-lead';
import type { LeadState } from './record-steps';

/** A time in the format for JSON parameters of statements. */
export const toIsoTime = (time: Date | null | undefined): string | null =>
  time?.toISOString() ?? null;

/** The state of a lead before its steps; it is not due again unless a step says so. */
export const toLeadState = (lead: DueLead): LeadState => ({
  company_id: lead.company_id,
  id: lead.id,
  status: lead.status,
  is_live: true,
  due_at: null,
  next_action_at: toIsoTime(lead.next_action_at),
  callback_at: toIsoTime(lead.callback_at),
  entered_at: toIsoTime(lead.entered_at)!,
  first_action_at: toIsoTime(lead.first_action_at),
  last_action_at: toIsoTime(lead.last_action_at),
  last_call_at: toIsoTime(lead.last_call_at),
  schedule_ended_at: null,
  phase: lead.phase,
  position: lead.position,
  exit_reason: lead.exit_reason,
  contact_attempts: lead.contact_attempts,
  delay_reason: lead.delay_reason,
  suppressed: lead.suppressed,
  unreachable: lead.unreachable,
  step: lead.step,
  tries: lead.tries,
  sms_number_id: lead.sms_number_id,
  dial_number_id: lead.dial_number_id,
  attempted_call: null,
  connected_call: null,
  called_back: false,
  keeps_claim: false,
});
