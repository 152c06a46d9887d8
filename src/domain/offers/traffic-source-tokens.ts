import type { Deps } from '../deps';
import { noun } from '../../api/records/noun';
import { createSourceToken, revokeSourceTokens } from './source-tokens';

const trafficSourceToken = noun({
  schema: 'TrafficSourceToken',
  singular: 'traffic_source_token',
  plural: 'traffic_source_tokens',
  names: { delete: 'revokeTrafficSourceToken' },
  search: ['name', 'external_record_id'],
});

export const trafficSourceTokens = (deps: Deps) => {
  const { pepper, authenticator } = deps;
  return trafficSourceToken.handlers(deps, {
    insert: async ({ tx, fields, now, extra }) => {
      const { id, webhookToken } = await createSourceToken(tx, fields, { pepper, now });
      if (webhookToken) extra.auth_token = webhookToken.token;
      // The endpoint may be cached without the new token.
      tx.afterCommit(authenticator.forgetTokens);
      return id;
    },
    deletion: {
      remove: async ({ tx, id, now }) => {
        await revokeSourceTokens(tx, { id }, now);
        tx.afterCommit(authenticator.forgetTokens);
      },
    },
  });
};
