import { sql, statement } from '../../../data/sql';

export const INSERT_LOOKUP = statement(
  'ping_post.insert_lookup',
  sql`
    INSERT INTO inbound_webhook_lookups (vanity_uri, company_id, inbound_webhook_id)
    VALUES ({vanity_uri}, {company_id}, {inbound_webhook_id})
    ON CONFLICT (vanity_uri) DO NOTHING
    RETURNING vanity_uri`,
  { prepared: false },
);
