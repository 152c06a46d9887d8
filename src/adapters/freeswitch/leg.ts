import type { Call, Leg } from './calls';
import { report, type Edges, type Outcome } from './edges';
import { askForKey, BREAK, execute, HANG_UP, NOTHING, type Work } from './httapi/document';
import type { HttapiRequest } from './httapi/request';
import { findFile } from './media';
import { findCall } from './restore';
import { buildRecordingPath } from './work';
import { keepPlayed, playInTurn, readPlayed } from './keys';

// Requests about the channel of a buyer who has answered: FreeSWITCH bridges the caller to it when
// its work ends, unless it was hung up on.

/** The time to press a key, after the prompt. */
const KEY_SECONDS = 10;
const KEY_FIELD = 'trunkline_key';
/** The work of such a channel says so; FreeSWITCH hangs up on others. */
const ACCEPTED = { trunkline_accepted: 'yes' };
const DECLINE: Work = { variables: { trunkline_accepted: 'no' }, tags: [HANG_UP] };
const TONES = /^[\dA-D*#w]+$/i;

export async function answerLeg(
  request: HttapiRequest,
  { attempt, caller }: { attempt: string; caller: string },
  on: Edges,
): Promise<Work> {
  // Its end is that of the caller's work.
  if (request.is_exiting) return NOTHING;
  const call = await findCall({ ...request, channel: caller }, on);
  const { leg } = call;
  if (leg?.attempt !== attempt || leg.channel !== request.channel) return DECLINE;
  const work = takeAnswer(call, leg, request, on);
  leg.pending = work.catch(() => undefined);
  return work;
}

async function takeAnswer(call: Call, leg: Leg, request: HttapiRequest, on: Edges): Promise<Work> {
  const { attempt, channel } = leg;
  switch (leg.state) {
    case 'ringing': {
      leg.state = 'answered';
      const answered = { event: 'answered', attempt, leg_sid: channel } as const;
      return follow(call, leg, await report(call, answered, on), on);
    }
    case 'answered':
    case 'prompted': {
      const key = request.field(KEY_FIELD);
      if (key !== undefined && /^[\d*#]$/.test(key)) {
        const event = { event: 'key_press', attempt, key } as const;
        return follow(call, leg, await report(call, event, on), on);
      }
      leg.state = 'over';
      await report(call, { event: 'no_answer', attempt }, on);
      return DECLINE;
    }
    case 'taken':
      return { variables: ACCEPTED, tags: [BREAK] };
    case 'over':
      return DECLINE;
  }
}

async function follow(call: Call, leg: Leg, outcome: Outcome, on: Edges): Promise<Work> {
  // The caller has hung up meanwhile.
  if (call.phase === 'over') return DECLINE;
  if (outcome === 'unreachable') return leg.press_one ? DECLINE : accept(call, leg, on);
  const { action, attempt, prompt } = call.session!.instruction;
  if (attempt === leg.attempt && action === 'connect') return accept(call, leg, on);
  if (attempt === leg.attempt && action === 'ask_for_key') {
    const tones = leg.state === 'answered' ? buildTones(leg) : [];
    leg.state = 'prompted';
    const file = (await findFile(prompt, on.settings, on.log)) ?? on.settings.prompt_sound;
    return { tags: [...tones, askForKey(file, KEY_FIELD, KEY_SECONDS)] };
  }
  // The service goes on without this buyer.
  leg.state = 'over';
  return DECLINE;
}

const buildTones = ({ tones }: Leg) =>
  tones !== null && TONES.test(tones) ? [execute('send_dtmf', tones)] : [];

async function accept(call: Call, leg: Leg, on: Edges): Promise<Work> {
  const tones = leg.state === 'answered' ? buildTones(leg) : [];
  leg.state = 'taken';
  const { uuid, instruction } = call.session ?? {};
  const path = uuid && buildRecordingPath('talk', uuid, on.settings.recordings_dir);
  const keys = await playInTurn(call, () => listKeys(call, on));
  const limit = instruction?.max_seconds ?? null;
  return {
    variables: ACCEPTED,
    tags: [
      ...tones,
      ...(leg.record && path ? [execute('record_session', path)] : []),
      ...(limit === null ? [] : [execute('sched_hangup', `+${limit} allotted_timeout`)]),
      ...keys.map((digits) => execute('send_dtmf', digits)),
      BREAK,
    ],
  };
}

/** Keys that were given before the buyer was connected. */
async function listKeys(call: Call, on: Edges): Promise<string[]> {
  const presses = call.session?.instruction.key_presses ?? [];
  if (presses.length === 0) return [];
  const playedId = await readPlayed(call, on);
  const next = presses.filter(({ id, digits }) => id > playedId && TONES.test(digits));
  if (next.length > 0) await keepPlayed(call, Math.max(...next.map(({ id }) => id)), on);
  return next.map(({ digits }) => digits);
}
