import { sql, statement } from '../../../data/sql';

export const FIND_INBOUND_WEBHOOK = statement(
  'http.find_inbound_webhook',
  sql`
    SELECT
      lookup.company_id, lookup.inbound_webhook_id AS id, company.country,
      webhook.auth_token_digest AS digest,
      coalesce(
        (
          SELECT json_agg(
            json_build_object(
              'digest', encode(k.auth_token_digest, 'hex'),
              'traffic_source_id', k.traffic_source_id
            )
            ORDER BY k.id
          )
          FROM traffic_source_tokens k
          WHERE k.company_id = webhook.company_id
            AND k.inbound_webhook_id = webhook.id
            AND k.deleted_at IS NULL
        ),
        '[]'
      ) AS of_sources
    FROM inbound_webhook_lookups lookup
    JOIN companies company ON company.id = lookup.company_id AND company.removed_at IS NULL
    JOIN inbound_webhooks webhook
      ON webhook.company_id = lookup.company_id AND webhook.id = lookup.inbound_webhook_id
    WHERE lookup.vanity_uri = {vanity_uri}
  `,
  { prepared: true },
).returning<{ of_sources: { digest: string; traffic_source_id: number }[] }>();
