import { findRecord, lockRecord, type Reference } from '../../data/records';
import type { Schemas } from '../../platform/contract/contract';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { noun } from '../../api/records/noun';
import { loadWriteReply } from '../../api/records/record';
import type { Db } from '../../data/db';
import { HttpProblem, notFound } from '../../platform/errors';
import { FIND_LOGGED_DELIVERY, REDELIVER_FAILED } from './queries/deliveries';
import { LOCK_WEBHOOK } from './queries/webhooks';
import { wakeQueue } from './queues';

const webhookLog = noun({
  schema: 'WebhookLog',
  singular: 'webhook_log',
  plural: 'webhook_logs',
  search: `lower(
    coalesce(t.trigger_type, '') || E'\\n' || coalesce(t.notes, '')
    || E'\\n' || left(coalesce(t.response_body, ''), 500)
  )`,
  joins: {
    w: 'JOIN outgoing_webhooks w ON w.company_id = t.company_id AND w.id = t.outgoing_webhook_id',
    d: `LEFT JOIN webhook_deliveries d ON d.company_id = t.company_id
      AND d.id = t.webhook_delivery_id`,
  },
  computed: {
    updated_at: 't.created_at',
    user_updated_at: 'NULL::timestamptz',
    routes_edit_path: 'NULL::text',
    external_record_id: 'NULL::text',
    name: 'w.name',
    owner_id: 'w.owner_id',
    owner_type: 'w.owner_type',
    request_method: 'coalesce(t.request_method, d.request_method)',
    request_url: 'coalesce(t.request_url, d.request_url)',
    request_body: 'coalesce(t.request_body, d.request_body)',
  },
  filters: {
    code: 't.code = {code}',
    success: { cases: { true: 't.success', false: 'NOT t.success' } },
  },
});
export const { projection } = webhookLog;

export const webhookLogs = (deps: Deps) =>
  ({
    ...webhookLog.handlers(deps),

    redeliverWebhookLog: async ({ db, params }) => {
      const now = deps.clock();
      const id = await db.transaction((tx) => redeliver(tx, params.id, now));
      return loadWriteReply({ db, now, projection }, id, { status: 202 });
    },

    redeliverFailedEvents: async ({ db, params, body = {} }) => {
      const now = deps.clock();
      const counts = await db.transaction((tx) => redeliverFailed(tx, params.id, body, now));
      return {
        ...{ status: 202, success: true as const, errors: {}, ...counts },
        metadata: { root: 'redelivered' },
      };
    },
  }) satisfies Partial<Handlers>;

/** More deliveries would keep the queue locked for too long. */
const MAX_REDELIVERED = 10_000;

/** Makes the failed deliveries of a webhook due. Throws 404 for a webhook that is deleted. */
async function redeliverFailed(
  db: Db,
  reference: Reference,
  { from, to }: Schemas['EventPeriod'],
  now: Date,
): Promise<{ redelivered: number; remaining: number }> {
  const id = String(await findRecord(db, 'outgoing_webhooks', reference));
  if ((await db.sql(LOCK_WEBHOOK, { id })).length === 0) throw notFound();
  const period = { from: from ?? null, to: to ?? null };
  const [counts] = await db.sql(REDELIVER_FAILED, {
    ...{ ...period, id, at_most: MAX_REDELIVERED, now: now.toISOString() },
  });
  if (counts!.redelivered > 0) await wakeQueue(db, id, now);
  return counts!;
}

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
  await wakeQueue(db, webhook_id!, now);
  await db.prisma.webhookDelivery.updateMany({
    where: { id: BigInt(delivery_id) },
    data: { status: 'waiting', attempts: 0, due_at: now },
  });
  return id;
}
