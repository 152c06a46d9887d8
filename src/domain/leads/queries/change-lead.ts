import { sql, statement } from '../../../data/sql';
import { storeLeads } from './record-leads';

/**
 * Changes a lead: `changes` are columns as JSON, all others stay. With `only_live` a lead that has
 * ended stays as it is; none is returned then.
 */
export const CHANGE_LEAD = statement(
  'leads.change_lead',
  storeLeads(sql`
    SELECT l AS was, jsonb_populate_record(l, {changes}::jsonb) AS is_now
    FROM leads l
    WHERE l.company_id = {company_id}
      AND l.id = {id}::bigint
      AND (l.is_live OR NOT {only_live}::boolean)
    FOR NO KEY UPDATE`),
  { prepared: true },
);

/** Ends the pending callbacks of a lead: `status` is canceled or replaced. */
export const END_CALLBACKS = statement(
  'leads.end_callbacks',
  sql`
    UPDATE scheduled_callbacks
    SET status = {status}
    WHERE company_id = {company_id} AND lead_id = {lead_id} AND status = 'pending'
  `,
  { prepared: false },
);
