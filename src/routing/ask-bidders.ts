import { cutText } from '../storable-text';
import type { Db } from '../db/tenant';
import { uuidv7 } from '../db/uuid';
import { filled } from '../egress/request-template';
import { keysAt, signed } from '../egress/standard-webhooks';
import { findDestinationFault, type DestinationPolicy } from '../people/destinations';
import type { TokenSource } from '../tokens/substitute';
import type { CallToDial, Edges } from './ask-webhooks';
import type { BidAnswer } from './bidding';
import type { Candidate } from './engine/candidate';
import { declinedFault, failedFault } from './engine/bids';
import { RECORD_BIDS } from './queries/bids';
import { readBid, type ReadBid } from './read-bid';
import type { Bidder } from './read-bidders';

/** Bidders to ask about a call, all at once. */
export interface BidQuestion {
  call: CallToDial;
  tokens: TokenSource;
  bidders: { candidate: Candidate; bidder: Bidder }[];
  /** Where bids may send the call. */
  policy: DestinationPolicy;
  /** Whether what comes next reads the bids from where they are kept. */
  reads_kept: boolean;
}

/** What bidders have answered. */
export interface AskedBids {
  answers: Map<number, BidAnswer>;
  /** Once bids are kept, and failures recorded. A call that waits is decided meanwhile. */
  recorded: Promise<unknown>;
}

type Connection = Pick<Db, 'sql'>;

/**
 * Asks bidders at the same time, each within its own time, keeps their bids until they expire, and
 * records who failed. Of callers who withhold their number no bid is kept.
 */
export async function askBidders(
  db: Connection,
  { call, tokens, bidders, policy }: Omit<BidQuestion, 'reads_kept'>,
  edges: Edges,
): Promise<AskedBids> {
  const asked = await Promise.all(
    bidders.map(async ({ candidate: { id, number }, bidder }) => {
      const asked = await askOne(bidder, { call, tokens }, edges);
      return { id, ...asked, answer: checkDestination(asked, policy, number) };
    }),
  );
  const answers = new Map(
    asked.map(({ id, answer, duration_ms }) => [id, answerOf(answer, duration_ms)]),
  );
  const recorded = record(db, { call, asked, now: edges.clock() });
  // It is awaited later, and may fail before that.
  recorded.catch(() => undefined);
  return { answers, recorded };
}

interface Asked {
  call: CallToDial;
  asked: readonly { id: number; uuid: string; answer: ReadBid }[];
  now: Date;
}

async function record(
  db: Connection,
  { call: { caller_number, offer_id }, asked, now }: Asked,
): Promise<void> {
  const kept = caller_number === null || offer_id === null ? [] : asked;
  const bids = kept.flatMap(({ id, answer }) =>
    answer.outcome === 'bid' ? [{ buyer_id: id, ...answer.bid }] : [],
  );
  const failures = asked.flatMap(({ id, uuid, answer }) =>
    answer.outcome === 'failed' ? [{ buyer_id: id, uuid }] : [],
  );
  if (bids.length + failures.length === 0) return;
  const rows = { bids: JSON.stringify(bids), failures: JSON.stringify(failures) };
  await db.sql(RECORD_BIDS, { caller_number, offer_id, ...rows, now });
}

/** A bid that leads where calls must not go is an answer that was not agreed. */
function checkDestination(
  { answer, code }: { answer: ReadBid; code: number | null },
  policy: DestinationPolicy,
  own: string | null,
): ReadBid {
  if (answer.outcome !== 'bid' || answer.bid.number === null) return answer;
  const { number } = answer.bid;
  const refusal = findDestinationFault(number, policy, own);
  if (refusal === undefined) return answer;
  const fault = `the number ${cutText(number, MAX_SHOWN)} ${refusal}`;
  return { outcome: 'failed', fault, code };
}

const MAX_SHOWN = 100;

function answerOf(answer: ReadBid, duration_ms: number): BidAnswer {
  if (answer.outcome === 'bid') return { bid: answer.bid };
  return {
    fault:
      answer.outcome === 'declined' ? declinedFault(duration_ms) : failedFault(answer, duration_ms),
  };
}

async function askOne(
  bidder: Bidder,
  { call, tokens }: Pick<BidQuestion, 'call' | 'tokens'>,
  { request, pepper, clock }: Edges,
): Promise<{ uuid: string; answer: ReadBid; code: number | null; duration_ms: number }> {
  const at = clock();
  const uuid = uuidv7(at.getTime());
  const sent = filled(bidder.request, tokens, bodyOf(bidder, call, at));
  const headers = {
    'User-Agent': 'Trunkline',
    ...sent.headers,
    ...signed(keysAt(pepper, bidder, at), { id: uuid, at, body: sent.body ?? '' }),
  };
  const answered = await request({
    ...sent,
    headers,
    timeout_ms: bidder.timeout_ms,
    is_urgent: true,
  });
  const { duration_ms } = answered;
  const code = answered.ok ? answered.code : null;
  return { uuid, answer: readBid(answered, bidder.places, clock()), code, duration_ms };
}

/** What a bidder needs to bid; who sells the call is said only by those who write a body. */
const bodyOf = ({ id }: Bidder, { uuid, caller_number, offer_id }: CallToDial, at: Date): string =>
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
