import type { Schemas } from '../../platform/contract/contract';
import {
  identify,
  toWhere,
  resolveReferences,
  buildReferenceProblem,
  type Reference,
  type Table,
} from '../../data/records';
import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { HttpProblem } from '../../platform/errors';
import { insertDeliveries } from './insert-deliveries';
import { buildDelivery, openEvent, type ActiveWebhook, type OpenEvent } from './make-delivery';
import { maskEvents } from './mask-events';
import { DELETE_EVENTS, INSERT_MANUAL_EVENT } from './queries/events';
import { LOCK_WEBHOOK } from './queries/webhooks';
import { readEvents } from './read-events';

type Fields = Omit<Schemas['WebhookManualFireCreate'], 'time_zone'>;

/** A blank reference names no record. */
const isGiven = (reference: Reference | null | undefined): reference is Reference =>
  reference !== null && reference !== undefined && reference !== '';

interface Subject {
  lead_id: bigint | null;
  call_id: bigint | null;
  conversion_id: bigint | null;
}

/**
 * Fires a webhook: creates its record together with the delivery, and returns the id of the record.
 * Throws a 422 problem for missing or unknown references.
 */
export async function fireWebhook(
  tx: Db,
  { outgoing_webhook_id: reference, created_at, updated_at, ...about }: Fields,
  now: Date,
): Promise<bigint> {
  const outgoingWebhookId = await resolveWebhook(tx, reference);
  const subject = await resolveSubject(tx, about);
  const [webhook] = await tx.sql(LOCK_WEBHOOK, { id: outgoingWebhookId });
  const firedAt = created_at ? new Date(created_at) : now;
  const { conversion_id, ...columns } = subject;
  const { id } = await tx.prisma.webhookManualFire.create({
    data: {
      ...columns,
      name: webhook!.name,
      company_id: tx.company_id,
      outgoing_webhook_id: outgoingWebhookId,
      buyer_conversion_id: conversion_id,
      created_at: firedAt,
      updated_at: updated_at ? new Date(updated_at) : firedAt,
      user_updated_at: now,
    },
    select: { id: true },
  });
  const event = await readSubject(tx, { subject, webhook: webhook!, now });
  const delivery = buildDelivery(webhook!, event, uuidv7(now.getTime()));
  await insertDeliveries(tx, [{ ...delivery, webhook_manual_fire_id: String(id) }], now);
  return id;
}

async function resolveWebhook(tx: Db, reference: Reference | null | undefined): Promise<bigint> {
  const field = 'outgoing_webhook_id';
  if (!isGiven(reference))
    throw HttpProblem.field(field, 'missing_field', 'must be given: the webhook that is fired');
  return (await resolveReferences(tx, 'outgoing_webhooks', [reference], { field }))[0]!;
}

/** Reads the subject as an event, which is deleted before any other transaction sees it. */
async function readSubject(
  tx: Db,
  { subject, webhook, now }: { subject: Subject; webhook: ActiveWebhook; now: Date },
): Promise<OpenEvent> {
  const [inserted] = await tx.sql(INSERT_MANUAL_EVENT, { ...subject, now: now.toISOString() });
  const ids = [inserted!.id];
  const events = await readEvents(tx, ids);
  const [event] = webhook.maker_user_id === null ? events : await maskEvents(tx, webhook, events);
  await tx.sql(DELETE_EVENTS, { ids });
  if (!event)
    throw HttpProblem.field(
      'outgoing_webhook_id',
      'beyond_your_rights',
      'must not be the webhook of a user who does not see the records it would be fired about',
    );
  return openEvent(event);
}

async function resolveSubject(
  tx: Db,
  {
    lead_id,
    call_id,
    buyer_conversion_id,
  }: Pick<Fields, 'lead_id' | 'call_id' | 'buyer_conversion_id'>,
): Promise<Subject> {
  const find = async (table: Table, reference: Reference | null | undefined, field: string) =>
    isGiven(reference) ? (await resolveReferences(tx, table, [reference], { field }))[0]! : null;
  const subject = {
    lead_id: await find('leads', lead_id, 'lead_id'),
    call_id: await find('calls', call_id, 'call_id'),
    conversion_id: isGiven(buyer_conversion_id)
      ? await resolveConversion(tx, buyer_conversion_id)
      : null,
  };
  if (Object.values(subject).every((id) => id === null))
    throw HttpProblem.field(
      'lead_id',
      'missing_field',
      'must be given, or call_id, or buyer_conversion_id: what the webhook is fired about',
    );
  return subject;
}

async function resolveConversion(tx: Db, reference: Reference): Promise<bigint> {
  const identifier = identify(reference);
  const conversion =
    identifier && (await tx.prisma.conversion.findFirst({ where: toWhere(identifier) }));
  if (!conversion) throw buildReferenceProblem('buyer_conversion_id', [String(reference)]);
  return conversion.id;
}
