import { unknownReferences, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import { HttpProblem, rejectInvalidData } from '../errors';
import {
  isCheckRequired,
  type PreDialCheckRequired,
  type PreDialVetoes,
} from '../routing/pre-dial-webhooks';
import { tokensOf, type Data } from '../tokens/lead-data';
import { lockEditableCall, type EditableCall } from './editable-call';
import { handleCallEvent } from './handle-event';
import { readAttempts } from './read-call';
import { recordEvent } from './record-call';
import { mergeTokens, SOFTSWITCH } from './update-call';

export interface KeyPress {
  id: Reference;
  /** 0 to 9, * and #; w waits. */
  digits: string;
  data?: Data | undefined;
  vetoes?: PreDialVetoes | undefined;
}

/**
 * Presses keys in a call in progress. If a buyer is asked for a key, this is its answer; else tones
 * are played to the connected buyer, which only a softswitch can do. Throws 422 if there is no
 * buyer to hear them. Returns the id of the call.
 */
export async function sendKeyPress(
  db: Db,
  { id, digits, data = {}, vetoes }: KeyPress,
  now: Date,
): Promise<bigint | PreDialCheckRequired> {
  const { tokens, faults } = tokensOf({}, data);
  rejectInvalidData(faults);
  return db.transaction(async (tx) => {
    const call = await lockEditableCall(tx, id);
    if (!call) throw unknownReferences('id', [String(id)]);
    if (call.ended_at !== null) throw notThisCall('must be a call in progress; this one is over');
    const check = await press(tx, call, { digits, vetoes }, now);
    if (check) return check;
    await mergeTokens(tx, call, tokens, now);
    return BigInt(call.id);
  });
}

const notThisCall = (message: string) => HttpProblem.field('id', 'wrong_state', message);

async function press(
  db: Db,
  call: EditableCall,
  { digits, vetoes }: Pick<KeyPress, 'digits' | 'vetoes'>,
  now: Date,
): Promise<PreDialCheckRequired | undefined> {
  const attempts = await readAttempts(db, call.id);
  const [asked, ...others] = attempts.filter(({ status }) => status === 'answered');
  if (asked && others.length > 0)
    throw notThisCall(
      'must be a call in which one buyer is asked for a key; in this one several are: ' +
        'name the attempt in an event of the call instead',
    );
  if (asked) {
    const key = digits.replaceAll('w', '');
    if (key.length > 1)
      throw HttpProblem.field(
        'digits',
        'invalid_value',
        'must be one key: the buyer is asked to press 1',
      );
    const event = { event: 'key_press', attempt: asked.uuid, key, vetoes } as const;
    const result = await handleCallEvent(db, call.id, event, now);
    return isCheckRequired(result) ? result : undefined;
  }
  const connected = attempts.find(({ status }) => status === 'connected');
  if (!connected)
    throw notThisCall(
      'must be a call that is connected to a buyer, or whose buyer is asked for a key',
    );
  if (call.carrier !== SOFTSWITCH)
    throw HttpProblem.field(
      'id',
      'carrier_refused',
      `must be a call of your own softswitch: ${call.carrier} cannot play tones in a call that ` +
        'it has connected without ending the connection',
    );
  await recordEvent(db, {
    call_id: call.id,
    event: 'send_digits',
    message: digits,
    buyer_id: connected.buyer_id,
    details: { digits },
    now,
  });
  return undefined;
}
