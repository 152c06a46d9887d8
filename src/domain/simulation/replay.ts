import type { Evaluation } from '../routing/engine/evaluate';
import { sourceCapFault, type SourceFault } from '../routing/engine/source';
import {
  computeMaxRevenue,
  recordConnection,
  releaseSlot,
  reserveBuyers,
  reserveSource,
  listSlots,
  type Dialed,
} from './dialing';
import { charge, listNextPayments, type ChargedAttempt, type Owner, type Slot } from './ledger';
import type { Configuration, Figures, Replay, ReplayedCall } from './model';
import {
  buildChances,
  listOpenConversions,
  decideOutcome,
  pickTalkTime,
  type Chances,
  type Outcome,
  type RealAttempt,
} from './outcome';
import { openReplay, refreshCandidates, type ReplayState } from './replay-state';

/** Rounds in which a call looks for a buyer. */
export const MAX_ROUNDS = 20;

interface CurrentCall {
  call: ReplayedCall;
  chances: Chances;
  round: number;
  tried: Set<number>;
  /** The buyer that the call was connected to, or else last tried with. */
  last: Owner | undefined;
  source_slot: Slot | undefined;
}

const milliseconds = (seconds: number) => seconds * 1000;

/**
 * Replays calls under a configuration, and returns the results by buyer. It decides by the
 * functions of live routing, with caps in memory. It yields after each step, so that the process
 * can serve requests in between. Pure: equal input gives equal results.
 */
export function* replay(
  configuration: Configuration,
  { calls, ...replayed }: Replay,
): Generator<void, Map<number, Figures>> {
  const state = openReplay(configuration, replayed);
  const { queue, seed } = state;
  for (const call of calls) {
    while (queue.runNext(call.at.getTime())) yield;
    const chances = buildChances(seed, call.id);
    const fresh = { round: 0, tried: new Set<number>(), last: undefined, source_slot: undefined };
    lookForBuyer(state, { call, chances, ...fresh }, call.at);
    yield;
  }
  while (queue.runNext(Infinity)) yield;
  return new Map([...state.buyers].map(([id, { figures }]) => [id, figures]));
}

function lookForBuyer(state: ReplayState, current: CurrentCall, now: Date): void {
  const { call, tried, round } = current;
  if (round >= MAX_ROUNDS) return endCall(current, now);
  refreshCandidates(state, call, now);
  const ofCall = call.facts({
    now,
    seed: call.seeds[round] ?? `${state.seed}/${call.id}/${round}`,
    tried,
    previous_buyer_id: findPreviousBuyer(state, call),
    pays_again_at: listNextPayments(state.ledger, call, state.buyers.values(), now),
    source_fault: round === 0 ? findSourceFault(state, call, now) : undefined,
  });
  const facts = { ...ofCall, last_calls: state.last_calls };
  const { dialed, evaluation } = reserveBuyers(state, facts, now);
  countSkips(state, evaluation);
  if (round === 0 && !facts.refused) countIncomingCall(state, current, dialed.length > 0, now);
  current.round++;
  if (dialed.length > 0) ring(state, current, dialed, now);
  else endCall(current, now);
}

function findSourceFault(
  state: ReplayState,
  { traffic_source_id }: ReplayedCall,
  now: Date,
): SourceFault | undefined {
  const source = state.sources.get(traffic_source_id ?? 0);
  const usedUp = source?.caps.usedUp(now, computeMaxRevenue(state));
  return source && usedUp ? sourceCapFault({ used_up: usedUp, zone: source.zone }) : undefined;
}

/** Counts a call in the caps of its source. */
function countIncomingCall(
  state: ReplayState,
  current: CurrentCall,
  isDialed: boolean,
  now: Date,
): void {
  const source = state.sources.get(current.call.traffic_source_id ?? 0);
  if (!source) return;
  current.source_slot = reserveSource(source, {
    is_dialed: isDialed,
    revenue: computeMaxRevenue(state),
    now,
  });
}

const findPreviousBuyer = (
  { connected_to }: ReplayState,
  { caller_number, previous_buyer_id }: ReplayedCall,
): number | null =>
  (caller_number === null ? undefined : connected_to.get(caller_number)) ?? previous_buyer_id;

function countSkips({ buyers }: ReplayState, { candidates, faults }: Evaluation): void {
  for (const [index, fault] of faults.entries()) {
    if (!fault) continue;
    const { skip_reasons } = buyers.get(candidates[index]!.id)!.figures;
    skip_reasons[fault.reason] = (skip_reasons[fault.reason] ?? 0) + 1;
  }
}

