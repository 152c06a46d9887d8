import type { Schemas } from '../../platform/contract/contract';
import type { Db, Statements } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import type { SellersEndpoint } from '../../api/auth/scheme';
import { reserveBuyers } from '../routing/reserve-buyers';
import {
  runCheckedTransaction,
  isCheckRequired,
  type PreDialCheckRequired,
  type PreDialState,
} from '../routing/pre-dial';
import {
  computeHoldEnd,
  INVALID,
  isDialable,
  toNoBuyer,
  openMarket,
  PAUSED,
  type NoBuyer,
} from './market';
import { limitHolds } from './limit-holds';
import { buildAnswer, ping, type PingReply, type PingResult } from './ping';
import {
  findForwardingNumber,
  loadBids,
  lockPing,
  saveAnswer,
  type PingRow,
  type PostAnswer,
} from './ping-record';
import { readRequest, type SellersRequest } from './read-request';
import { confirmReservation, insertReservation, releaseReservation } from '../routing/reservations';

export type PostReply = Schemas['PostReply'];

interface Posting {
  webhook: SellersEndpoint;
  /** The network of the sender. */
  from: string;
  max_legs: number;
  now: Date;
  preDial: PreDialState;
}

/**
 * Returns the number to which a call is to be forwarded. What the ping has reserved is certain
 * until it expires; after that a buyer is chosen again, among those that the `ping_id` stands for,
 * and reserved. The same post gets the same answer again. Has no effect when the result is that
 * bidders must be asked first.
 */
export async function postPing(
  db: Db,
  body: Schemas['PostRequest'],
  { webhook, from, max_legs, now, preDial }: Posting,
): Promise<PostReply | PreDialCheckRequired> {
  const request = await readRequest(db, body, webhook);
  const { ping_id } = request;
  if (ping_id === undefined) {
    const sold = await ping(db, body, { webhook, from, max_legs, now, preDial, posted: true });
    return isCheckRequired(sold) ? sold : replyTo(sold);
  }
  if (request.caller_number === null) return buildRejected(INVALID);
  const reference = parse(ping_id);
  return runCheckedTransaction<PostReply>(db, async (tx) => {
    const pinged = reference && (await lockPing(tx, reference.uuid, request.endpoint.id));
    if (
      !pinged ||
      (reference.buyer_id !== undefined && !pinged.buyer_ids.includes(reference.buyer_id))
    )
      throw HttpProblem.field(
        'ping_id',
        'unknown_reference',
        `names no ping of this endpoint: ${ping_id}`,
      );
    if (request.caller_number !== undefined && request.caller_number !== pinged.caller_number)
      throw HttpProblem.field(
        'caller_id',
        'conflicting_fields',
        'is not that of the ping; it may be left out if ping_id is given',
      );
    const before = pinged.answer;
    const isValid = before && (pinged.call_uuid !== null || new Date(before.expires_at) > now);
    if (isValid && before.ping_id === ping_id) return buildAccepted(before, pinged.call_uuid);
    const allowed = reference.buyer_id === undefined ? pinged.buyer_ids : [reference.buyer_id];
    const post = { request, pinged, ping_id, allowed, from, max_legs, now, preDial };
    const answer = await answerPost(tx, post);
    if (isCheckRequired(answer)) return answer;
    if ('status' in answer) return buildRejected(answer);
    const { tokens, sub_id } = request;
    await saveAnswer(tx, pinged.id, { answer, tokens, sub_id });
    return buildAccepted(answer, null);
  });
}

export async function pingAndPost(
  db: Db,
  body: Schemas['PingRequest'],
  posting: Posting,
): Promise<(PingReply & PostReply) | PreDialCheckRequired> {
  const sold = await ping(db, body, { ...posting, posted: true });
  if (isCheckRequired(sold)) return sold;
  return { ...sold.reply, ...replyTo(sold) };
}

const replyTo = ({ reply: { status, errors }, answer }: PingResult): PostReply =>
  answer
    ? buildAccepted(answer, null)
    : buildRejected({ status: status as NoBuyer['status'], message: errors[0]! });

