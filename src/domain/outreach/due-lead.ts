import type { ExitReason } from '../schedules/engine/cadence';

export interface LeadKey {
  company_id: string;
  id: string;
  caller_number: string;
}

/** The columns of a lead that outreach uses. Ids are decimal text, money is dollars as text. */
export interface DueLead extends LeadKey {
  uuid: string;
  created_at: Date;
  email: string | null;
  data: Record<string, unknown>;
  zones: string[];
  offer_id: string | null;
  schedule_id: string | null;
  buyer_id: string | null;
  status: string;
  is_live: boolean;
  phase: 'actions' | 'end';
  position: number | null;
  exit_reason: ExitReason | null;
  contact_attempts: number;
  entered_at: Date;
  callback_at: Date | null;
  scheduled_callback_id: string | null;
  next_action_at: Date | null;
  hours_to_expire: number | null;
  /** Minutes. */
  expires_in: number | null;
  max_contact_attempts: number | null;
  sms_number_id: string | null;
  dial_number_id: string | null;
  attempted_call_id: string | null;
  connected_call_id: string | null;
  buyer_converted: boolean;
  revenue: string;
  payout: string;
  first_action_at: Date | null;
  last_action_at: Date | null;
  last_call_at: Date | null;
  buyer_name: string | null;
  buyer_fleet: string | null;
  suppressed: boolean;
  unreachable: boolean;
  /** Number of completed actions; part of the key of the next one. */
  step: number;
  /** Failed tries of the current action. */
  tries: number;
  delay_reason: string | null;
  traffic_source_id: string | null;
  sub_id: string | null;
  user_traffic_source_id: string | null;
}
