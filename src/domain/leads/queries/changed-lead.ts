import { sql } from '../../../data/sql';

// Changes to a live lead by a submission, for src/domain/leads/queries/upsert-lead.ts.

/**
 * Assignments for the live lead of the submitted number. `excluded` is the lead that would have
 * been inserted; its null values leave columns unchanged. A lead starts over when that is
 * requested; it is scheduled again when it was stopped and may be contacted now.
 */
export const CHANGES = sql`
  email = coalesce(excluded.email, leads.email),
  contact_field_type = coalesce(excluded.contact_field_type, leads.contact_field_type),
  expires_in = coalesce(excluded.expires_in, leads.expires_in),
  sub_id = coalesce(excluded.sub_id, leads.sub_id),
  -- Else whoever knows a number could make the lead its own, and read it.
  traffic_source_id = CASE
    WHEN {moves_source}::boolean
    THEN coalesce(excluded.traffic_source_id, leads.traffic_source_id)
    ELSE leads.traffic_source_id
  END,
  remote_ip = coalesce(excluded.remote_ip, leads.remote_ip),
  lead_priority = coalesce(excluded.lead_priority, leads.lead_priority),
  hours_to_expire = coalesce(excluded.hours_to_expire, leads.hours_to_expire),
  max_contact_attempts = coalesce(excluded.max_contact_attempts, leads.max_contact_attempts),
  callback_at = coalesce(excluded.callback_at, leads.callback_at),
  scheduled_callback_id = coalesce(excluded.scheduled_callback_id, leads.scheduled_callback_id),
  data = (leads.data - {removed}::text[]) || excluded.data,
  zones = CASE
    WHEN excluded.data ?| ARRAY['zip', 'zip_code', 'postal_code', 'zip_postal_code']
      OR {removed}::text[] && ARRAY['zip', 'zip_code', 'postal_code', 'zip_postal_code']
    THEN excluded.zones
    ELSE leads.zones
  END,
  offer_id = coalesce({offer_id}::bigint, leads.offer_id, excluded.offer_id),
  status = CASE
    WHEN excluded.status NOT IN ('queue', 'scheduled', 'waiting')
      OR {restart}::boolean
      OR leads.status IN ('blocked', 'opt_out', 'disabled')
      OR {next_action_at}::timestamptz IS NOT NULL
      OR {callback_at}::timestamptz IS NOT NULL
    THEN excluded.status
    ELSE leads.status
  END,
  due_at = CASE
    WHEN excluded.status NOT IN ('queue', 'scheduled', 'waiting') THEN NULL
    WHEN {restart}::boolean
      OR leads.status IN ('blocked', 'opt_out', 'disabled')
      OR {next_action_at}::timestamptz IS NOT NULL
      OR {callback_at}::timestamptz IS NOT NULL
    THEN excluded.due_at
    WHEN excluded.expires_in IS NOT NULL
      OR excluded.hours_to_expire IS NOT NULL
      OR excluded.max_contact_attempts IS NOT NULL
    THEN {now}::timestamptz
    ELSE leads.due_at
  END,
  claim_id = CASE
    WHEN excluded.status IN ('queue', 'scheduled', 'waiting')
      AND NOT {restart}::boolean
      AND leads.status NOT IN ('blocked', 'opt_out', 'disabled')
      AND {next_action_at}::timestamptz IS NULL
      AND {callback_at}::timestamptz IS NULL
      AND excluded.expires_in IS NULL
      AND excluded.hours_to_expire IS NULL
      AND excluded.max_contact_attempts IS NULL
    THEN leads.claim_id
  END,
  next_action_at = CASE
    WHEN {next_action_at}::timestamptz IS NOT NULL OR {restart}::boolean
    THEN excluded.next_action_at
    ELSE leads.next_action_at
  END,
  phase = CASE WHEN {restart}::boolean THEN 'actions' ELSE leads.phase END,
  position = CASE WHEN {restart}::boolean THEN NULL ELSE leads.position END,
  exit_reason = CASE WHEN {restart}::boolean THEN NULL ELSE leads.exit_reason END,
  contact_attempts = CASE WHEN {restart}::boolean THEN 0 ELSE leads.contact_attempts END,
  entered_at = CASE WHEN {restart}::boolean THEN {now}::timestamptz ELSE leads.entered_at END,
  tries = CASE WHEN {restart}::boolean THEN 0 ELSE leads.tries END,
  suppressed = CASE WHEN {restart}::boolean THEN false ELSE leads.suppressed END,
  unreachable = CASE WHEN {restart}::boolean THEN false ELSE leads.unreachable END,
  updated_at = {now}::timestamptz,
  user_updated_at = {now}::timestamptz`;

export const CHANGEABLE = sql`
  NOT {only_own_source}::boolean OR leads.traffic_source_id = excluded.traffic_source_id`;
