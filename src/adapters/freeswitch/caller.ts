import { setTimeout as sleep } from 'node:timers/promises';
import { buildCall, type Call } from './calls';
import { readCause } from './causes';
import { countSeconds, refresh, report, type Edges } from './edges';
import { HANG_UP, NOTHING, type Work } from './httapi/document';
import type { HttapiRequest } from './httapi/request';
import { findCall } from './restore';
import { decide, NOT_FOUND, overflow, refuse } from './work';
import { describeFailure } from '../service/failures';
import { importCall } from '../service/overflow';
import type { CallEvent } from '../service/service';
import { buildSid, startCall } from '../service/start-call';

// Requests about the channel of a caller: it comes in, has done its work, or has ended.

/** How long a caller waits for this process to know which calls there are. */
const GATE_MS = 5_000;

export async function answerCaller(request: HttapiRequest, on: Edges): Promise<Work> {
  const { channel, is_exiting, variable } = request;
  const step = variable('trunkline_step');
  const isKnown = on.calls.find(channel) !== undefined;
  if (is_exiting) {
    const call = isKnown || step !== undefined ? await findCall(request, on) : undefined;
    if (call) endCaller(call, request, on);
    // The service has not been asked, or has not answered.
    if (!call || (step === 'overflow' && !call.session)) importCaller(request, on);
    on.calls.remove(channel);
    return NOTHING;
  }
  if (!isKnown && step === undefined) return begin(request, on);
  const call = await findCall(request, on);
  switch (step) {
    case 'leg':
      return endLeg(call, request, on);
    case 'fallback':
      endFallback(call, on);
      return { tags: [HANG_UP] };
    case 'idle':
      return (await refresh(call, on)) === 'unreachable'
        ? overflow(call, request, on)
        : decide(call, request, on);
    default:
      return decide(call, request, on);
  }
}

async function begin(request: HttapiRequest, on: Edges): Promise<Work> {
  const { channel, field, variable } = request;
  const sid = buildSid(variable('sip_call_id'), channel);
  const call = on.calls.add(buildCall(channel, sid));
  const names = on.settings.headers.map((name) => [name, variable(`sip_h_${name}`)] as const);
  const start = await startCall(
    {
      ...{ sid, number_called: field('Caller-Destination-Number') ?? '' },
      caller_number: field('Caller-Caller-ID-Number') ?? null,
      headers: Object.fromEntries(
        names.filter((header): header is readonly [string, string] => header[1] !== undefined),
      ),
    },
    { service: on.service, log: on.log, sync: { gate: () => waitForGate(on) } },
  );
  if (start.type === 'unknown_number') return refuse(call, request, NOT_FOUND);
  if (start.type === 'session') call.session = start.session;
  // The caller has hung up meanwhile, and a call has begun all the same.
  if (call.phase === 'over') {
    void report(call, { event: 'completed', by: 'caller' }, on);
    return { tags: [HANG_UP] };
  }
  return start.type === 'session' ? decide(call, request, on) : overflow(call, request, on);
}

async function waitForGate({ sync }: Edges): Promise<void> {
  const isOpen = await Promise.race([
    sync.gate().then(() => true),
    sleep(GATE_MS, false, { ref: false }),
  ]);
  if (!isOpen) throw new Error('it is not known yet which calls FreeSWITCH has');
}

/** The buyer who was dialed has not taken the call, or has let go of it at once. */
async function endLeg(call: Call, request: HttapiRequest, on: Edges): Promise<Work> {
  const { leg } = call;
  await leg?.pending;
  if (!leg || leg.state === 'over' || call.phase === 'over') return decide(call, request, on);
  const { attempt, trunk } = leg;
  if (isTaken(call)) {
    leg.state = 'over';
    call.phase = 'over';
    void report(call, { event: 'completed', by: 'buyer', duration: 0 }, on);
    return { tags: [HANG_UP] };
  }
  const event: CallEvent =
    leg.state === 'ringing' ? describeFailure(readCause(request)) : { event: 'no_answer' };
  leg.state = 'over';
  if (event.event === 'failed' && trunk !== null) event.trunk = trunk;
  const outcome = await report(call, { ...event, attempt }, on);
  return outcome === 'unreachable' ? overflow(call, request, on) : decide(call, request, on);
}

/** The service has given the caller to the buyer, or this process has. */
function isTaken({ leg, session }: Call): boolean {
  const { action, attempt } = session?.instruction ?? {};
  return leg?.state === 'taken' || (action === 'connect' && attempt === leg?.attempt);
}

/** The call went elsewhere, or came while this process was away. */
function importCaller({ channel, field, variable }: HttapiRequest, on: Edges): void {
  const [start, end] = [Number(variable('start_uepoch')), Number(variable('end_uepoch'))];
  if (!(start > 0) || !(end > 0)) return;
  const { settings, ...edges } = on;
  importCall(
    {
      sid: buildSid(variable('sip_call_id'), channel),
      number_called: field('Caller-Destination-Number') ?? '',
      caller_number: field('Caller-Caller-ID-Number') ?? null,
      ...{ started_at: new Date(start / 1000), ended_at: new Date(end / 1000) },
    },
    { ...edges, switch_name: settings.service.name },
  );
}

function endFallback(call: Call, on: Edges): void {
  if (call.phase !== 'fallback') return;
  call.phase = 'over';
  const duration = countSeconds(call.fallback_since ?? Date.now(), Date.now());
  void report(call, { event: 'fallback_ended', duration }, on);
}

/** The channel of the caller has ended. */
function endCaller(call: Call, request: HttapiRequest, on: Edges): void {
  if (call.phase === 'over') return;
  if (call.phase === 'fallback') return endFallback(call, on);
  call.phase = 'over';
  const { leg } = call;
  const bridged = readBridge(request);
  if (bridged && bridged.leg !== leg?.channel) {
    // The dialplan has sent the caller elsewhere while this process was away.
    void report(call, { event: 'completed', by: 'switch', hangup_cause: 'overflow' }, on);
    return;
  }
  if (!bridged && !isTaken(call)) {
    void report(call, { event: 'completed', by: 'caller' }, on);
    return;
  }
  // The buyer was connected while this process could not report it.
  if (leg && !isTaken(call))
    void report(call, { event: 'answered', attempt: leg.attempt, leg_sid: leg.channel }, on);
  const by = readSide(request);
  void report(call, { event: 'completed', by, duration: bridged?.seconds ?? 0 }, on);
}

/** With whom the caller was, and for how long by the times of FreeSWITCH. */
function readBridge({ variable }: HttapiRequest): { leg: string; seconds: number } | undefined {
  const [start, end] = [Number(variable('bridge_uepoch')), Number(variable('end_uepoch'))];
  const leg = variable('last_bridge_to');
  if (leg === undefined || !(start > 0) || !(end > 0)) return undefined;
  return { leg, seconds: countSeconds(start / 1000, end / 1000) };
}

function readSide({ variable }: HttapiRequest): 'caller' | 'buyer' | 'switch' {
  if (variable('hangup_cause') === 'ALLOTTED_TIMEOUT') return 'switch';
  return variable('sip_hangup_disposition')?.startsWith('recv_') ? 'caller' : 'buyer';
}
