import { buildReferenceConditions } from '../../data/records';
import { CHRONOLOGICAL } from '../../data/projection/list-statements';
import type { Projection } from '../../data/projection/projection';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { list } from '../../api/records/list';

export const projection = {
  schema: 'ChangeLog',
  singular: 'change_log',
  plural: 'change_logs',
  appendOnly: 'counted',
  fulltext: `lower(
    coalesce(t.record_type, '') || E'\\n' || coalesce(t.operation, '')
    || E'\\n' || coalesce(t.user_email, '') || E'\\n' || coalesce(t.credentials, '')
  )`,
  columns: {
    id: true,
    legacy_id: 't.id',
    type: `'ChangeLog'`,
    uuid: true,
    created_at: true,
    company_id: true,
    record_type: true,
    record_id: true,
    action: true,
    operation: true,
    changes: true,
    user_id: true,
    user_email: true,
    access_token_id: true,
    credentials: true,
    request_id: true,
    client_request_id: true,
    ip: true,
  },
} as const satisfies Projection<'ChangeLog', 'change_log', 'change_logs'>;

export const filters = {
  record_type: 't.record_type = {record_type}',
  record_id: 't.record_id = {record_id}::bigint',
  action: 't.action = {action}',
  request_id: 't.request_id = {request_id}',
  client_request_id: 't.client_request_id = {client_request_id}',
};

export const changeLogs = ({ clock }: Deps) =>
  ({
    listChangeLogs: ({ query, db }) => {
      const referenceFilters = buildReferenceConditions(query, {
        user_id: 'users',
        access_token_id: 'access_tokens',
      });
      return list(query, {
        db,
        now: clock(),
        projection,
        orders: CHRONOLOGICAL,
        filters: { ...filters, ...referenceFilters },
      });
    },
  }) satisfies Partial<Handlers>;
