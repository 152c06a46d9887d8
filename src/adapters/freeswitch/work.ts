import { randomUUID } from 'node:crypto';
import { nameDialing, type Call, type Leg } from './calls';
import { CAUSE_VARIABLES } from './causes';
import { report, type Edges } from './edges';
import { BREAK, execute, HANG_UP, play, wait, type Tag, type Work } from './httapi/document';
import type { HttapiRequest } from './httapi/request';
import { findFile } from './media';
import { buildLegEndpoint } from './settings';
import { isNumber, listHeaders } from '../service/dialing';
import { buildRecording } from '../service/recordings';
import type { DialBuyer, Session } from '../service/service';

// The work of a caller's channel: what FreeSWITCH does until it asks again. The variables say what
// it was doing, also to another process.

/** Why FreeSWITCH will ask again: a leg is over, the fallback is, or a pause. */
export type Step = 'leg' | 'fallback' | 'idle' | 'overflow';

/** The time for a buyer's answer to be reported, and for the key. */
const CONFIRM_SECONDS = 180;
/** How long a number rings that no buyer has given a time for. */
const RING_SECONDS = 30;
const MAX_VOICEMAIL_SECONDS = 300;
const MAX_SILENCE_SECONDS = 10;
/** The loudness below which FreeSWITCH hears silence. */
const SILENCE = 200;
const BEEP = 'tone_stream://%(300,0,800)';
/** Work is never empty: FreeSWITCH would go on in its dialplan. */
const AGAIN = wait(1);
const IDLE_MS = 1_000;
const MAX_IDLE = 5;
/** Neither rang nor refused: no fault of the buyer's number. */
const NOT_DIALED = 27;

const HEADER_PREFIX = 'sip_h_';
/** Runs when a buyer has answered: its end makes the buyer the one who is bridged. */
const CONFIRM =
  "group_confirm_key=exec,group_confirm_file='execute_extension answered XML trunkline-leg'";

interface Refusal {
  status: number | null;
  reason: string | null;
}

/** A number that the service does not know. */
export const NOT_FOUND: Refusal = { status: 404, reason: 'Not Found' };

/** Ends the call of a caller, with a status for one who was not answered. */
export function refuse(call: Call, request: HttapiRequest, { status, reason }: Refusal): Work {
  call.phase = 'over';
  if (status === null || isAnswered(request)) return { tags: [HANG_UP] };
  const phrase = reason?.replace(/[^\w ,.-]/g, '') || 'Refused';
  return { tags: [execute('respond', `${status} ${phrase}`), HANG_UP] };
}

/** The dialplan has the caller: the service is away. */
export function overflow(call: Call, request: HttapiRequest, on: Edges): Work {
  if (call.phase !== 'over')
    void report(call, { event: 'completed', by: 'switch', hangup_cause: 'overflow' }, on);
  call.phase = 'over';
  return {
    variables: { ...nameStep('overflow'), ...buildHeaderVariables({}, request) },
    tags: [BREAK],
  };
}

/** Does what the instruction says. */
export async function decide(call: Call, request: HttapiRequest, on: Edges): Promise<Work> {
  const { session } = call;
  if (call.phase === 'over') return { tags: [HANG_UP] };
  if (!session) return overflow(call, request, on);
  const { action, sip_status, sip_reason } = session.instruction;
  switch (action) {
    case 'dial':
    case 'wait':
      return dial(call, session, request, on);
    case 'fallback':
      return startFallback(call, session, request, on);
    case 'hang_up':
      return refuse(call, request, { status: sip_status, reason: sip_reason });
    default:
      // The buyer is gone: what was reported since is not answered yet.
      return stayIdle(call, request, on);
  }
}

const isAnswered = ({ variable }: HttapiRequest): boolean =>
  variable('endpoint_disposition') === 'ANSWER';

const nameStep = (step: Step): Record<string, string> => ({ trunkline_step: step });

function stayIdle(call: Call, request: HttapiRequest, on: Edges): Work {
  call.idle_count += 1;
  if (call.idle_count > MAX_IDLE) return overflow(call, request, on);
  return { variables: nameStep('idle'), tags: [wait(IDLE_MS)] };
}

/** Dials the first of the buyers who was not dialed yet. The others wait for their turn. */
async function dial(
  call: Call,
  { instruction }: Session,
  request: HttapiRequest,
  on: Edges,
): Promise<Work> {
  const buyer = instruction.dial.find(
    ({ attempt, trunk }) => !call.dialed.has(nameDialing(attempt, trunk?.name ?? null)),
  );
  if (!buyer) return stayIdle(call, request, on);
  const trunk = buyer.trunk?.name ?? null;
  call.dialed.add(nameDialing(buyer.attempt, trunk));
  const endpoint = buildLegEndpoint(buyer.number, buyer.trunk, on.settings);
  if (endpoint === undefined) {
    on.log.warn({ sid: call.sid, attempt: buyer.attempt }, 'this number cannot be dialed');
    const failure = { event: 'failed', attempt: buyer.attempt, q850: NOT_DIALED } as const;
    const outcome = await report(call, { ...failure, ...(trunk !== null && { trunk }) }, on);
    return outcome === 'unreachable' ? overflow(call, request, on) : decide(call, request, on);
  }
  const leg: Leg = {
    ...{ attempt: buyer.attempt, channel: randomUUID(), trunk, state: 'ringing' },
    press_one: buyer.press_one_to_accept,
    ...{ tones: buyer.dtmf_tones, record: buyer.record_calls, pending: Promise.resolve() },
  };
  call.leg = leg;
  return {
    variables: {
      ...nameStep('leg'),
      ...{ trunkline_attempt: leg.attempt, trunkline_trunk: trunk, trunkline_leg: leg.channel },
      ...BRIDGE_VARIABLES,
      ...buildHeaderVariables(buyer.headers, request),
    },
    tags: [
      ...(await greet(call, instruction.greeting, on)),
      execute('bridge', `{${buildLegVariables(call, leg, buyer)}}${endpoint}`),
    ],
  };
}

