import type { Schemas } from '../contract';
import {
  identify,
  resolveReferences,
  unknownReferences,
  type Reference,
  type Table,
} from '../db/records';
import type { Db } from '../db/tenant';
import { firedWebhook, insertDeliveries } from './queries/deliveries';
import { fireEvent, forgetEvents, readEvents, type Subject } from './queries/events';
import { uuidv7 } from '../db/uuid';
import { HttpProblem } from '../errors';
import { deliveryOf, openEvent } from './make-delivery';
import { shownHeaders } from '../egress/request-template';

type Fields = Omit<Schemas['WebhookManualFireCreate'], 'time_zone'>;

/** What names no record is blank. */
const given = (reference: Reference | null | undefined): reference is Reference =>
  reference !== null && reference !== undefined && reference !== '';

/** Fires a webhook: its record, and what is to be delivered, are made together. Answers the id of the record; refuses with 422. */
export async function fireWebhook(
  tx: Db,
  { outgoing_webhook_id: named, created_at, updated_at, ...about }: Fields,
  now: Date,
): Promise<bigint> {
  if (!given(named))
    throw HttpProblem.field('outgoing_webhook_id', 'must be given: the webhook that is fired');
  const [outgoing_webhook_id] = await resolveReferences(tx, 'outgoing_webhooks', [named], {
    field: 'outgoing_webhook_id',
  });
  const subject = await subjectOf(tx, about);
  const webhook = (await firedWebhook(tx, outgoing_webhook_id!))!;
  const made_at = created_at ? new Date(created_at) : now;
  const [name] = await tx.query<{ name: string }>({
    text: 'SELECT name FROM outgoing_webhooks WHERE company_id = $1 AND id = $2',
    values: [tx.company_id, outgoing_webhook_id],
  });
  const { conversion_id, ...own } = subject;
  const { id } = await tx.prisma.webhookManualFire.create({
    data: {
      ...own,
      ...name!,
      company_id: tx.company_id,
      outgoing_webhook_id: outgoing_webhook_id!,
      buyer_conversion_id: conversion_id,
      created_at: made_at,
      updated_at: updated_at ? new Date(updated_at) : made_at,
      user_updated_at: now,
    },
    select: { id: true },
  });
  const event_id = await fireEvent(tx, subject, now);
  const [event] = await readEvents(tx, [event_id]);
  await forgetEvents(tx, [event_id]);
  const newUuid = () => uuidv7(now.getTime());
  const delivery = {
    ...deliveryOf(webhook, openEvent(event!), newUuid()),
    webhook_manual_fire_id: String(id),
  };
  await insertDeliveries(tx, [delivery], { now, newUuid, shown: shownHeaders });
  return id;
}

async function subjectOf(
  tx: Db,
  {
    lead_id,
    call_id,
    buyer_conversion_id,
  }: Pick<Fields, 'lead_id' | 'call_id' | 'buyer_conversion_id'>,
): Promise<Subject> {
  const one = async (table: Table, reference: Reference | null | undefined, field: string) =>
    given(reference) ? (await resolveReferences(tx, table, [reference], { field }))[0]! : null;
  const subject = {
    lead_id: await one('leads', lead_id, 'lead_id'),
    call_id: await one('calls', call_id, 'call_id'),
    conversion_id: given(buyer_conversion_id) ? await conversionOf(tx, buyer_conversion_id) : null,
  };
  if (Object.values(subject).every((id) => id === null))
    throw HttpProblem.field(
      'lead_id',
      'must be given, or call_id, or buyer_conversion_id: what the webhook is fired about',
    );
  return subject;
}

/** A call that a buyer pays for: not what it has agreed to pay for. */
async function conversionOf(tx: Db, reference: Reference): Promise<bigint> {
  const named = identify(reference);
  const rows = named
    ? await tx.query<{ id: bigint }>({
        text: `SELECT id FROM conversions WHERE ${named.sql}`,
        values: [tx.company_id, named.value],
      })
    : [];
  if (!rows[0]) throw unknownReferences('buyer_conversion_id', [String(reference)]);
  return BigInt(rows[0].id);
}
