import { buildCall, nameDialing, type Call, type Leg, type LegState } from './calls';
import { refresh, type Edges } from './edges';
import { isChannel, type HttapiRequest } from './httapi/request';
import { readVariable } from './keys';
import type { Session } from '../service/service';
import { buildSid } from '../service/start-call';

// Calls that were there before this process: FreeSWITCH has in variables how far they were.

type ReadVariable = (name: string) => string | undefined;

const STEP = 'trunkline_step';
const VARIABLES = [
  ...[STEP, 'sip_call_id', 'trunkline_since'],
  ...['trunkline_attempt', 'trunkline_trunk', 'trunkline_leg'],
];

/** The call of a caller's channel, which a request is about. */
export async function findCall(
  { channel, variable }: Pick<HttapiRequest, 'channel' | 'variable'>,
  on: Edges,
): Promise<Call> {
  const call = on.calls.find(channel);
  if (call) return call;
  const isOfCaller = variable('trunkline_buyer') === undefined;
  const read = isOfCaller ? variable : await readAll(channel, on);
  return (await restoreCall(channel, read, on)) ?? buildCall(channel, channel);
}

async function readAll(channel: string, on: Edges): Promise<ReadVariable> {
  const values = new Map<string, string | undefined>();
  for (const name of VARIABLES) {
    values.set(name, await readVariable(name, channel, on));
    // It is none of this adapter.
    if (values.get(STEP) === undefined) break;
  }
  return (name) => values.get(name);
}

/** Undefined for a channel that this adapter has not had. */
async function restoreCall(
  channel: string,
  variable: ReadVariable,
  on: Edges,
): Promise<Call | undefined> {
  const step = variable(STEP);
  if (step === undefined) return undefined;
  const call = buildCall(channel, buildSid(variable('sip_call_id'), channel));
  await refresh(call, on);
  // Another request has been faster.
  const present = on.calls.find(channel);
  if (present) return present;
  call.was_greeted = true;
  if (step === 'overflow') call.phase = 'over';
  if (step === 'fallback') call.phase = 'fallback';
  call.fallback_since = Number(variable('trunkline_since')) || Date.now();
  const [attempt, leg] = [variable('trunkline_attempt'), variable('trunkline_leg')];
  if (attempt !== undefined && leg !== undefined) {
    const trunk = variable('trunkline_trunk') ?? null;
    call.leg = buildLeg({ attempt, channel: leg, trunk }, call.session);
    call.dialed.add(nameDialing(attempt, trunk));
  }
  return on.calls.add(call);
}

function buildLeg(
  names: Pick<Leg, 'attempt' | 'channel' | 'trunk'>,
  session: Session | undefined,
): Leg {
  const buyer = session?.instruction.dial.find(({ attempt }) => attempt === names.attempt);
  return {
    ...{ ...names, state: readState(names.attempt, session), pending: Promise.resolve() },
    // Without an answer of the service, it may be one who has to press 1.
    press_one: buyer?.press_one_to_accept ?? true,
    ...{ tones: buyer?.dtmf_tones ?? null, record: buyer?.record_calls ?? false },
  };
}

function readState(attempt: string, session: Session | undefined): LegState {
  const instruction = session?.instruction;
  if (!instruction || instruction.attempt !== attempt) return 'ringing';
  if (instruction.action === 'connect') return 'taken';
  return instruction.action === 'ask_for_key' ? 'prompted' : 'ringing';
}

interface ChannelRow {
  uuid: string;
  direction: string;
}

/** The channels of callers that FreeSWITCH has. */
export async function listCallers({ socket }: Edges): Promise<string[]> {
  const answer = JSON.parse(await socket.api('show channels as json')) as { rows?: ChannelRow[] };
  return (answer.rows ?? [])
    .filter(({ direction, uuid }) => direction === 'inbound' && isChannel(uuid))
    .map(({ uuid }) => uuid);
}

/** Takes up the calls that FreeSWITCH has; those of other applications are none of this adapter. */
export async function takeUp(channels: readonly string[], on: Edges): Promise<void> {
  for (const channel of channels)
    if (!on.calls.find(channel))
      try {
        await restoreCall(channel, await readAll(channel, on), on);
      } catch (error) {
        // It has just ended.
        on.log.debug({ err: error, channel }, 'a channel was not taken up');
      }
}
