import type { Schemas } from '../../platform/contract/contract';
import type { Db, Statements } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import type { SellersEndpoint } from '../../api/auth/scheme';
import { orderChoices } from '../routing/engine/order';
import { reserveBuyers } from '../routing/reserve-buyers';
import { isCheckRequired, type PreDialCheckRequired, type PreDialState } from '../routing/pre-dial';
import {
  computeHoldEnd,
  INVALID,
  toNoBuyer,
  openMarket,
  PAUSED,
  type Market,
  type NoBuyer,
} from './market';
import { limitHolds } from './limit-holds';
import { insertPing, type Bid, type PostAnswer } from './ping-record';
import { readRequest, requireCaller, type SellersRequest } from './read-request';
import { type ChosenBuyers } from '../routing/engine/reserved-choice';
import { insertReservation } from '../routing/reservations';

export type PingReply = Schemas['PingReply'];

export interface PingResult {
  reply: PingReply;
  /** Only for a post. */
  answer: PostAnswer | undefined;
}

interface PingOptions {
  webhook: SellersEndpoint;
  /** The network of the sender. */
  from: string;
  max_legs: number;
  now: Date;
  /** True if the seller forwards the call at once. */
  posted: boolean;
  preDial: PreDialState;
}

/**
 * Returns the buyers that would take a call, and reserves the first: its caps are reserved together
 * with the record of the reply, or not at all. Has no effect when the result is that bidders must
 * be asked first.
 */
export async function ping(
  db: Db,
  body: Schemas['PostRequest'],
  { webhook, from, max_legs, now, posted, preDial }: PingOptions,
): Promise<PingResult | PreDialCheckRequired> {
  const request = await readRequest(db, body, webhook);
  const callerNumber = requireCaller(request);
  if (request.endpoint.paused) return buildNoSale(PAUSED);
  if (callerNumber === null) return buildNoSale(INVALID);
  const { offer_id, show_buyer_names, may_name, sells_to } = request.endpoint;
  const names = { show_buyer_names, may_name };
  const sold = { ...request, caller_number: callerNumber, offer_id, max_legs, preDial, ...names };
  const sale = { ...sold, ...(sells_to && { allowed: sells_to }) };
  const market = await openMarket(db, sale, now);
  if (isCheckRequired(market)) return market;
  if ('status' in market) return buildNoSale(market);
  return db.statements(async (tx) => {
    await limitHolds(tx, { endpoint: request.endpoint, from, caller_number: callerNumber, now });
    const chosen = await reserveBuyers(tx, market, market.routingFacts);
    if (chosen.members.length === 0) return buildNoSale(toNoBuyer(chosen));
    return record(
      tx,
      { market, chosen, request, caller_number: callerNumber },
      { from, now, posted },
    );
  });
}

interface Choice {
  market: Market;
  chosen: ChosenBuyers;
  request: SellersRequest;
  caller_number: number;
}

async function record(
  db: Statements,
  { market, chosen, request, caller_number }: Choice,
  { from, now, posted }: Pick<PingOptions, 'from' | 'now' | 'posted'>,
): Promise<PingResult> {
  const { endpoint, tokens, traffic_source_id, sub_id } = request;
  const { number } = market;
  const uuid = uuidv7(now.getTime());
  const holdEnds = new Date(now.getTime() + endpoint.hold_seconds * 1000);
  const expiresAt = computeHoldEnd(market, chosen, holdEnds);
  const buyers = listBuyers(market, chosen, { uuid, expires_at: expiresAt });
  const bid = market.bids.get(chosen.members[0]!.buyer.id)!;
  const answer = posted
    ? buildAnswer(bid, { ping_id: uuid, number, expires_at: expiresAt, warnings: [] })
    : undefined;
  const common = { offer_id: endpoint.offer_id, caller_number, now, expires_at: expiresAt };
  const pingId = await insertPing(db, {
    ...common,
    uuid,
    inbound_webhook_id: endpoint.id,
    traffic_source_id,
    sub_id,
    token_values: tokens,
    buyer_ids: buyers.map(({ buyer_id }) => buyer_id),
    answer: answer ?? null,
  });
  const direct = posted && number === null;
  const at = { inbound_webhook_id: endpoint.id, remote_ip: from };
  await insertReservation(db, { ...common, ...at, ping_id: pingId, chosen, posted, direct });
  return { reply: buildReply(buyers, { uuid, expires_at: expiresAt }), answer };
}

interface Identity {
  uuid: string;
  expires_at: Date;
}

/**
 * The buyers that could take the call, each once, in the order in which they are tried; the first
 * ones are reserved.
 */
function listBuyers(
  { bids }: Market,
  { evaluation, members }: ChosenBuyers,
  { uuid, expires_at }: Identity,
): PingReply['buyers'] {
  const otherMembers = orderChoices(evaluation)
    .slice(1)
    .flatMap((choice) => choice.members);
  return [...members, ...otherMembers].map(({ buyer: { id } }, index) => {
    const bid = bids.get(id);
    const { bid_price = 0, bid_duration = null } = bid ?? {};
    return {
      ping_id: `${uuid}-${id}`,
      buyer_id: id,
      user_buyer_id: bid?.user_buyer_id ?? null,
      name: bid?.name ?? null,
      bid_price,
      bid_duration,
      held: index < members.length,
      expires_at: expires_at.toISOString(),
    };
  });
}

const METADATA = { root: 'buyers' };

function buildReply(buyers: PingReply['buyers'], { uuid, expires_at }: Identity): PingReply {
  return {
    success: true,
    status: 'accepted',
    errors: [],
    buyers,
    try_all_buyers_ping_id: uuid,
    bid_price: Math.max(...buyers.map((buyer) => buyer.bid_price)),
    expires_at: expires_at.toISOString(),
    metadata: METADATA,
  };
}

function buildNoSale({ status, message }: NoBuyer): PingResult {
  const reply: PingReply = {
    success: false,
    status,
    errors: [message],
    buyers: [],
    try_all_buyers_ping_id: null,
    bid_price: null,
    expires_at: null,
    metadata: METADATA,
  };
  return { reply, answer: undefined };
}

interface AnswerTerms {
  ping_id: string;
  /** Null: the buyer's own number. */
  number: string | null;
  expires_at: Date;
  warnings: string[];
}

export function buildAnswer(
  { number: buyerNumber, ...bid }: Bid,
  { ping_id, number, expires_at, warnings }: AnswerTerms,
): PostAnswer {
  const { buyer_id, user_buyer_id, name, bid_price, bid_duration } = bid;
  return {
    buyer_id,
    user_buyer_id,
    name,
    bid_price,
    bid_duration,
    ping_id,
    forwarding_number: number ?? buyerNumber!,
    expires_at: expires_at.toISOString(),
    late: warnings.length > 0,
    warnings,
  };
}
