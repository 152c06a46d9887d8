import { loadCallFacts, type CallFacts } from './queries/caller-facts';
import { batchers } from '../db/batcher';
import { keptConfig, type Source } from './offer-snapshot';
import { routingCandidates } from './candidates';
import type { Statements } from '../db/tenant';
import { readVetoWebhooks, type VetoWebhook } from './queries/pre-dial-webhooks';
import type { Candidate } from './engine/eligibility';

/** Who calls, and for whom. */
export interface Caller {
  source: Source;
  /** E.164 without the plus; null when it is withheld. */
  number: number | null;
  now: Date;
}

/** Everything that decides who gets a call. */
export interface Found {
  facts: CallFacts;
  candidates: readonly Candidate[];
  /** Who is to be asked before a buyer is dialed. */
  webhooks: readonly VetoWebhook[];
}

type Buyers = Pick<Found, 'candidates' | 'webhooks'>;

const buyersTogether = batchers<Caller, Buyers>();

/** Everything that decides who gets a call; undefined when there is no such offer. The buyers of an offer are read once for all who ask at the same time. */
export async function loadRouting(
  db: Statements & { joint?: unknown },
  caller: Caller,
): Promise<Found | undefined> {
  const { source, number, now } = caller;
  const offer_id = 'offer_id' in source ? source.offer_id : null;
  const run = async (all: readonly Caller[]): Promise<Buyers[]> => {
    const lists = await routingCandidates(db, {
      source,
      numbers: all.map((each) => each.number),
      now: all.at(-1)!.now,
    });
    // They are kept with the configuration that was read for it, unless that was more than is kept.
    const webhooks = keptConfig(db, source)?.webhooks ?? (await readVetoWebhooks(db));
    return lists.map((candidates) => ({ candidates, webhooks }));
  };
  // Inside a transaction nobody shares.
  const found = db.joint
    ? buyersTogether(db, JSON.stringify(source), () => ({ run, keyOf: (each) => each }))(caller)
    : run([caller]).then(([one]) => one!);
  const [facts, buyers] = await Promise.all([loadCallFacts(db, { offer_id, number, now }), found]);
  return facts && { facts, ...buyers };
}

/** Where the buyers of a call come from: its offer, or else the one buyer its number forwards to. */
export const sourceOf = ({
  offer_id,
  buyer_id,
}: {
  offer_id: string | number | null;
  buyer_id: string | number | null;
}): Source => (offer_id === null ? { buyer_id: String(buyer_id) } : { offer_id: String(offer_id) });
