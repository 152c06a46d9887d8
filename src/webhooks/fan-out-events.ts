import { forgetEvents, oldestEvents, readEvents } from './queries/events';
import {
  insertDeliveries,
  listeningWebhooks,
  type ListeningWebhook,
  type NewDelivery,
} from './queries/deliveries';
import type { Statements } from '../db/tenant';
import type { Deps } from '../deps';
import { uuidv7 } from '../db/uuid';
import { deliveryOf, isTold, openEvent, type OpenEvent } from './make-delivery';
import { shownHeaders } from '../egress/request-template';

type Context = Pick<Deps, 'database' | 'tenants' | 'clock' | 'log'>;

/** Events that are made deliveries of in one transaction. */
const AT_ONCE = 200;

/** Companies of which something has happened; those in between are passed over. */
const COMPANIES = `WITH RECURSIVE x AS ((SELECT company_id FROM webhook_events ORDER BY company_id LIMIT 1)
    UNION ALL SELECT (SELECT e.company_id FROM webhook_events e WHERE e.company_id > x.company_id ORDER BY e.company_id LIMIT 1) FROM x WHERE x.company_id IS NOT NULL)
  SELECT company_id::text FROM x WHERE company_id IS NOT NULL`;

/** Makes deliveries of what has happened, in its order, each event once; answers how many events there were. One process at a time does it for a company. */
export async function fanOutWebhookEvents(context: Context): Promise<number> {
  const { rows } = await context.database.pool.query<{ company_id: string }>(COMPANIES);
  let all = 0;
  for (const { company_id } of rows)
    all += await context.tenants.of(BigInt(company_id)).statements((db) => fanOut(db, context));
  return all;
}

async function fanOut(db: Statements, { clock, log }: Context): Promise<number> {
  const name = `webhook events/${db.company_id}`;
  const [lock] = await db.query<{ mine: boolean }>({
    text: 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 4111)) AS mine',
    values: [name],
  });
  if (!lock!.mine) return 0;
  const ids = await oldestEvents(db, AT_ONCE);
  if (ids.length === 0) return 0;
  const events = await readEvents(db, ids);
  const webhooks = await listeningWebhooks(db, [...new Set(events.map(({ kind }) => kind))]);
  const now = clock();
  const deliveries = events
    .map(openEvent)
    .flatMap((event) => webhooks.flatMap((webhook) => made(webhook, event, { log, now })));
  await insertDeliveries(db, deliveries, {
    now,
    newUuid: () => uuidv7(now.getTime()),
    shown: shownHeaders,
  });
  await forgetEvents(db, ids);
  return ids.length;
}

/** One that cannot be made anything of must not keep all that follow it waiting for ever. */
function made(
  webhook: ListeningWebhook,
  event: OpenEvent,
  { log, now }: Pick<Deps, 'log'> & { now: Date },
): NewDelivery[] {
  try {
    return isTold(webhook, event) ? [deliveryOf(webhook, event, uuidv7(now.getTime()))] : [];
  } catch (error) {
    log.error(
      { err: error, outgoing_webhook_id: webhook.id, event: event.event.kind },
      'an event could not be made a delivery of: it is dropped',
    );
    return [];
  }
}
