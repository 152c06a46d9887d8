import type { Schemas } from '../contract';
import { insertReservation } from '../routing/reservations';
import { forwardingNumber, insertPing, loadBids, type Bid, type KeptAnswer } from './queries/pings';
import type { Db, Statements } from '../db/tenant';
import type { SellersEndpoint } from '../http/auth/webhook-tokens';
import { uuidv7 } from '../db/uuid';
import { notFound } from '../errors';
import type { Candidate } from '../routing/engine/candidate';
import type { Chosen } from '../routing/engine/reserved-choice';
import type { RouteFacts } from '../routing/engine/route';
import type { Data } from '../tokens/lead-data';
import { reserveBuyers } from '../routing/reserve-buyers';
import { loadRouting } from '../routing/load-routing';
import { readRequest, requireCaller, type SellersRequest } from './read-request';
import { newSeed } from '../routing/seed';
import { routeFacts } from '../routing/route-facts';

export type PingReply = Schemas['PingReply'];
export type Status = Schemas['PingStatus'];

/** Why there is nothing to be had, as sellers read it. */
export interface Nothing {
  status: Exclude<Status, 'accepted'>;
  message: string;
}

/** Who could be sold a call, and what decides among them. */
export interface Market {
  candidates: Candidate[];
  asked: RouteFacts;
  bids: Map<number, Bid>;
  /** Of the company, for calls to be forwarded to; null when they must go to the buyer's own. */
  number: string | null;
}

/** What a market is made for. */
export interface Sale {
  offer_id: number;
  caller_number: number;
  traffic_source_id: number | null;
  tokens: Data;
  /** Only these buyers; all of the offer when absent. */
  allowed?: readonly number[];
}

/** A number that calls can be forwarded to from anywhere, unlike a SIP address. */
export const isDialable = (number: string | null): number is string =>
  number !== null && /^\+\d+$/.test(number);

/** Everything that decides who gets a seller's call, or why nobody does. */
export async function openMarket(
  db: Statements,
  { offer_id, caller_number, traffic_source_id, tokens, allowed }: Sale,
  now: Date,
): Promise<Market | Nothing> {
  const found = await loadRouting(db, {
    source: { offer_id: String(offer_id) },
    number: caller_number,
    now,
  });
  if (!found) throw notFound();
  const { facts } = found;
  const asked = routeFacts(facts, {
    now,
    seed: newSeed(),
    caller_number,
    tokens: { ...facts.lead?.data, ...tokens },
    tried: new Set(),
  });
  if (asked.refused)
    return { status: STATUSES[asked.refused.reason], message: asked.refused.message };
  const number = await forwardingNumber(db, { offer_id, traffic_source_id });
  const all = found.candidates.filter(({ id }) => allowed?.includes(id) ?? true);
  const candidates =
    number === null ? all.filter((candidate) => isDialable(candidate.number)) : all;
  const ids = candidates.map(({ id }) => id);
  return { candidates, asked, number, bids: await loadBids(db, ids, now) };
}

const STATUSES = {
  blacklisted: 'caller_number_blacklisted',
  offer_suppressed: 'caller_number_suppressed',
  offer_paused: 'offer_paused',
} as const;

/** Nobody can be had: for this caller never, or just now. */
export function nobodyOf({ routed }: Chosen): Nothing {
  const suppressed =
    routed.considered.length > 0 &&
    routed.considered.every(({ reason }) => reason === 'suppressed');
  return suppressed
    ? {
        status: 'caller_number_suppressed',
        message: "the caller's number is on a suppression list of every buyer",
      }
    : { status: 'no_buyer_available', message: 'no buyer can take the call now' };
}

export const INVALID: Nothing = {
  status: 'caller_number_invalid',
  message: 'caller_id is no possible telephone number',
};
export const PAUSED: Nothing = { status: 'webhook_paused', message: 'the endpoint is paused' };

/** What a ping, or a post without one, comes to. */
export interface Sold {
  reply: PingReply;
  /** Of a post. */
  answer: KeptAnswer | undefined;
}

interface Selling {
  webhook: SellersEndpoint;
  now: Date;
  /** Whether the seller forwards the call at once. */
  posted: boolean;
}

