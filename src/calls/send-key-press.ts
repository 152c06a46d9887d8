import { lockTally, type TalliedCall } from './queries/updates';
import { readAttempts } from './queries/calls';
import { writeCallEvent } from './queries/conversions';
import type { Reference } from '../db/records';
import type { Db } from '../db/tenant';
import { HttpProblem, rejectInvalidData } from '../errors';
import { tokensOf, type Data } from '../tokens/lead-data';
import {
  isCheckRequired,
  type PreDialCheckRequired,
  type PreDialVetoes,
} from '../routing/pre-dial-webhooks';
import { handleCallEvent } from './handle-event';
import { mergeTokens, SOFTSWITCH } from './update-call';

export interface KeyPress {
  id: Reference;
  /** 0 to 9, * and #; w waits. */
  digits: string;
  data?: Data | undefined;
  vetoes?: PreDialVetoes | undefined;
}

/**
 * Presses keys in a call that goes on: the answer of the buyer that is asked for one, else tones for the buyer that is connected, where whoever carries
 * the call can play them. Refuses with 422 where nobody would hear them. Answers the id of the call.
 */
export async function sendKeyPress(
  db: Db,
  { id, digits, data = {}, vetoes }: KeyPress,
  now: Date,
): Promise<bigint | PreDialCheckRequired> {
  const { tokens, faults } = tokensOf({}, data);
  rejectInvalidData(faults);
  return db.transaction(async (tx) => {
    const call = await lockTally(tx, id);
    if (!call) throw HttpProblem.field('id', `names no record of yours: ${id}`);
    if (call.ended_at !== null)
      throw HttpProblem.field('id', 'must be a call that goes on; this one is over');
    const check = await press(tx, call, { digits, vetoes }, now);
    if (check) return check;
    await mergeTokens(tx, call, tokens, now);
    return BigInt(call.id);
  });
}

async function press(
  db: Db,
  call: TalliedCall,
  { digits, vetoes }: Pick<KeyPress, 'digits' | 'vetoes'>,
  now: Date,
): Promise<PreDialCheckRequired | undefined> {
  const attempts = await readAttempts(db, call.id);
  const [asked, ...others] = attempts.filter(({ status }) => status === 'answered');
  if (asked && others.length > 0)
    throw HttpProblem.field(
      'id',
      'must be a call in which one buyer is asked for a key; here several are: tell which by an event of the call',
    );
  if (asked) {
    const keys = digits.replaceAll('w', '');
    if (keys.length > 1)
      throw HttpProblem.field('digits', 'must be one key: the buyer is asked to press 1');
    const news = { event: 'key_press' as const, attempt: asked.uuid, key: keys, vetoes };
    const result = await handleCallEvent(db, call.id, news, now);
    return isCheckRequired(result) ? result : undefined;
  }
  const connected = attempts.find(({ status }) => status === 'connected');
  if (!connected)
    throw HttpProblem.field(
      'id',
      'must be a call that is connected to a buyer, or whose buyer is asked for a key: here nobody would hear it',
    );
  if (call.carrier !== SOFTSWITCH)
    throw HttpProblem.field(
      'id',
      `must be a call of a softswitch of your own: ${call.carrier} can play tones in a call that it has connected only by ending the connection`,
    );
  await writeCallEvent(db, {
    call_id: call.id,
    event: 'send_digits',
    message: digits,
    buyer_id: connected.buyer_id,
    details: { digits },
    now,
  });
  return undefined;
}
