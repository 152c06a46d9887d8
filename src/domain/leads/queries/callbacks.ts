import { sql, statement } from '../../../data/sql';

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
