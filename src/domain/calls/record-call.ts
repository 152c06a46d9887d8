import type { HeldSlot } from '../caps/caps';
import type { FullCaps } from '../caps/engine/used-up-cap';
import type { Settlement } from '../money/engine/settlement';
import type { Db } from '../../data/db';
import type { CandidateBid } from '../routing/engine/candidate';
import type { Basis, StoredDecision } from '../routing/engine/explain';
import type { AttemptStatus, DialBuyer } from '../routing/engine/progress';
import type { Route } from '../routing/engine/line';
import {
  toUsageRows,
  type BuyerChoice,
  type CapUsage,
  type NoRoom,
} from '../routing/reserve-buyers';
import type { PaidOtherwise } from './pay-at-dial';
import { BEGIN_CALLS, TRY_BEGIN_CALL } from './queries/begin-calls';
import { INSERT_EVENT, START_ROUND } from './queries/record-call';
import { toDollarColumns } from './settle';

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
  switch_id: string | null;
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
  /** Routes to buyers that are dialed through trunks, by attempt; the first is that of `dial`. */
  routes: ReadonlyMap<string, readonly Route[]>;
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
    buyer_group_id: number | null;
    connect_to: string | null;
  };
}

/** A new call with its first round, as it is to be written. */
export interface StartCall {
  call: NewCall;
  round: Round;
  usages: readonly CapUsage[];
  /** The reservation that it takes over, whose caps are reserved already. */
  hold_id?: number | undefined;
  /** By buyers that pay for being dialed. */
  payments: readonly Settlement[];
}

/**
 * `known`: it was reported before, as the call of this id. `hold_gone`: its reservation has
 * expired, or another call has taken it over. Nothing was written then, nor without room.
 */
export type StartResult =
  | { kind: 'begun'; id: number }
  | { kind: 'known'; id: number }
  | { kind: 'hold_gone' }
  | PaidOtherwise
  | Exclude<NoRoom, { kind: 'source_full' }>;

/** Starts calls in one exchange, each or not; none waits for a call that is being started. */
export async function startCalls(
  db: Pick<Db, 'sql'>,
  starts: readonly StartCall[],
): Promise<StartResult[]> {
  const rows = await db.sql(BEGIN_CALLS, { ...toStartParams(starts), waits: false });
  const byIndex = new Map(rows.map((row) => [row.index, row]));
  return starts.map((start, index) => toStartResult(start, byIndex.get(index)!));
}

/** Starts a call in an open transaction, after waiting for others that start it. */
export async function startSingleCall(db: Pick<Db, 'sql'>, start: StartCall): Promise<StartResult> {
  const [row] = await db.sql(TRY_BEGIN_CALL, toStartParams([start]));
  return toStartResult(start, row!);
}

interface StartRow {
  outcome: 'begun' | 'known' | 'full' | 'trunk_full' | 'hold_gone' | 'paid_otherwise';
  id: number | null;
  refused: readonly FullCaps[] | readonly number[] | null;
  paid?: PaidOtherwise['paid'] | null;
}

function toStartResult(
  { round: { basis } }: StartCall,
  { outcome, id, refused, paid }: StartRow,
): StartResult {
  switch (outcome) {
    case 'begun':
      basis.is_stored = true;
      return { kind: 'begun', id: id! };
    case 'known':
      return { kind: 'known', id: id! };
    case 'hold_gone':
      return { kind: 'hold_gone' };
    case 'paid_otherwise':
      return { kind: 'paid_otherwise', paid: paid! };
    default:
      return toNoRoom(outcome, refused!);
  }
}

/** `refused` describes caps, or has the ids of trunks. */
const toNoRoom = (
  kind: 'full' | 'trunk_full',
  refused: readonly FullCaps[] | readonly number[],
): Exclude<NoRoom, { kind: 'source_full' }> =>
  kind === 'full'
    ? { kind, full: refused as readonly FullCaps[] }
    : { kind, trunk_ids: refused as readonly number[] };

const toStartParams = (starts: readonly StartCall[]) => {
  const rounds = starts.map(({ round }) => round);
  return {
    calls: JSON.stringify(starts.map(toNewCallRow)),
    usages: toIndexedJson(starts, ({ usages }) => toUsageRows(usages)),
    decisions: toIndexedJson(rounds, ({ decision }) => [
      { decision: withoutCaps(decision), caps: JSON.stringify(decision.caps) },
    ]),
    payments: toIndexedJson(starts, ({ payments, round: { now }, call: { caller_number } }) =>
      toPaymentRows(payments, now).map((payment) => ({ ...payment, caller_number })),
    ),
    slots: toIndexedJson(rounds, ({ slots, lease_until }) =>
      slots.map((slot) => ({ ...slot, lease_until })),
    ),
    ...toRoundParams(rounds),
  };
};

