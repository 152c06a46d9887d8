import type { Db } from '../db/tenant';
import type { RequestTemplate } from '../egress/request-template';
import type { Secrets } from '../egress/standard-webhooks';
import { BIDDERS } from './queries/bids';
import type { BidPlaces } from './read-bid';

export interface Bidder extends Secrets {
  id: number;
  request: RequestTemplate;
  places: BidPlaces;
  timeout_ms: number;
}

const NOBODY: ReadonlyMap<number, Bidder> = new Map();

/** By id. Bidders without a `bid_request` are left out. */
export async function readBidders(
  db: Pick<Db, 'sql'>,
  buyer_ids: readonly number[],
): Promise<ReadonlyMap<number, Bidder>> {
  if (buyer_ids.length === 0) return NOBODY;
  const rows = await db.sql(BIDDERS, { buyer_ids });
  return new Map(
    rows.map(({ request, places, ...row }) => [
      row.id,
      { ...row, request: templateOf(request), places: places ?? {} },
    ]),
  );
}

const templateOf = ({
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
