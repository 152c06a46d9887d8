import type { Statements } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import type { Deps } from '../deps';
import { forEach } from '../../data/jobs/each';
import { pauses } from '../../data/jobs/pauses';
import { combineNeeds } from '../../platform/tokens/filter-needs';
import { lookUpForFilters, type FilterDecision } from '../value-lists/look-up';
import { insertDeliveries, type NewDelivery } from './insert-deliveries';
import {
  matchesWebhook,
  buildDelivery,
  openEvent,
  passesWebhookFilters,
  type ActiveWebhook,
  type OpenEvent,
} from './make-delivery';
import {
  DELETE_EVENTS,
  LIST_COMPANIES_WITH_EVENTS,
  LIST_OLDEST_EVENTS,
  LOCK_EVENTS_OF_COMPANY,
} from './queries/events';
import { LOCK_ACTIVE_WEBHOOKS } from './queries/webhooks';
import { findActingWebhooks, maskEvents } from './mask-events';
import { readEvents, type WebhookEvent } from './read-events';

type Context = Pick<Deps, 'database' | 'tenants' | 'clock' | 'log'>;

/** Maximum number of events for which one transaction creates deliveries. */
const BATCH = 200;
/** Approximate maximum of deliveries in a transaction, which has at least those of one event. */
const MAX_DELIVERIES = 20_000;

/**
 * Creates the deliveries of events, each event once and in order, and returns how many events there
 * were. One process at a time does this for a company.
 */
export async function fanOutWebhookEvents(
  context: Context,
  maxDeliveries = MAX_DELIVERIES,
): Promise<number> {
  const companies = await context.database.sql(LIST_COMPANIES_WITH_EVENTS, {});
  let count = 0;
  await forEach(companies, async ({ company_id }) => {
    const db = context.tenants.of(BigInt(company_id));
    count += await db.statements((tx) => fanOut(tx, context, maxDeliveries));
  });
  return count;
}

async function fanOut(
  db: Statements,
  { clock, log }: Context,
  maxDeliveries: number,
): Promise<number> {
  const name = `webhook events/${db.company_id}`;
  const [lock] = await db.sql(LOCK_EVENTS_OF_COMPANY, { name });
  if (!lock!.is_locked) return 0;
  const oldest = (await db.sql(LIST_OLDEST_EVENTS, { max: BATCH })).map(({ id }) => id);
  if (oldest.length === 0) return 0;
  const all = await readEvents(db, oldest);
  const kinds = [...new Set(all.map(({ kind }) => kind))];
  const webhooks = await db.sql(LOCK_ACTIVE_WEBHOOKS, { kinds });
  const max = Math.max(1, Math.floor(maxDeliveries / Math.max(1, webhooks.length)));
  const [ids, events] = [oldest.slice(0, max), all.slice(0, max)];
  const now = clock();
  const ofCompany = webhooks.filter(({ maker_user_id }) => maker_user_id === null);
  const batches = [
    { webhooks: ofCompany, events },
    ...(await buildMaskedBatches(db, webhooks, events)),
  ];
  const deliveries: NewDelivery[] = [];
  const pause = pauses();
  for (const batch of batches) {
    const openEvents = batch.events.map(openEvent);
    await lookUpForFilters(db.sql, buildDecisions(db, batch.webhooks, openEvents));
    for (const event of openEvents) {
      const eventDeliveries = batch.webhooks.flatMap((webhook) =>
        buildDeliveries(webhook, event, { log, now }),
      );
      deliveries.push(...eventDeliveries);
      await pause();
    }
  }
  await insertDeliveries(db, deliveries, now);
  await db.sql(DELETE_EVENTS, { ids });
  return ids.length;
}

function buildDecisions(
  { company_id }: Statements,
  webhooks: readonly ActiveWebhook[],
  events: readonly OpenEvent[],
): FilterDecision[] {
  const all = combineNeeds(webhooks.map(({ token_filters }) => token_filters));
  if (all.lists.length === 0) return [];
  return events.map((event) => {
    const concerned = webhooks.filter((webhook) => matchesWebhook(webhook, event.event));
    const needs = combineNeeds(concerned.map(({ token_filters }) => token_filters));
    return { company_id, tokens: event.tokens, needs: { ...needs, user_traffic_source_id: false } };
  });
}

interface Batch {
  webhooks: ActiveWebhook[];
  events: WebhookEvent[];
}

/** The webhooks of each limited user, with the events as the user sees them. */
async function buildMaskedBatches(
  db: Statements,
  webhooks: readonly ActiveWebhook[],
  events: readonly WebhookEvent[],
): Promise<Batch[]> {
  const byMaker = new Map<string, ActiveWebhook[]>();
  for (const webhook of webhooks) {
    if (webhook.maker_user_id === null) continue;
    const key = `${webhook.maker_user_id}/${webhook.maker_team_ids.join()}`;
    byMaker.set(key, [...(byMaker.get(key) ?? []), webhook]);
  }
  const batches: Batch[] = [];
  for (const ofMaker of byMaker.values()) {
    const concerned = events.filter((event) =>
      ofMaker.some((webhook) => matchesWebhook(webhook, event)),
    );
    if (concerned.length === 0) continue;
    const maker = ofMaker[0]!;
    const acting = await findActingWebhooks(
      db,
      maker,
      ofMaker.map(({ id }) => id),
    );
    batches.push({
      webhooks: ofMaker.filter(({ id }) => acting.has(id)),
      events: acting.size > 0 ? await maskEvents(db, maker, concerned) : [],
    });
  }
  return batches;
}

/** At most one delivery. An event that fails is dropped: it must not block those that follow. */
function buildDeliveries(
  webhook: ActiveWebhook,
  event: OpenEvent,
  { log, now }: Pick<Deps, 'log'> & { now: Date },
): NewDelivery[] {
  try {
    return matchesWebhook(webhook, event.event) && passesWebhookFilters(webhook, event)
      ? [buildDelivery(webhook, event, uuidv7(now.getTime()))]
      : [];
  } catch (error) {
    log.error(
      { err: error, outgoing_webhook_id: webhook.id, event: event.event.kind },
      'could not make a delivery of an event: it is dropped',
    );
    return [];
  }
}
