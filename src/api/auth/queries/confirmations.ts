import { sql, statement } from '../../../data/sql';

/** A row if the latest confirmation of an address has this number and can still be used. */
export const FIND_OPEN_CONFIRMATION = statement(
  'http.find_open_confirmation',
  sql`
    SELECT id
    FROM mail_addresses
    WHERE company_id = {company_id} AND id = {id} AND confirmation_number = {number}
      AND confirmed_at IS NULL
      AND confirmation_sent_at > {now}::timestamptz - make_interval(days => {valid_days}::int)
  `,
  { prepared: true },
);