const toNewCallRow = ({ call, round: { now, set }, hold_id }: StartCall, index: number) => ({
  ...call,
  ...set,
  ...{ index, at: now, hold_id },
});

const toPaymentRows = (payments: readonly Settlement[], now: Date) =>
  payments.map((payment) => ({
    dollars: toDollarColumns(payment, now),
    events: payment.events,
  }));

/** The JSON of a decision up to the value of `caps`, which the statement adds. */
function withoutCaps(decision: StoredDecision): string {
  return `${JSON.stringify({ ...decision, caps: undefined }).slice(0, -1)},"caps":`;
}

/** The fault of the trunk of an attempt, in words. */
export interface TrunkFault {
  attempt: string;
  fault: string;
}

/** A round of a known call, with what ended the round before. */
export interface NextRound {
  call_id: number;
  /** Version of the call as it was read; null for a call that is locked already. */
  version: string | null;
  /** By uuid. */
  ended_attempts: ReadonlyMap<string, AttemptStatus>;
  recording_url?: string | null | undefined;
  /** The trunk of an attempt of the last round has failed. */
  trunk_fault?: TrunkFault | undefined;
  outcome: Round;
  usages: readonly CapUsage[];
  source_hold: BuyerChoice['source_hold'];
  /** By buyers that pay for being dialed. */
  payments: readonly Settlement[];
}

/**
 * Writes the next round of a call with the caps that it gives back and takes: all of it, or nothing
 * where caps have no room or the call is no longer as it was read.
 */
export async function startRound(
  db: Pick<Db, 'sql'>,
  { call_id, version, ended_attempts, outcome, usages, payments, ...rest }: NextRound,
): Promise<{ kind: 'done' } | { kind: 'stale' } | PaidOtherwise | NoRoom> {
  const { set, decision, round, now, lease_until } = outcome;
  const next = {
    ...{ round, lease_until },
    ...set,
    abandoned: set.abandoned ?? false,
    recording_url: rest.recording_url ?? null,
    trunk_fault: rest.trunk_fault,
    source_id: rest.source_hold?.source_id ?? null,
    source_dollars: rest.source_hold?.dollars ?? null,
    payments: toPaymentRows(payments, now),
  };
  const [row] = await db.sql(START_ROUND, {
    ...{ call_id, version, now },
    ...toRoundParams([outcome]),
    ended_attempts: JSON.stringify([...ended_attempts].map(([uuid, status]) => ({ uuid, status }))),
    round: JSON.stringify(next),
    decision: withoutCaps(decision),
    usages: toIndexedJson([usages], toUsageRows),
  });
  const { outcome: result, refused, held, paid } = row!;
  if (result === 'paid_otherwise') return { kind: result, paid: paid! };
  if (result === 'full' || result === 'trunk_full') return toNoRoom(result, refused!);
  if (result === 'source_full')
    return { kind: 'source_full', full: refused as readonly FullCaps[], held: held! };
  return { kind: result === 'stale' ? 'stale' : 'done' };
}

/** Parts of rounds, as JSON lists; `index` in each row is the index of its round. */
const toRoundParams = (rounds: readonly Round[]) => ({
  dials: toIndexedJson(rounds, ({ dial, routes, bids, dials_as_one, longest }) =>
    dial.map((buyer) => ({
      ...buyer,
      ...toBidColumns(bids, buyer),
      dial: buyer,
      routes: routes.get(buyer.attempt),
      trunk_id: routes.get(buyer.attempt)?.[0]!.trunk_id,
      stops_early: dials_as_one && buyer.timeout_seconds < longest,
    })),
  ),
  events: toIndexedJson(rounds, ({ events }) => events),
  bases: toBasesJson(rounds),
});

/** A later expiry of the bid changes nothing for the attempt. */
function toBidColumns(bids: Round['bids'], { buyer_id }: DialBuyer) {
  const bid = bids.find((candidateBid) => candidateBid.buyer_id === buyer_id);
  return bid && { bid: bid.amount, bid_duration: bid.duration };
}

const toIndexedJson = <Item>(
  items: readonly Item[],
  listRows: (item: Item) => readonly object[],
): string =>
  JSON.stringify(
    items.flatMap((item, index) => listRows(item).map((row, n) => ({ ...row, index, n }))),
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
): Promise<number> {
  const [row] = await db.sql(INSERT_EVENT, {
    call_id,
    event,
    message,
    buyer_id,
    details: details ? JSON.stringify(details) : null,
    now,
  });
  return row!.id;
}
