import { sql, statement } from '../../db/sql';
import type { DueLead } from '../load-leads';

const DUE_LEAD = sql`
  l.company_id, l.id, l.caller_number, l.uuid, l.created_at, l.email, l.data, l.zones, l.offer_id,
  l.schedule_id, l.buyer_id, l.status, l.is_live, l.phase, l.position, l.exit_reason,
  l.contact_attempts, l.entered_at, l.callback_at, l.scheduled_callback_id, l.next_action_at,
  l.hours_to_expire, l.expires_in, l.max_contact_attempts, l.sms_number_id, l.dial_number_id,
  l.attempted_call_id, l.connected_call_id, l.buyer_converted, l.revenue, l.payout,
  l.first_action_at, l.last_action_at, l.last_call_at, b.name AS buyer_name,
  f.user_fleet_id AS buyer_fleet, l.suppressed, l.unreachable, l.step, l.tries, l.delay_reason
`;

const BUYER = sql`
  LEFT JOIN buyers b ON b.company_id = l.company_id AND b.id = l.buyer_id
  LEFT JOIN buyer_fleets f ON f.company_id = b.company_id AND f.id = b.buyer_fleet_id
`;

/** Locks those of the leads that are still claimed under the id, in the order of ids. */
export const LOCK_CLAIMED_LEADS = statement(
  'outreach.lock_claimed_leads',
  sql`
    SELECT ${DUE_LEAD}
    FROM unnest({company_ids}::bigint[], {ids}::bigint[]) AS x(company_id, id)
    JOIN leads l ON l.company_id = x.company_id AND l.id = x.id
    ${BUYER}
    WHERE l.claim_id = {claim_id}::uuid
    ORDER BY l.company_id, l.id
    FOR NO KEY UPDATE OF l
  `,
  { prepared: true },
).returning<DueLead>();

export const READ_LEAD = statement(
  'outreach.read_lead',
  sql`
    SELECT ${DUE_LEAD}
    FROM leads l
    ${BUYER}
    WHERE l.company_id = {company_id} AND l.id = {id} AND l.deleted_at IS NULL
  `,
  { prepared: false },
).returning<DueLead>();

/** Writes what steps changed of locked leads. */
export const UPDATE_LEADS = statement(
  'outreach.update_leads',
  sql`
    UPDATE leads l
    SET status = x.status,
      is_live = x.is_live,
      due_at = x.due_at,
      next_action_at = x.next_action_at,
      callback_at = x.callback_at,
      entered_at = x.entered_at,
      first_action_at = x.first_action_at,
      last_action_at = x.last_action_at,
      last_call_at = x.last_call_at,
      schedule_ended_at = x.schedule_ended_at,
      phase = x.phase,
      position = x.position,
      exit_reason = x.exit_reason,
      contact_attempts = x.contact_attempts,
      delay_reason = x.delay_reason,
      suppressed = x.suppressed,
      unreachable = x.unreachable,
      step = x.step,
      tries = x.tries,
      sms_number_id = x.sms_number_id,
      dial_number_id = x.dial_number_id,
      attempted_call_id = coalesce(x.attempted_call_id, l.attempted_call_id),
      connected_call_id = coalesce(x.connected_call_id, l.connected_call_id),
      scheduled_callback_id = CASE WHEN x.called_back THEN NULL ELSE l.scheduled_callback_id END,
      claim_id = CASE WHEN x.keeps_claim THEN l.claim_id END,
      updated_at = {now}::timestamptz
    FROM jsonb_to_recordset({leads}::jsonb) AS x(
      company_id bigint, id bigint, status text, is_live boolean, due_at timestamptz,
      next_action_at timestamptz, callback_at timestamptz, entered_at timestamptz,
      first_action_at timestamptz, last_action_at timestamptz, last_call_at timestamptz,
      schedule_ended_at timestamptz, phase text, position double precision, exit_reason text,
      contact_attempts int, delay_reason text, suppressed boolean, unreachable boolean, step int,
      tries int, sms_number_id bigint, dial_number_id bigint, attempted_call_id bigint,
      connected_call_id bigint, called_back boolean, keeps_claim boolean
    )
    WHERE l.company_id = x.company_id AND l.id = x.id
  `,
  { prepared: true },
);
