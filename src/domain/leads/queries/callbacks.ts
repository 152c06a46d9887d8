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

export const ADD_CALLBACK = statement(
  'leads.add_callback',
  sql`
    INSERT INTO scheduled_callbacks (company_id, id, created_at, lead_id, callback_at)
    VALUES (
      {company_id}, {id}::bigint, {now}::timestamptz, {lead_id}::bigint,
      {callback_at}::timestamptz
    )
  `,
  { prepared: false },
);