function endCall({ last, source_slot }: CurrentCall, now: Date): void {
  if (last) last.figures.calls++;
  if (source_slot) releaseSlot(source_slot, now);
}

/** An attempt with its predetermined outcome. */
interface Ringing extends Outcome {
  dialedBuyer: Dialed;
  real: RealAttempt | undefined;
}

/**
 * Dials buyers at once: the first that answers gets the call, unless the caller gives up before.
 */
function ring(
  state: ReplayState,
  current: CurrentCall,
  dialed: readonly Dialed[],
  now: Date,
): void {
  const { call } = current;
  current.last = dialed[0]!.owner;
  const ringing = dialed.map((dialedBuyer) => dialBuyer(state, current, dialedBuyer));
  const first = pickFirstToAnswer(ringing);
  const longest = Math.max(...ringing.map(({ after }) => after));
  const settled = now.getTime() + milliseconds(first?.after ?? longest);
  const givesUp =
    call.gave_up_after === null ? Infinity : call.at.getTime() + milliseconds(call.gave_up_after);
  const until = Math.min(settled, givesUp);
  for (const { dialedBuyer, after } of ringing) {
    if (dialedBuyer === first?.dialedBuyer && until === settled) continue;
    const at = Math.min(now.getTime() + milliseconds(after), until);
    state.queue.add(at, () => releaseSlot(dialedBuyer.slot, new Date(at)));
  }
  const { group_slot } = dialed[0]!;
  state.queue.add(until, () => {
    const at = new Date(until);
    if (first && until === settled) return connect(state, current, first.dialedBuyer, at);
    if (group_slot) releaseSlot(group_slot, at);
    if (until === settled && until < givesUp) lookForBuyer(state, current, at);
    else endCall(current, at);
  });
}

/** Counts an attempt, and charges a buyer that pays for being dialed. */
function dialBuyer(state: ReplayState, current: CurrentCall, dialedBuyer: Dialed): Ringing {
  const { call, chances, tried } = current;
  const { owner, at: now } = dialedBuyer;
  const { buyer } = dialedBuyer.member;
  tried.add(buyer.id);
  owner.figures.attempts++;
  state.last_calls.set(buyer.id, now);
  // A bidder that does not answer pays nothing.
  const paysAtDial =
    !buyer.bid &&
    listOpenConversions(owner.conversions, buyer.zone, now).some(
      ({ conversion_type, duration }) => conversion_type === 'duration' && duration === 0,
    );
  if (paysAtDial)
    charge(state.ledger, toChargedAttempt(current, dialedBuyer), {
      talked: 0,
      has_postback: false,
      now,
    });
  const real = call.attempts.find(({ buyer_id }) => buyer_id === buyer.id);
  return {
    dialedBuyer,
    real,
    ...decideOutcome({ buyer, real, chances, expected: state.expected }),
  };
}

/** When two answer at the same time, the one that really took the call is first. */
function pickFirstToAnswer(ringing: readonly Ringing[]): Ringing | undefined {
  const took = ({ real }: Ringing) => Number(real?.status === 'connected');
  return ringing
    .filter(({ answers }) => answers)
    .toSorted((a, b) => a.after - b.after || took(b) - took(a))[0];
}

function connect(state: ReplayState, current: CurrentCall, dialedBuyer: Dialed, now: Date): void {
  const { call, chances } = current;
  const { owner } = dialedBuyer;
  const { id } = owner.subject;
  owner.figures.connects++;
  current.last = owner;
  if (call.caller_number !== null) state.connected_to.set(call.caller_number, id);
  const held = current.source_slot
    ? [...listSlots(dialedBuyer), current.source_slot]
    : listSlots(dialedBuyer);
  for (const slot of held) recordConnection(slot, now);
  const talked = pickTalkTime(call.talked, chances, state.expected);
  const ends = now.getTime() + milliseconds(talked);
  state.queue.add(ends, () => {
    const at = new Date(ends);
    const hasPostback = chances(id, 'conversion') < state.expected.rates.get(id)!.conversion.rate;
    charge(state.ledger, toChargedAttempt(current, dialedBuyer), {
      talked,
      has_postback: hasPostback,
      now: at,
    });
    for (const slot of listSlots(dialedBuyer)) releaseSlot(slot, at);
    endCall(current, at);
  });
}

const toChargedAttempt = (
  { call, source_slot }: CurrentCall,
  dialedBuyer: Dialed,
): ChargedAttempt => ({
  call,
  source_slot,
  owner: dialedBuyer.owner,
  slots: listSlots(dialedBuyer),
  dialed_at: dialedBuyer.at,
});