/** Answers who would take a call, and holds the first: its caps are taken up together with the record of what was told, or not at all. */
export async function ping(
  db: Db,
  sent: Schemas['PostRequest'],
  { webhook, now, posted }: Selling,
): Promise<Sold> {
  const request = await readRequest(db, sent, webhook);
  const caller_number = requireCaller(request);
  const nothing = (told: Nothing): Sold => ({ reply: nothingToSell(told), answer: undefined });
  if (request.endpoint.paused) return nothing(PAUSED);
  if (caller_number === null) return nothing(INVALID);
  const { offer_id } = request.endpoint;
  const market = await openMarket(db, { ...request, caller_number, offer_id }, now);
  if ('status' in market) return nothing(market);
  return db.statements(async (tx) => {
    const chosen = await reserveBuyers(tx, market.candidates, market.asked);
    if (chosen.members.length === 0) return nothing(nobodyOf(chosen));
    return keep(tx, { market, chosen, request, caller_number }, { now, posted });
  });
}

interface Choice {
  market: Market;
  chosen: Chosen;
  request: SellersRequest;
  caller_number: number;
}

async function keep(
  db: Statements,
  { market, chosen, request, caller_number }: Choice,
  { now, posted }: Omit<Selling, 'webhook'>,
): Promise<Sold> {
  const { endpoint, tokens, traffic_source_id, sub_id } = request;
  const uuid = uuidv7(now.getTime());
  const expires_at = new Date(now.getTime() + endpoint.hold_seconds * 1000);
  const buyers = buyersOf(market, chosen, { uuid, expires_at });
  const answer = posted
    ? answerOf(market.bids.get(chosen.members[0]!.buyer.id)!, {
        ping_id: uuid,
        number: market.number,
        expires_at,
        warnings: [],
      })
    : null;
  const common = { offer_id: endpoint.offer_id, caller_number, now, expires_at };
  const ping = {
    ...common,
    uuid,
    inbound_webhook_id: endpoint.id,
    traffic_source_id,
    sub_id,
    token_values: tokens,
    answer,
  };
  const ping_id = await insertPing(db, {
    ...ping,
    buyer_ids: buyers.map(({ buyer_id }) => buyer_id),
  });
  await insertReservation(db, {
    ...common,
    ping_id,
    chosen,
    posted,
    direct: posted && market.number === null,
  });
  return { reply: repliedWith(buyers, { uuid, expires_at }), answer: answer ?? undefined };
}

interface Named {
  uuid: string;
  expires_at: Date;
}

/** Those that could take the call, each once, in the order in which they are tried: of the first, who is held. */
function buyersOf(
  { bids }: Market,
  { routed, members }: Chosen,
  { uuid, expires_at }: Named,
): PingReply['buyers'] {
  const others = routed.choices.slice(1).flatMap((choice) => choice.members);
  return [...members, ...others].map(({ buyer: { id, name, user_buyer_id } }, place) => {
    const { bid_price = 0, bid_duration = null } = bids.get(id) ?? {};
    const held = place < members.length;
    return {
      ping_id: `${uuid}-${id}`,
      buyer_id: id,
      user_buyer_id,
      name,
      bid_price,
      bid_duration,
      held,
      expires_at: expires_at.toISOString(),
    };
  });
}

const METADATA = { root: 'buyers' };

function repliedWith(buyers: PingReply['buyers'], { uuid, expires_at }: Named): PingReply {
  const bid_price = Math.max(...buyers.map((buyer) => buyer.bid_price));
  const named = {
    try_all_buyers_ping_id: uuid,
    bid_price,
    expires_at: expires_at.toISOString(),
    metadata: METADATA,
  };
  return { success: true, status: 'accepted', errors: [], buyers, ...named };
}

function nothingToSell({ status, message }: Nothing): PingReply {
  return {
    success: false,
    status,
    errors: [message],
    buyers: [],
    try_all_buyers_ping_id: null,
    bid_price: null,
    expires_at: null,
    metadata: METADATA,
  };
}

interface Promised {
  ping_id: string;
  number: string | null;
  expires_at: Date;
  warnings: string[];
}

/** What a post is told of the buyer it has got. */
export function answerOf(
  { number: own, ...bid }: Bid,
  { ping_id, number, expires_at, warnings }: Promised,
): KeptAnswer {
  return {
    ...bid,
    ping_id,
    forwarding_number: number ?? own!,
    expires_at: expires_at.toISOString(),
    late: warnings.length > 0,
    warnings,
  };
}
