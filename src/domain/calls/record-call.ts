import type { HeldSlot } from '../caps/caps';
import type { Db } from '../../data/db';
import { toUsagesJson, type CapUsage } from '../routing/cap-usage';
import type { Basis } from '../routing/engine/basis';
import type { CandidateBid } from '../routing/engine/candidate';
import type { StoredDecision } from '../routing/engine/decision';
import type { DialBuyer } from '../routing/engine/instruction';
import type { AttemptStatus } from '../routing/engine/progress';
import type { BuyerChoice, NoRoom } from '../routing/reserve-buyers';
import { BEGIN_CALLS } from './queries/begin-calls';
import { INSERT_EVENT, START_ROUND } from './queries/record-call';

export interface NewCall {
  uuid: string;
  carrier: string;
  carrier_call_id: string | null;
  caller_number: number | null;
  caller_country: string | null;
  caller_city: string | null;
  caller_state: string | null;
  caller_zip: string | null;
  number_called: number | null;
  number_id: string | null;
  offer_id: number | null;
  lead_id: number | null;
  schedule_id: number | null;
  traffic_source_id: number | null;
  sub_id: string | null;
  contact_field_type: string | null;
  token_values: Record<string, unknown>;
}

export interface NewEvent {
  event: string;
  message?: string | null;
  buyer_id?: number | null;
  details?: object | null;
}

export interface Round {
  round: number;
  now: Date;
  decision: StoredDecision;
  basis: Basis;
  dial: readonly DialBuyer[];
  bids: readonly (CandidateBid & { buyer_id: number })[];
  /** True if the carrier rings all of these buyers as long as the one that rings longest. */
  dials_as_one: boolean;
  /** The longest ring time of these buyers, in seconds. */
  longest: number;
  slots: readonly HeldSlot[];
  lease_until: Date;
  events: readonly NewEvent[];
  /** Columns of the call from now on; without a new buyer it keeps the present one. */
  set: {
    status: string;
    fallback: string | null;
    hangup_cause: string | null;
    ended_at: Date | null;
    abandoned?: boolean;
    buyer_id: number | null;
    connect_to: string | null;
  };
}

export interface StartCall {
  call: NewCall;
  round: Round;
}

/** For a call whose caps were reserved before. */
const NO_CAPS = {
  limit_ids: [],
  moved_calls: [],
  moved_connections: [],
  moved_conversions: [],
  moved_revenue: [],
  moved_slots: [],
  spacings: [],
  uses: '[]',
};

/** The caps of the call must be reserved. Returns its id. */
export async function recordNewCall(
  db: Pick<Db, 'sql'>,
  call: NewCall,
  round: Round,
): Promise<number> {
  const params = { now: round.now, ...NO_CAPS, ...toCallParams([{ call, round }]) };
  const [row] = await db.sql(BEGIN_CALLS, params);
  return row!.id;
}

/** Parameters of BEGIN_CALLS, except those of caps. */
export const toCallParams = (calls: readonly StartCall[]) => ({
  calls: JSON.stringify(calls.map(toNewCallRow)),
  ...toRoundParams(calls.map(({ round }) => round)),
});

function toNewCallRow({ call, round }: StartCall, index: number) {
  const { dials_as_one, longest, lease_until, set, decision } = round;
  return {
    ...call,
    ...set,
    index,
    lease_until,
    dials_as_one,
    longest,
    decision: withoutCaps(decision),
    caps: JSON.stringify(decision.caps),
  };
}

/** The JSON of a decision up to the value of `caps`, which the statement adds. */
function withoutCaps(decision: StoredDecision): string {
  return `${JSON.stringify({ ...decision, caps: undefined }).slice(0, -1)},"caps":`;
}

/** A round of a known call, with what ended the round before. */
export interface NextRound {
  call_id: number;
  /** Version of the call as it was read; null for a call that is locked already. */
  version: string | null;
  /** By uuid. */
  ended_attempts: ReadonlyMap<string, AttemptStatus>;
  recording_url?: string | null | undefined;
  outcome: Round;
  usages: readonly CapUsage[];
  source_hold: BuyerChoice['source_hold'];
  /** The source whose caps the transaction changes after the round; locked with the other caps. */
  source_id: number | null;
}

/**
 * Writes the next round of a call with the caps that it gives back and takes: all of it, or nothing
 * where caps have no room or the call is no longer as it was read.
 */
export async function startRound(
  db: Pick<Db, 'sql'>,
  { call_id, version, ended_attempts, recording_url, outcome, usages, ...source }: NextRound,
): Promise<{ kind: 'done' } | { kind: 'stale' } | NoRoom> {
  const { set, decision, round, now, lease_until, dials_as_one, longest } = outcome;
  const next = {
    ...{ round, lease_until, dials_as_one, longest },
    ...set,
    abandoned: set.abandoned ?? false,
    recording_url: recording_url ?? null,
    source_id: source.source_hold?.source_id ?? source.source_id,
    source_dollars: source.source_hold?.dollars ?? null,
  };
  const { dials, events, bases } = toRoundParams([outcome]);
  const [row] = await db.sql(START_ROUND, {
    ...{ call_id, version, now, dials, events, bases },
    ended_attempts: JSON.stringify([...ended_attempts].map(([uuid, status]) => ({ uuid, status }))),
    round: JSON.stringify(next),
    decision: withoutCaps(decision),
    usages: toUsagesJson(usages),
  });
  const { outcome: result, refused, held } = row!;
  if (result === 'full') return { kind: 'full', limit_ids: refused! };
  if (result === 'source_full') return { kind: 'source_full', held: held! };
  return { kind: result === 'stale' ? 'stale' : 'done' };
}

/** Parts of rounds, as JSON lists; `index` in each row is the index of its round. */
const toRoundParams = (rounds: readonly Round[]) => ({
  dials: toIndexedJson(rounds, ({ dial, bids }) =>
    dial.map((buyer) => ({ ...buyer, ...toBidColumns(bids, buyer), dial: buyer })),
  ),
  slots: toIndexedJson(rounds, ({ slots }) => slots),
  events: toIndexedJson(rounds, ({ events }) => events),
  bases: toBasesJson(rounds),
});

/** A later expiry of the bid changes nothing for the attempt. */
function toBidColumns(bids: Round['bids'], { buyer_id }: DialBuyer) {
  const bid = bids.find((candidateBid) => candidateBid.buyer_id === buyer_id);
  return bid && { bid: bid.amount, bid_duration: bid.duration };
}

const toIndexedJson = (
  rounds: readonly Round[],
  listRows: (round: Round) => readonly object[],
): string =>
  JSON.stringify(
    rounds.flatMap((round, index) => listRows(round).map((row, n) => ({ ...row, index, n }))),
  );

/** Only bases that the database may not have yet. */
function toBasesJson(rounds: readonly Round[]): string {
  const bases = new Map(
    rounds.flatMap(({ basis }) => (basis.is_stored ? [] : [[basis.hash, basis]])),
  );
  return `[${[...bases.values()].map(({ hash, text }) => `{"hash":"${hash}","basis":${text}}`)}]`;
}

export async function recordEvent(
  db: Pick<Db, 'sql'>,
  {
    event,
    message = null,
    buyer_id = null,
    details,
    call_id,
    now,
  }: NewEvent & {
    call_id: number;
    now: Date;
  },
): Promise<void> {
  await db.sql(INSERT_EVENT, {
    call_id,
    event,
    message,
    buyer_id,
    details: details ? JSON.stringify(details) : null,
    now,
  });
}
