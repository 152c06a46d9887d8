import type { Schemas } from '../contract';
import {
  confirmReservation,
  insertReservation,
  releaseReservation,
} from '../routing/reservations';
import {
  answerPing,
  forwardingNumber,
  loadBids,
  lockPing,
  type KeptAnswer,
  type PingRow,
} from './queries/pings';
import type { Db, Statements } from '../db/tenant';
import type { SellersEndpoint } from '../http/auth/webhook-tokens';
import { HttpProblem } from '../errors';
import { reserveBuyers } from '../routing/reserve-buyers';
import {
  answerOf,
  INVALID,
  isDialable,
  nobodyOf,
  openMarket,
  PAUSED,
  ping,
  type Nothing,
  type PingReply,
} from './ping';
import { readRequest, type SellersRequest } from './read-request';

export type PostReply = Schemas['PostReply'];

interface Posting {
  webhook: SellersEndpoint;
  now: Date;
}

/**
 * Answers the number to forward a call to. What is held for the ping in time is had for certain; else a buyer is chosen anew among those that the
 * `ping_id` stands for, and held. The same post again is answered the same.
 */
export async function postPing(
  db: Db,
  sent: Schemas['PostRequest'],
  { webhook, now }: Posting,
): Promise<PostReply> {
  const request = await readRequest(db, sent, webhook);
  const { ping_id } = request;
  if (ping_id === undefined) {
    const { reply, answer } = await ping(db, sent, { webhook, now, posted: true });
    return answer
      ? accepted(answer, null)
      : refused({ status: reply.status as Nothing['status'], message: reply.errors[0]! });
  }
  if (request.caller_number === null) return refused(INVALID);
  const named = parse(ping_id);
  return db.statements(async (tx) => {
    const asked = named && (await lockPing(tx, named.uuid, request.endpoint.id));
    if (!asked || (named.buyer_id !== undefined && !asked.buyer_ids.includes(named.buyer_id)))
      throw HttpProblem.field('ping_id', `names no ping of this endpoint: ${ping_id}`);
    if (request.caller_number !== undefined && request.caller_number !== asked.caller_number)
      throw HttpProblem.field(
        'caller_id',
        'is not that of the ping; beside ping_id it may be left out',
      );
    const kept = asked.answer;
    if (kept?.ping_id === ping_id && (asked.call_uuid !== null || new Date(kept.expires_at) > now))
      return accepted(kept, asked.call_uuid);
    const allowed = named.buyer_id === undefined ? asked.buyer_ids : [named.buyer_id];
    const answer = await answered(tx, { request, asked, ping_id, allowed, now });
    if ('status' in answer) return refused(answer);
    await answerPing(tx, asked.id, { answer, tokens: request.tokens, sub_id: request.sub_id });
    return accepted(answer, null);
  });
}

/** A ping and its post in one. */
export async function pingAndPost(
  db: Db,
  sent: Schemas['PingRequest'],
  posting: Posting,
): Promise<PingReply & PostReply> {
  const { reply, answer } = await ping(db, sent, { ...posting, posted: true });
  const posted = answer
    ? accepted(answer, null)
    : refused({ status: reply.status as Nothing['status'], message: reply.errors[0]! });
  return { ...reply, ...posted };
}

const PING_ID = /^([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?:-([1-9]\d{0,14}))?$/i;

/** A ping, or one buyer of it. */
function parse(ping_id: string): { uuid: string; buyer_id: number | undefined } | undefined {
  const [, uuid, buyer_id] = PING_ID.exec(ping_id) ?? [];
  return uuid === undefined
    ? undefined
    : { uuid: uuid.toLowerCase(), buyer_id: buyer_id === undefined ? undefined : Number(buyer_id) };
}

interface Asked {
  request: SellersRequest;
  asked: PingRow;
  ping_id: string;
  /** Buyers that the `ping_id` stands for. */
  allowed: readonly number[];
  now: Date;
}

async function answered(db: Statements, post: Asked): Promise<KeptAnswer | Nothing> {
  const { request, asked, ping_id, allowed, now } = post;
  const number = await forwardingNumber(db, asked);
  const expires_at = new Date(now.getTime() + request.endpoint.hold_seconds * 1000);
  const held = await confirmReservation(db, {
    ping_id: asked.id,
    allowed,
    direct: number === null,
    now,
    expires_at,
  });
  if (held) {
    const bids = await loadBids(db, held.buyer_ids, now);
    const bid = held.buyer_ids.filter((id) => allowed.includes(id)).map((id) => bids.get(id)!)[0]!;
    if (number !== null || isDialable(bid.number))
      return answerOf(bid, { ping_id, number, expires_at, warnings: [] });
  }
  return request.endpoint.paused ? PAUSED : chosenAnew(db, post, expires_at);
}

async function chosenAnew(
  db: Statements,
  { request, asked, ping_id, allowed, now }: Asked,
  expires_at: Date,
): Promise<KeptAnswer | Nothing> {
  const { offer_id, caller_number } = asked;
  const market = await openMarket(
    db,
    { ...asked, tokens: { ...asked.token_values, ...request.tokens }, allowed },
    now,
  );
  if ('status' in market) return market;
  const chosen = await reserveBuyers(db, market.candidates, market.asked);
  if (chosen.members.length === 0) return nobodyOf(chosen);
  const { number } = market;
  await releaseReservation(db, asked.id, now);
  await insertReservation(db, {
    ping_id: asked.id,
    offer_id,
    caller_number,
    chosen,
    posted: true,
    direct: number === null,
    now,
    expires_at,
  });
  const warnings =
    asked.expires_at <= now
      ? [`the ping ran out at ${asked.expires_at.toISOString()}: a buyer was chosen anew`]
      : [];
  return answerOf(market.bids.get(chosen.members[0]!.buyer.id)!, {
    ping_id,
    number,
    expires_at,
    warnings,
  });
}

/** The members in one order, though the database keeps them in its own: the same answer is the same text. */
function accepted(kept: KeptAnswer, call_uuid: string | null): PostReply {
  const {
    warnings,
    late,
    ping_id,
    buyer_id,
    user_buyer_id,
    name,
    bid_price,
    bid_duration,
    forwarding_number,
    expires_at,
  } = kept;
  const buyer = { buyer_id, user_buyer_id, name, bid_price, bid_duration };
  return {
    success: true,
    status: 'accepted',
    errors: [],
    warnings,
    late,
    ping_id,
    ...buyer,
    forwarding_number,
    call_uuid,
    expires_at,
  };
}

const NOTHING = {
  warnings: [],
  late: false,
  ping_id: null,
  buyer_id: null,
  user_buyer_id: null,
  name: null,
  bid_price: null,
  bid_duration: null,
  forwarding_number: null,
  call_uuid: null,
  expires_at: null,
};

const refused = ({ status, message }: Nothing): PostReply => ({
  success: false,
  status,
  errors: [message],
  ...NOTHING,
});
