import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { findHold, type AwaitedHold } from '../db/call-holds';
import { loadCallFacts, type CallFacts } from '../db/call-facts';
import { findCall, insertCall, readCall, type CallRow } from '../db/calls';
import { gather } from '../db/gather';
import { routingCandidates } from '../db/offer-config';
import { turns } from '../db/turns';
import { candidateOf } from '../db/offer-buyers';
import type { Db } from '../db/tenant';
import { uuidv7 } from '../ids';
import { Refusal } from '../refusal';
import type { Candidate } from '../routing/eligibility';
import { newSeed, routeCall, routeFacts } from './route-call';

export interface IncomingCall {
  carrier: string;
  /** What whoever carries it calls it. */
  call_sid: string | null;
  /** E.164 without the plus; null when it is withheld. */
  caller_number: number | null;
  /** Where whoever carries it says the caller is. */
  caller_city?: string | null;
  number_called: number | null;
  number_id: string | null;
  /** Null when the number called forwards to a buyer. */
  offer_id: string | null;
  /** Whom the number called forwards to: with it there is no offer. */
  buyer_id: string | null;
  /** Null: that of the caller's lead. */
  traffic_source_id: string | null;
  sub_id: string | null;
  tokens: Record<string, unknown>;
}

export interface Begun {
  call: CallRow;
  /** Whether it has just begun; else it was told of before. */
  created: boolean;
}

/**
 * Takes a call: whom a seller has had held for it gets it; else who may have it is decided on what is known now, and its caps are taken up together with the record of the call, or not at all. The
 * same call told of twice, even at the same time, is one.
 */
export async function beginCall(db: Db, incoming: IncomingCall, now: Date): Promise<Begun> {
  const { carrier, call_sid, offer_id, buyer_id, caller_number } = incoming;
  const known = call_sid === null ? undefined : await findCall(db, carrier, call_sid);
  if (known) return { call: known, created: false };
  const { facts, candidates } = await (offer_id === null
    ? lookUpBuyer(db, buyer_id!, caller_number, now)
    : lookUp(db, { offer_id, number: caller_number, now }));
  if (!facts) throw Refusal.field('offer_id', `names no record of yours: ${offer_id}`);
  const held = caller_number === null || offer_id === null ? undefined : await findHold(db, { offer_id, caller_number, now });
  const row = rowOf(incoming, facts, { held, now });
  const asked = routeFacts(facts, { now, seed: newSeed(), caller_number, tokens: row.token_values, tried: new Set() });
  const id = await inTurn(db, () =>
    db.statements(async (tx) => {
      const made = await insertCall(tx, row, now);
      if (made === undefined) return undefined;
      await routeCall(
        tx,
        { id: made, round: 0, caller_number },
        { facts, candidates, asked, held, events: [{ event: 'started', details: { lead_id: row.lead_id } }] },
      );
      return made;
    }),
  );
  // Somebody has told of the same call a moment before.
  if (id === undefined) return { call: (await findCall(db, carrier, call_sid!))!, created: false };
  return { call: (await readCall(db, id))!, created: true };
}

interface Asking {
  offer_id: string;
  number: number | null;
  now: Date;
}
interface Found {
  facts: CallFacts | undefined;
  candidates: readonly Candidate[];
}

/** A number that forwards to a buyer has no offer: that buyer is the only candidate. */
async function lookUpBuyer(db: Db, buyer_id: string, number: number | null, now: Date): Promise<Found> {
  const facts = await loadCallFacts(db, { offer_id: null, number, now });
  return { facts, candidates: await candidateOf(db, buyer_id, number ?? 0, now) };
}

/** What is known of the callers of one offer; its buyers are read once for all who ask at the same time. */
async function lookUpAll(db: Db, all: readonly Asking[]): Promise<Found[]> {
  const facts = await Promise.all(all.map((each) => loadCallFacts(db, each)));
  const { offer_id, now } = all.at(-1)!;
  const spacing_seconds = facts.at(-1)?.offer.spacing_seconds ?? 0;
  const candidates = await routingCandidates(db, { offer_id, numbers: all.map(({ number }) => number), spacing_seconds, now });
  return all.map((_, n) => ({ facts: facts[n], candidates: candidates[n]! }));
}

/** Beside them requests of other kinds need connections too. */
const AT_ONCE = 8;
const of_companies = new WeakMap<Db, { turn: ReturnType<typeof turns>; lookUps: Map<string, (one: Asking) => Promise<Found>> }>();

function companyOf(db: Db) {
  const found = of_companies.get(db) ?? { turn: turns(AT_ONCE), lookUps: new Map() };
  of_companies.set(db, found);
  return found;
}

const inTurn = <T>(db: Db, work: () => Promise<T>): Promise<T> => companyOf(db).turn(work);

function lookUp(db: Db, one: Asking): Promise<Found> {
  const alone = async (each: Asking) => (await lookUpAll(db, [each]))[0]!;
  // Inside a transaction, that of an Idempotency-Key, nobody shares.
  if (!db.joint) return alone(one);
  const { lookUps } = companyOf(db);
  const { offer_id } = one;
  const known =
    lookUps.get(offer_id) ??
    gather({ run: (all: readonly Asking[]) => lookUpAll(db, all), alone, keyOf: (each) => each, isOfOne: () => false }, () => lookUps.delete(offer_id));
  lookUps.set(offer_id, known);
  return known(one);
}

function rowOf(
  { carrier, call_sid, caller_number, caller_city = null, number_called, number_id, offer_id, sub_id, traffic_source_id, tokens }: IncomingCall,
  { lead }: CallFacts,
  { held, now }: { held: AwaitedHold | undefined; now: Date },
) {
  return {
    uuid: uuidv7(now.getTime()),
    carrier,
    carrier_call_id: call_sid,
    caller_number,
    caller_country: caller_number === null ? null : (parsePhoneNumberFromString(`+${caller_number}`)?.country ?? null),
    caller_city,
    number_called,
    number_id,
    offer_id: offer_id === null ? null : Number(offer_id),
    lead_id: lead?.id ?? null,
    schedule_id: lead?.schedule_id ?? null,
    // Who has sold the call knows best where it comes from.
    traffic_source_id: held?.traffic_source_id ?? (traffic_source_id === null ? (lead?.traffic_source_id ?? null) : Number(traffic_source_id)),
    sub_id: sub_id ?? held?.sub_id ?? lead?.sub_id ?? null,
    contact_field_type: lead?.contact_field_type ?? null,
    token_values: { ...lead?.data, ...held?.token_values, ...tokens },
  };
}
