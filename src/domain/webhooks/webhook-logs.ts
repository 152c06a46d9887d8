import { CHRONOLOGICAL } from '../../data/projection/list-statements';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { buildReferenceConditions, lockRecord, type Reference } from '../../data/records';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { loadWriteReply } from '../../api/records/record';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { FIND_LOGGED_DELIVERY } from './queries/deliveries';
import { wakeQueue } from './queues';

export const projection = {
  schema: 'WebhookLog',
  singular: 'webhook_log',
  plural: 'webhook_logs',
  fulltext: `lower(
    coalesce(t.trigger_type, '') || E'\\n' || coalesce(t.notes, '')
    || E'\\n' || left(coalesce(t.response_body, ''), 500)
  )`,
  joins: {
    w: 'JOIN outgoing_webhooks w ON w.company_id = t.company_id AND w.id = t.outgoing_webhook_id',
    d: `LEFT JOIN webhook_deliveries d ON d.company_id = t.company_id
      AND d.id = t.webhook_delivery_id`,
  },
  columns: {
    ...commonColumns('webhook_logs'),
    type: `'WebhookLog'`,
    updated_at: 't.created_at',
    user_updated_at: 'NULL::timestamptz',
    routes_edit_path: 'NULL::text',
    external_record_id: 'NULL::text',
    name: 'w.name',
    owner_id: 'w.owner_id',
    owner_type: 'w.owner_type',
    outgoing_webhook_id: true,
    lead_id: true,
    call_id: true,
    buyer_id: true,
    offer_id: true,
    request_method: 'coalesce(t.request_method, d.request_method)',
    request_url: 'coalesce(t.request_url, d.request_url)',
    request_headers: true,
    request_body: 'coalesce(t.request_body, d.request_body)',
    code: true,
    response_headers: true,
    response_body: true,
    started_at: true,
    duration: true,
    notes: true,
    success: true,
    trigger_type: true,
    event_id: true,
    attempt: true,
    webhook_manual_fire_id: true,
  },
} as const satisfies Projection<'WebhookLog', 'webhook_log', 'webhook_logs'>;

const REFERENCES = {
  outgoing_webhook_id: 'outgoing_webhooks',
  lead_id: 'leads',
  call_id: 'calls',
  buyer_id: 'buyers',
  offer_id: 'offers',
} as const;
const FILTERS = {
  code: 't.code = {code}',
  success: { cases: { true: 't.success', false: 'NOT t.success' } },
};

export const webhookLogs = ({ clock }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listWebhookLogs: ({ query, db }) =>
      page(query, {
        db,
        now: clock(),
        projection,
        orders: CHRONOLOGICAL,
        filters: { ...buildReferenceConditions(query, REFERENCES), ...FILTERS },
      }),
    showWebhookLog: records.show,

    redeliverWebhookLog: async ({ db, params }) => {
      const now = clock();
      const id = await db.transaction((tx) => redeliver(tx, params.id, now));
      return loadWriteReply({ db, now, projection }, id, { status: 202 });
    },
  } satisfies Partial<Handlers>;
};

/**
 * Sends the delivery of a log again, and returns the id of the log. Throws a 404 problem for an
 * unknown log, and a 422 problem for a delivery that cannot be sent.
 */
async function redeliver(db: Db, reference: Reference, now: Date): Promise<bigint> {
  const { id } = await lockRecord(db, 'webhook_logs', reference);
  const [log] = await db.sql(FIND_LOGGED_DELIVERY, { id });
  const { delivery_id, webhook_id, is_webhook_deleted, is_sendable } = log!;
  const problem = (why: string) => HttpProblem.field('id', 'wrong_state', why);
  if (is_webhook_deleted) throw problem('is of a webhook that is deleted');
  if (delivery_id === null) throw problem('is of a pre-dial request, which is sent only once');
  if (!is_sendable)
    throw problem('is of an event whose body was larger than 20 kB: it was not stored');
  await db.prisma.webhookDelivery.updateMany({
    where: { id: BigInt(delivery_id) },
    data: { status: 'waiting', attempts: 0, due_at: now },
  });
  await wakeQueue(db, webhook_id!, now);
  return id;
}
