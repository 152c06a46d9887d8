import { contract, facets, type Schemas } from '../../platform/contract/contract';
import { findNotWhole } from '../../data/access/scope';
import { resolveReferences, type Table } from '../../data/records';
import { recordRoutingChange } from '../../data/routing-changes';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { COUNT_WEBHOOKS_OF_BUYERS, LOCK_BUYERS } from './queries/webhooks';
import { DEFAULTS, type WebhookFields } from './webhook-columns';

type OwnerType = Schemas['WebhookOwnerType'];

/** The record whose events a webhook receives; the company has no id here. */
export interface WebhookOwner {
  owner_type: OwnerType;
  owner_id: bigint | null;
}

const { properties } = facets(contract.document.components.schemas.OutgoingWebhookFields!);
const TABLES = properties.owner_id!['x-reference-by']!.tables as Record<
  Exclude<OwnerType, 'Company'>,
  Table
>;

const LIMITED_OWNER_TYPES: ReadonlySet<OwnerType> = new Set(['Buyer', 'BuyerGroup', 'Offer']);

/** Returns the owner of the webhook after the request, locked. Throws a 422 problem. */
export async function resolveOwner(
  db: Db,
  before: WebhookOwner | undefined,
  fields: Pick<WebhookFields, 'owner_id' | 'owner_type'>,
): Promise<WebhookOwner> {
  const ownerType = mergeOwnerType(before, fields);
  requireOwnType(db, ownerType);
  if (ownerType === 'Company') {
    if (fields.owner_id !== undefined && fields.owner_id !== null)
      throw HttpProblem.field(
        'owner_id',
        'conflicting_fields',
        'must be left out for the owner_type Company',
      );
    return { owner_type: ownerType, owner_id: null };
  }
  const idBefore = before?.owner_type === ownerType ? before.owner_id : null;
  if (fields.owner_id === undefined && idBefore !== null)
    return { owner_type: ownerType, owner_id: idBefore };
  if (fields.owner_id === undefined || fields.owner_id === null)
    throw HttpProblem.field(
      'owner_id',
      'missing_field',
      `must be given for the owner_type ${ownerType}`,
    );
  // The row of a buyer is written: it contains the number of its webhooks.
  const lock = ownerType === 'Buyer' ? 'UPDATE' : 'SHARE';
  const options = { field: 'owner_id', lock } as const;
  const [ownerId] = await resolveReferences(db, TABLES[ownerType], [fields.owner_id], options);
  await requireWholeOffer(db, ownerType, ownerId!);
  return { owner_type: ownerType, owner_id: ownerId! };
}

function requireOwnType({ accessScope }: Db, ownerType: OwnerType): void {
  if (accessScope && !LIMITED_OWNER_TYPES.has(ownerType))
    throw HttpProblem.field(
      'owner_type',
      'beyond_your_rights',
      'must be Buyer, BuyerGroup or Offer: your access is limited to the records of your teams',
    );
}

/**
 * Other buyers also pay for calls of an offer: only a caller who sees the whole offer may receive
 * all its events.
 */
async function requireWholeOffer(db: Db, ownerType: OwnerType, id: bigint): Promise<void> {
  if (ownerType !== 'Offer' || (await findNotWhole(db, 'offers', [String(id)])).length === 0)
    return;
  throw HttpProblem.field(
    'owner_id',
    'beyond_your_rights',
    'must be an offer of which you see everything: one of a team without buyers and groups.' +
      ' Use the owner_type Buyer or BuyerGroup for the calls of your own buyers',
  );
}

const mergeOwnerType = (
  before: WebhookOwner | undefined,
  fields: Pick<WebhookFields, 'owner_type'>,
): OwnerType =>
  fields.owner_type === undefined
    ? (before?.owner_type ?? DEFAULTS.owner_type)
    : (fields.owner_type ?? DEFAULTS.owner_type);

/**
 * Recounts the webhooks of the owners that are buyers. The webhook is locked before the buyers, and
 * these in the order of their ids.
 */
export async function countWebhooks(
  db: Db,
  owners: readonly { owner_type: string; owner_id: bigint | null }[],
): Promise<void> {
  const ids = owners.flatMap(({ owner_type, owner_id }) =>
    owner_type === 'Buyer' && owner_id !== null ? [owner_id] : [],
  );
  if (ids.length === 0) return;
  await db.sql(LOCK_BUYERS, { ids });
  await db.sql(COUNT_WEBHOOKS_OF_BUYERS, { ids });
  recordRoutingChange(db);
}
