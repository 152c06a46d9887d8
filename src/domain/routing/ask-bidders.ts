import { cutText } from '../../platform/storable-text';
import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { fillTemplate } from '../../platform/egress/request-template';
import { deriveKeys, buildSignatureHeaders } from '../../platform/egress/standard-webhooks';
import { findDestinationFault, type DestinationPolicy } from '../people/destinations';
import type { CallToDial, Edges } from './ask-webhooks';
import { declinedFault, failedFault } from './engine/bids';
import { RECORD_BIDS } from './queries/bids';
import { readBid, type ReadBid } from './read-bid';
import type { Bidder, BidAnswer, BidQuestion } from './bids';

export interface BidReplies {
  answers: Map<number, BidAnswer>;
  /** Resolves when bids and failures are stored. A waiting call is decided before that. */
  recorded: Promise<unknown>;
}

type Connection = Pick<Db, 'sql'>;

/**
 * Asks all bidders at the same time, each within its own timeout. Stores their bids until they
 * expire, and which bidders failed. Bids for callers that withhold their number are not stored.
 */
export async function askBidders(
  db: Connection,
  { call, tokens, bidders, policy }: Omit<BidQuestion, 'needsStoredBids'>,
  edges: Edges,
): Promise<BidReplies> {
  const replies = await Promise.all(
    bidders.map(async ({ candidate: { id, number }, bidder }) => {
      const reply = await askBidder(bidder, { call, tokens }, edges);
      return { id, ...reply, answer: applyDestinationPolicy(reply, policy, number) };
    }),
  );
  const answers = new Map(
    replies.map(({ id, answer, duration_ms }) => [id, toBidAnswer(answer, duration_ms)]),
  );
  const recorded = recordBids(db, { call, replies, now: edges.clock() });
  // Awaited later; it may reject before that.
  recorded.catch(() => undefined);
  return { answers, recorded };
}

interface BidRecord {
  call: CallToDial;
  replies: readonly { id: number; uuid: string; answer: ReadBid }[];
  now: Date;
}

async function recordBids(
  db: Connection,
  { call: { caller_number, offer_id }, replies, now }: BidRecord,
): Promise<void> {
  const keptReplies = caller_number === null || offer_id === null ? [] : replies;
  const bids = keptReplies.flatMap(({ id, answer }) =>
    answer.outcome === 'bid' ? [{ buyer_id: id, ...answer.bid }] : [],
  );
  const failures = replies.flatMap(({ id, uuid, answer }) =>
    answer.outcome === 'failed' ? [{ buyer_id: id, uuid }] : [],
  );
  if (bids.length + failures.length === 0) return;
  const rows = { bids: JSON.stringify(bids), failures: JSON.stringify(failures) };
  await db.sql(RECORD_BIDS, { caller_number, offer_id, ...rows, now });
}

/** A bid with a forbidden destination counts as a failed answer. */
function applyDestinationPolicy(
  { answer, code }: { answer: ReadBid; code: number | null },
  policy: DestinationPolicy,
  ownNumber: string | null,
): ReadBid {
  if (answer.outcome !== 'bid' || answer.bid.number === null) return answer;
  const { number } = answer.bid;
  const refusal = findDestinationFault(number, policy, ownNumber);
  if (refusal === undefined) return answer;
  const fault = `the number ${cutText(number, MAX_SHOWN)} ${refusal}`;
  return { outcome: 'failed', fault, code };
}

const MAX_SHOWN = 100;

function toBidAnswer(answer: ReadBid, durationMs: number): BidAnswer {
  if (answer.outcome === 'bid') return { bid: answer.bid };
  return {
    fault:
      answer.outcome === 'declined' ? declinedFault(durationMs) : failedFault(answer, durationMs),
  };
}

async function askBidder(
  bidder: Bidder,
  { call, tokens }: Pick<BidQuestion, 'call' | 'tokens'>,
  { request, pepper, clock }: Edges,
): Promise<{ uuid: string; answer: ReadBid; code: number | null; duration_ms: number }> {
  const at = clock();
  const uuid = uuidv7(at.getTime());
  const filledRequest = fillTemplate(bidder.request, tokens, buildBody(bidder, call, at));
  const headers = {
    'User-Agent': 'Trunkline',
    ...filledRequest.headers,
    ...buildSignatureHeaders(deriveKeys(pepper, bidder, at), {
      id: uuid,
      at,
      body: filledRequest.body ?? '',
    }),
  };
  const answered = await request({
    ...filledRequest,
    headers,
    timeout_ms: bidder.timeout_ms,
    is_urgent: true,
  });
  const { duration_ms } = answered;
  const code = answered.ok ? answered.code : null;
  return { uuid, answer: readBid(answered, bidder.paths, clock()), code, duration_ms };
}

/** The default body. It does not name the seller of the call; a custom body can. */
const buildBody = (
  { id }: Bidder,
  { uuid, caller_number, offer_id }: CallToDial,
  at: Date,
): string =>
  JSON.stringify({
    type: 'bid_request',
    timestamp: at.toISOString(),
    data: {
      call: {
        uuid,
        caller_number: caller_number === null ? null : `+${caller_number}`,
        offer_id,
      },
      buyer: { id },
    },
  });
