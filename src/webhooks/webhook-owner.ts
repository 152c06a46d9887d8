import { contract, facets, type Schemas } from '../contract';
import { notWhole } from '../db/access-scope';
import { resolveReferences, type Table } from '../db/records';
import { recordRoutingChange } from '../db/routing-changes';
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

const { properties } = facets(contract.document.components.schemas.OutgoingWebhookFields!);
const TABLES = properties.owner_id!['x-reference-by']!.tables as Record<
  Exclude<OwnerType, 'Company'>,
  Table
>;

const OF_LIMITED: ReadonlySet<OwnerType> = new Set(['Buyer', 'BuyerGroup', 'Offer']);

/** Returns the owner of the webhook after the request, locked. Throws a 422 problem. */
export async function resolveOwner(
  db: Db,
  before: WebhookOwner | undefined,
  sent: Pick<WebhookFields, 'owner_id' | 'owner_type'>,
): Promise<WebhookOwner> {
  const owner_type = ownerTypeOf(before, sent);
  requireOwnType(db, owner_type);
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
  // The row of a buyer is written: it contains the number of its webhooks.
  const lock = owner_type === 'Buyer' ? 'UPDATE' : 'SHARE';
  const options = { field: 'owner_id', lock } as const;
  const [owner_id] = await resolveReferences(db, TABLES[owner_type], [sent.owner_id], options);
  await requireWholeOffer(db, owner_type, owner_id!);
  return { owner_type, owner_id: owner_id! };
}

function requireOwnType({ accessScope }: Db, owner_type: OwnerType): void {
  if (accessScope && !OF_LIMITED.has(owner_type))
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
async function requireWholeOffer(db: Db, owner_type: OwnerType, id: bigint): Promise<void> {
  if (owner_type !== 'Offer' || (await notWhole(db, 'offers', [String(id)])).length === 0) return;
  throw HttpProblem.field(
    'owner_id',
    'beyond_your_rights',
    'must be an offer of which you see everything: one of a team without buyers and groups.' +
      ' Use the owner_type Buyer or BuyerGroup for the calls of your own buyers',
  );
}

const ownerTypeOf = (
  before: WebhookOwner | undefined,
  sent: Pick<WebhookFields, 'owner_type'>,
): OwnerType =>
  sent.owner_type === undefined
    ? (before?.owner_type ?? DEFAULTS.owner_type)
    : (sent.owner_type ?? DEFAULTS.owner_type);

/**
 * Recounts the webhooks of the owners that are buyers. The webhook is locked before the buyers, and
 * these in the order of their ids.
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
  recordRoutingChange(db);
}
