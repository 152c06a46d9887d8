import { CHRONOLOGICAL } from '../../data/projection/list-statements';
import type { Projection } from '../../data/projection/projection';
import { buildReferenceConditions } from '../../data/records';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';

export const projection = {
  schema: 'LeadLog',
  singular: 'lead_log',
  plural: 'lead_logs',
  appendOnly: true,
  // Most logs of a submission have no message and are not in the index.
  fulltext: 'lower(t.message)',
  columns: {
    id: true,
    legacy_id: 't.id',
    type: `'LeadLog'`,
    created_at: true,
    company_id: true,
    lead_id: true,
    event: true,
    message: true,
    schedule_action_id: true,
    call_id: true,
    text_message_id: true,
    email_id: true,
    details: true,
  },
  // The number of buyers by reason is hidden from callers who do not see all buyers.
  limited: { message: String.raw`regexp_replace(t.message, '(would take the call): .*$', '\1')` },
} as const satisfies Projection<'LeadLog', 'lead_log', 'lead_logs'>;

export const leadLogs = ({ clock }: Deps) =>
  ({
    listLeadLogs: ({ query, db }) => {
      const filters = {
        ...buildReferenceConditions(query, { lead_id: 'leads' }),
        event: 't.event = {event}',
      };
      return page(query, { db, now: clock(), projection, orders: CHRONOLOGICAL, filters });
    },
  }) satisfies Partial<Handlers>;
