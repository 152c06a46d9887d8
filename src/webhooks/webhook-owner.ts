import type { Schemas } from '../contract';
import { resolveReferences, type Table } from '../db/records';
import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';
import { COUNT_WEBHOOKS_OF_BUYERS, LOCK_BUYERS } from './queries/webhooks';
import { DEFAULTS, type WebhookFields } from './webhook-columns';

type OwnerType = Schemas['WebhookOwnerType'];

/** The record whose events a webhook receives; the company has no id here. */
export interface WebhookOwner {
  owner_type: OwnerType;
  owner_id: bigint | null;
}

const TABLES: Record<Exclude<OwnerType, 'Company'>, Table> = {
  Offer: 'offers',
  Buyer: 'buyers',
  BuyerGroup: 'buyer_groups',
  TrafficSource: 'traffic_sources',
  ScheduleAction: 'schedule_actions',
};

/** Returns the owner that a request gives a webhook, locked. Throws a 422 problem. */
export async function resolveOwner(
  db: Db,
  before: WebhookOwner | undefined,
  sent: Pick<WebhookFields, 'owner_id' | 'owner_type'>,
): Promise<WebhookOwner> {
  const owner_type = ownerTypeOf(before, sent);
  if (owner_type === 'Company') {
    if (sent.owner_id !== undefined && sent.owner_id !== null)
      throw HttpProblem.field(
        'owner_id',
        'conflicting_fields',
        'must be left out for the owner_type Company',
      );
    return { owner_type, owner_id: null };
  }
  const id_before = before?.owner_type === owner_type ? before.owner_id : null;
  if (sent.owner_id === undefined && id_before !== null) return { owner_type, owner_id: id_before };
  if (sent.owner_id === undefined || sent.owner_id === null)
    throw HttpProblem.field(
      'owner_id',
      'missing_field',
      `must be given for the owner_type ${owner_type}`,
    );
  // The row of a buyer is written: it has the number of its webhooks.
  const lock = owner_type === 'Buyer' ? 'UPDATE' : 'SHARE';
  const options = { field: 'owner_id', lock } as const;
  const [owner_id] = await resolveReferences(db, TABLES[owner_type], [sent.owner_id], options);
  return { owner_type, owner_id: owner_id! };
}

const ownerTypeOf = (
  before: WebhookOwner | undefined,
  sent: Pick<WebhookFields, 'owner_type'>,
): OwnerType =>
  sent.owner_type === undefined
    ? (before?.owner_type ?? DEFAULTS.owner_type)
    : (sent.owner_type ?? DEFAULTS.owner_type);

/**
 * Counts the webhooks of those owners that are buyers again. The webhook is locked before the
 * buyers, and these in the order of their ids.
 */
export async function countWebhooksOf(
  db: Db,
  owners: readonly { owner_type: string; owner_id: bigint | null }[],
): Promise<void> {
  const ids = owners.flatMap(({ owner_type, owner_id }) =>
    owner_type === 'Buyer' && owner_id !== null ? [owner_id] : [],
  );
  if (ids.length === 0) return;
  await db.sql(LOCK_BUYERS, { ids });
  await db.sql(COUNT_WEBHOOKS_OF_BUYERS, { ids });
}