const BRIDGE_VARIABLES = {
  ...{ continue_on_fail: 'true', hangup_after_bridge: 'true' },
  ...Object.fromEntries(CAUSE_VARIABLES.map((name) => [name, null])),
};

/** The headers of this leg, in place of those that the caller or the leg before had. */
const buildHeaderVariables = (
  headers: Record<string, string>,
  { listVariables }: HttapiRequest,
): Record<string, string | null> => ({
  ...Object.fromEntries(listVariables(HEADER_PREFIX).map((name) => [name, null])),
  ...Object.fromEntries(
    listHeaders(headers).map(([name, value]) => [`${HEADER_PREFIX}${name}`, value]),
  ),
});

/** Each value is a number, a uuid or a word: a comma would begin another variable. */
function buildLegVariables(call: Call, leg: Leg, buyer: DialBuyer): string {
  const seconds = buyer.timeout_seconds;
  return [
    ...[`origination_uuid=${leg.channel}`, `trunkline_buyer=${leg.attempt}`],
    ...[`trunkline_caller=${call.channel}`, `trunkline_accepted=${leg.press_one ? 'no' : 'yes'}`],
    buildCallerId(buyer.caller_id),
    // The time is for the ringing: a buyer who has answered has time for the key.
    ...[`leg_timeout=${seconds}`, `leg_progress_timeout=${seconds}`],
    ...[`originate_timeout=${seconds + CONFIRM_SECONDS}`, 'group_confirm_cancel_timeout=true'],
    ...['ignore_early_media=true', CONFIRM],
  ].join(',');
}

const ANONYMOUS = 'anonymous';

function buildCallerId(callerId: string | null): string {
  const shown = callerId !== null && isNumber(callerId) ? callerId : ANONYMOUS;
  const id = `origination_caller_id_number=${shown},origination_caller_id_name=${shown}`;
  return shown === ANONYMOUS ? `${id},origination_privacy=hide_name:hide_number` : id;
}

async function greet(call: Call, greeting: string | null, on: Edges): Promise<Tag[]> {
  if (greeting === null || call.was_greeted) return [];
  call.was_greeted = true;
  const file = await findFile(greeting, on.settings, on.log);
  return file === undefined ? [] : [execute('answer'), play(file)];
}

async function startFallback(
  call: Call,
  { uuid, instruction }: Session,
  request: HttapiRequest,
  on: Edges,
): Promise<Work> {
  const { fallback, max_seconds } = instruction;
  if (!fallback) return refuse(call, request, { status: null, reason: null });
  call.phase = 'fallback';
  call.fallback_since = Date.now();
  void report(call, { event: 'fallback_started' }, on);
  const limit =
    max_seconds === null ? [] : [execute('sched_hangup', `+${max_seconds} allotted_timeout`)];
  const variables = {
    ...{ ...nameStep('fallback'), trunkline_since: String(call.fallback_since) },
    ...{ ...BRIDGE_VARIABLES, ...buildHeaderVariables({}, request) },
  };
  if (fallback.type === 'number' && fallback.number !== null) {
    const endpoint = buildLegEndpoint(fallback.number, null, on.settings);
    const tags = endpoint === undefined ? [] : [buildFallbackBridge(endpoint)];
    return { variables, tags: [...limit, ...tags, AGAIN] };
  }
  const file = await findFile(fallback.message, on.settings, on.log);
  return {
    variables,
    tags: [
      ...[execute('answer'), ...limit],
      ...(file === undefined ? [] : [play(file)]),
      ...(fallback.type === 'voicemail' ? recordVoicemail(uuid, on) : []),
      AGAIN,
    ],
  };
}

const buildFallbackBridge = (endpoint: string): Tag =>
  execute('bridge', `{originate_timeout=${RING_SECONDS},ignore_early_media=true}${endpoint}`);

const recordVoicemail = (uuid: string, { settings }: Edges): Tag[] => {
  const path = buildRecordingPath('voicemail', uuid, settings.recordings_dir);
  const limits = `${MAX_VOICEMAIL_SECONDS} ${SILENCE} ${MAX_SILENCE_SECONDS}`;
  return [play(BEEP), execute('record', `${path} ${limits}`)];
};

export const buildRecordingPath = (
  kind: 'talk' | 'voicemail',
  uuid: string,
  folder: string,
): string => `${folder}/${buildRecording(kind, uuid)}.wav`;
