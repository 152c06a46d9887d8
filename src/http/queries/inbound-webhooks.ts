import { sql, statement } from '../../db/sql';

export const FIND_INBOUND_WEBHOOK = statement(
  'http.find_inbound_webhook',
  sql`
    SELECT
      lookup.company_id, lookup.inbound_webhook_id AS id, company.country,
      webhook.auth_token_digest AS digest
    FROM inbound_webhook_lookups lookup
    JOIN companies company ON company.id = lookup.company_id
    JOIN inbound_webhooks webhook
      ON webhook.company_id = lookup.company_id AND webhook.id = lookup.inbound_webhook_id
    WHERE lookup.vanity_uri = {vanity_uri}
  `,
  { prepared: true },
);
