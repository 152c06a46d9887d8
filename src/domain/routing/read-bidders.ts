import type { Db } from '../../data/db';
import type { RequestTemplate } from '../../platform/egress/request-template';
import type { Secrets } from '../../platform/egress/standard-webhooks';
import { BIDDERS } from './queries/bids';
import type { BidPaths } from './read-bid';

export interface Bidder extends Secrets {
  id: number;
  request: RequestTemplate;
  paths: BidPaths;
  timeout_ms: number;
}

const NO_BIDDERS: ReadonlyMap<number, Bidder> = new Map();

/** By id. Bidders without a `bid_request` are left out. */
export async function loadBidders(
  db: Pick<Db, 'sql'>,
  buyerIds: readonly number[],
): Promise<ReadonlyMap<number, Bidder>> {
  if (buyerIds.length === 0) return NO_BIDDERS;
  const rows = await db.sql(BIDDERS, { buyer_ids: buyerIds });
  return new Map(
    rows.map(({ request, paths, ...row }) => [
      row.id,
      { ...row, request: toTemplate(request), paths: paths ?? {} },
    ]),
  );
}

const toTemplate = ({
  url,
  method = 'post',
  headers = {},
  body,
}: Partial<RequestTemplate> & { url: string }): RequestTemplate => ({
  url,
  method,
  headers,
  body: body?.trim() ? body : null,
});
