import { CHRONOLOGICAL } from '../../data/projection/list-statements';
import type { Projection } from '../../data/projection/projection';
import { buildReferenceConditions } from '../../data/records';
import type { Deps } from '../deps';
import type { WebhookToken } from '../../api/auth/webhook-tokens';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { createSourceToken, revokeSourceTokens } from './source-tokens';

export const projection = {
  schema: 'TrafficSourceToken',
  singular: 'traffic_source_token',
  plural: 'traffic_source_tokens',
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    id: true,
    legacy_id: 't.id',
    type: `'TrafficSourceToken'`,
    uuid: true,
    created_at: true,
    deleted_at: true,
    routes_show_path: `'/api/v1/traffic_source_tokens/' || t.id`,
    external_record_id: true,
    company_id: true,
    name: true,
    traffic_source_id: true,
    offer_id: true,
    schedule_id: true,
    inbound_webhook_id: true,
    lead_token: true,
  },
} as const satisfies Projection<
  'TrafficSourceToken',
  'traffic_source_token',
  'traffic_source_tokens'
>;

export const trafficSourceTokens = ({ clock, pepper, authenticator }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listTrafficSourceTokens: ({ query, db }) => {
      const filters = buildReferenceConditions(query, { traffic_source_id: 'traffic_sources' });
      return page(query, { db, now: clock(), projection, orders: CHRONOLOGICAL, filters });
    },

    showTrafficSourceToken: (call) => records.show(call),

    createTrafficSourceToken: (call) => {
      let webhookToken: WebhookToken | undefined;
      // The endpoint may be cached without the new token.
      call.db.afterCommit(authenticator.forgetTokens);
      return records.create(
        { ...call, query: {} },
        async (tx, fields: typeof call.body, now) => {
          const created = await createSourceToken(tx, fields, { pepper, now });
          ({ webhookToken } = created);
          return created.id;
        },
        () => (webhookToken ? { auth_token: webhookToken.token } : {}),
      );
    },

    revokeTrafficSourceToken: (call) => {
      call.db.afterCommit(authenticator.forgetTokens);
      return records.delete({ ...call, query: {} }, (tx, id, now) =>
        revokeSourceTokens(tx, { id }, now),
      );
    },
  } satisfies Partial<Handlers>;
};
