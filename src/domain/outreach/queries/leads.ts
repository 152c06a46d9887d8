import { sql, statement } from '../../../data/sql';
import type { DueLead } from '../due-lead';

const DUE_LEAD = sql`
  l.company_id, l.id, l.caller_number, l.uuid, l.created_at, l.email, l.data, l.zones, l.offer_id,
  l.schedule_id, l.buyer_id, l.status, l.is_live, l.phase, l.position, l.exit_reason,
  l.contact_attempts, l.entered_at, l.callback_at, l.scheduled_callback_id, l.next_action_at,
  l.hours_to_expire, l.expires_in, l.max_contact_attempts, l.sms_number_id, l.dial_number_id,
  l.attempted_call_id, l.connected_call_id, l.buyer_converted, l.revenue, l.payout,
  l.first_action_at, l.last_action_at, l.last_call_at, b.name AS buyer_name,
  f.user_fleet_id AS buyer_fleet, l.suppressed, l.unreachable, l.step, l.tries, l.delay_reason,
  l.traffic_source_id, l.sub_id, s.user_traffic_source_id
`;

const BUYER = sql`
  LEFT JOIN buyers b ON b.company_id = l.company_id AND b.id = l.buyer_id
  LEFT JOIN buyer_fleets f ON f.company_id = b.company_id AND f.id = b.buyer_fleet_id
  LEFT JOIN traffic_sources s ON s.company_id = l.company_id AND s.id = l.traffic_source_id
`;

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