const PING_ID = /^([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?:-([1-9]\d{0,14}))?$/i;

/** A ping, or one of its buyers. */
function parse(pingId: string): { uuid: string; buyer_id: number | undefined } | undefined {
  const [, uuid, buyerId] = PING_ID.exec(pingId) ?? [];
  if (uuid === undefined) return undefined;
  return {
    uuid: uuid.toLowerCase(),
    buyer_id: buyerId === undefined ? undefined : Number(buyerId),
  };
}

interface Post {
  request: SellersRequest;
  pinged: PingRow;
  ping_id: string;
  allowed: readonly number[];
  from: string;
  max_legs: number;
  now: Date;
  preDial: PreDialState;
}

/** Answers from the reservation of the ping, or from a new one. */
async function answerPost(
  db: Statements,
  post: Post,
): Promise<PostAnswer | NoBuyer | PreDialCheckRequired> {
  const { request, pinged, ping_id, allowed, now } = post;
  const number = await findForwardingNumber(db, pinged);
  const expiresAt = new Date(now.getTime() + request.endpoint.hold_seconds * 1000);
  const reserved = await confirmReservation(db, {
    ping_id: pinged.id,
    allowed,
    direct: number === null,
    now,
    expires_at: expiresAt,
  });
  if (reserved) {
    const { show_buyer_names, may_name } = request.endpoint;
    const terms = { ...pinged, show_buyer_names, may_name };
    const bids = await loadBids(db, reserved.buyer_ids, { terms, now });
    const bid = bids.get(reserved.buyer_ids.find((id) => allowed.includes(id))!)!;
    if (number !== null || isDialable(bid.number))
      return buildAnswer(bid, {
        ping_id,
        number,
        expires_at: reserved.expires_at,
        warnings: [],
      });
  }
  return request.endpoint.paused ? PAUSED : chooseAgain(db, post, expiresAt);
}

async function chooseAgain(
  db: Statements,
  { request, pinged, ping_id, allowed, from, max_legs, now, preDial }: Post,
  holdEnds: Date,
): Promise<PostAnswer | NoBuyer | PreDialCheckRequired> {
  const { offer_id, caller_number } = pinged;
  const tokens = { ...pinged.token_values, ...request.tokens };
  const { sells_to } = request.endpoint;
  const sold = sells_to ? allowed.filter((id) => sells_to.includes(id)) : allowed;
  const { endpoint } = request;
  const { show_buyer_names, may_name } = endpoint;
  const names = { show_buyer_names, may_name };
  const sale = { ...pinged, ...names, max_legs, tokens, allowed: sold, preDial };
  const market = await openMarket(db, sale, now);
  if (isCheckRequired(market)) return market;
  if ('status' in market) return market;
  await limitHolds(db, { endpoint, from, caller_number, now, replaces: pinged.id });
  const chosen = await reserveBuyers(db, market, market.routingFacts);
  if (chosen.members.length === 0) return toNoBuyer(chosen);
  const { number } = market;
  const expiresAt = computeHoldEnd(market, chosen, holdEnds);
  await releaseReservation(db, pinged.id, now);
  await insertReservation(db, {
    ping_id: pinged.id,
    offer_id,
    caller_number,
    inbound_webhook_id: endpoint.id,
    remote_ip: from,
    chosen,
    posted: true,
    direct: number === null,
    now,
    expires_at: expiresAt,
  });
  const expiredAt = pinged.expires_at.toISOString();
  const warnings =
    pinged.expires_at <= now ? [`the ping expired at ${expiredAt}: a buyer was chosen again`] : [];
  const bid = market.bids.get(chosen.members[0]!.buyer.id)!;
  return buildAnswer(bid, { ping_id, number, expires_at: expiresAt, warnings });
}

/**
 * Members in a fixed order, though the database stores them in its own: a repeated answer is the
 * same text.
 */
const buildAccepted = (answer: PostAnswer, callUuid: string | null): PostReply => ({
  success: true,
  status: 'accepted',
  errors: [],
  warnings: answer.warnings,
  late: answer.late,
  ping_id: answer.ping_id,
  buyer_id: answer.buyer_id,
  user_buyer_id: answer.user_buyer_id,
  name: answer.name,
  bid_price: answer.bid_price,
  bid_duration: answer.bid_duration,
  forwarding_number: answer.forwarding_number,
  call_uuid: callUuid,
  expires_at: answer.expires_at,
});

const buildRejected = ({ status, message }: NoBuyer): PostReply => ({
  success: false,
  status,
  errors: [message],
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
});
