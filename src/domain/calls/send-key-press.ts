import { SOFTSWITCH, type Carrier } from '../../platform/carriers/carrier';
import { buildReferenceProblem, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { HttpProblem, rejectInvalidData } from '../../platform/errors';
import { isCheckRequired, type PreDialCheckRequired, type PreDialState } from '../routing/pre-dial';
import { buildTokens, type Data } from '../../platform/tokens/lead-data';
import { lockEditableCall, type EditableCall } from './editable-call';
import { playKeys, requireKeys } from './play-keys';
import { giveCommand, type CommandDeps } from '../switches/commands';
import { handleCallEvent } from './handle-event';
import { readAttempts, type AttemptRow } from './read-call';
import { recordEvent } from './record-call';
import { mergeTokens } from './update-call';

export interface KeyPress {
  id: Reference;
  /** 0 to 9, * and #; w waits. */
  digits: string;
  data?: Data | undefined;
  preDial?: PreDialState | undefined;
}

interface KeyPressContext extends CommandDeps {
  carrier: Carrier;
}

/**
 * Presses keys in a call in progress. If a buyer is asked for a key, this is its answer; else tones
 * are played to the connected buyer. Throws 422 if there is no buyer to hear them, and 409 if the
 * carrier cannot play them. Returns the id of the call.
 */
export async function sendKeyPress(
  db: Db,
  { id, digits, data = {}, preDial }: KeyPress,
  context: KeyPressContext,
): Promise<bigint | PreDialCheckRequired> {
  const { tokens, faults } = buildTokens({}, data);
  rejectInvalidData(faults);
  const { now } = context;
  return db.transaction(async (tx) => {
    const call = await lockEditableCall(tx, id);
    if (!call) throw buildReferenceProblem('id', [String(id)]);
    if (call.ended_at !== null)
      throw buildStateProblem('must be a call in progress; this one is over');
    const attempt = await findAttemptAwaitingKey(tx, call);
    const check = attempt && (await answerWithKey(tx, call, { attempt, digits, preDial, now }));
    if (check) return check;
    if (attempt && call.carrier === SOFTSWITCH)
      await giveCommand(tx, call.id, { command: 'refresh', valid_seconds: KEY_SECONDS }, context);
    await mergeTokens(tx, call, tokens, now);
    if (!attempt) await press(tx, call, digits, context);
    return BigInt(call.id);
  });
}

/** Keys that are played later would be heard by a person who no longer waits for them. */
const KEY_SECONDS = 30;

const buildStateProblem = (message: string) => HttpProblem.field('id', 'wrong_state', message);

/** Undefined if no buyer is asked for a key. Throws 422 for several. */
async function findAttemptAwaitingKey(db: Db, call: EditableCall): Promise<AttemptRow | undefined> {
  const attempts = await readAttempts(db, call.id);
  const [attempt, ...rest] = attempts.filter(({ status }) => status === 'answered');
  if (rest.length === 0) return attempt;
  throw buildStateProblem(
    'must be a call in which one buyer is asked for a key; in this one several are: ' +
      'name the attempt in an event of the call instead',
  );
}

interface KeyAnswer {
  attempt: AttemptRow;
  digits: string;
  preDial: PreDialState | undefined;
  now: Date;
}

async function answerWithKey(
  db: Db,
  call: EditableCall,
  { attempt, digits, preDial, now }: KeyAnswer,
): Promise<PreDialCheckRequired | undefined> {
  const key = digits.replaceAll('w', '');
  if (key.length > 1)
    throw HttpProblem.field(
      'digits',
      'invalid_value',
      'must be one key: the buyer is asked to press 1',
    );
  const event = { event: 'key_press', attempt: attempt.uuid, key, preDial } as const;
  const result = await handleCallEvent(db, call.id, event, now);
  return isCheckRequired(result) ? result : undefined;
}

/** Plays keys to the buyer that the call is connected to. The carrier is asked last. */
async function press(
  db: Db,
  call: EditableCall,
  digits: string,
  context: KeyPressContext,
): Promise<void> {
  const { now, carrier } = context;
  // Such a carrier may not even report that a buyer is connected.
  if (call.carrier !== SOFTSWITCH && !carrier.capabilities.conference) requireKeys(call, carrier);
  const attempts = await readAttempts(db, call.id);
  const connected = attempts.find(({ status }) => status === 'connected');
  if (!connected && call.direction === 'outbound' && !call.routed && call.status === 'in_progress')
    throw HttpProblem.field(
      'id',
      'carrier_refused',
      `must be a call with a buyer: ${call.carrier} has connected this one by itself, and ` +
        'reports nothing of whom it has connected it to',
    );
  if (!connected)
    throw buildStateProblem(
      'must be a call that is connected to a buyer, or whose buyer is asked for a key',
    );
  const keyPressId = await recordEvent(db, {
    call_id: call.id,
    event: 'send_digits',
    message: digits,
    buyer_id: connected.buyer_id,
    details: { digits },
    now,
  });
  const keys = { attempt: connected.uuid, digits };
  if (call.carrier !== SOFTSWITCH) return playKeys(db, call, { ...keys, carrier });
  const command = { command: 'play_keys', ...keys, key_press_id: keyPressId } as const;
  await giveCommand(db, call.id, { ...command, valid_seconds: KEY_SECONDS }, context);
}
