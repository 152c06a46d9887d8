import {
  buildCall,
  type Action,
  type Call,
  type Input,
} from '../../../src/adapters/asterisk/call/call';
import type { Command, Session } from '../../../src/adapters/service/service';
import { step } from '../../../src/adapters/asterisk/call/step';
import { buildBuyer, buildSession } from '../support/sessions';

const NOW = Date.parse('2027-01-12T17:00:00Z');

/** A call, and the actions that its facts have led to. */
function follow(call: Call = buildCall('caller')) {
  let current = call;
  let now = NOW;
  return {
    get call() {
      return current;
    },
    pass: (seconds: number) => void (now += seconds * 1000),
    take: (...inputs: Input[]): Action[] =>
      inputs.flatMap((input) => {
        const decision = step(current, input, now);
        current = decision.call;
        return decision.actions;
      }),
  };
}

const answer = (instruction: Partial<Session['instruction']>): Input => ({
  type: 'session',
  session: buildSession(instruction),
});
const up = (leg: string): Input => ({ type: 'leg_up', leg });
const over = (leg: string, cause = {}): Input => ({ type: 'leg_over', leg, cause });
const types = (actions: Action[]) => actions.map(({ type }) => type);
const reports = (actions: Action[]) =>
  actions.flatMap((action) => (action.type === 'report' ? [action.event] : []));
const command = (kind: Command['command'], more: Partial<Command> = {}): Input => ({
  type: 'command',
  command: {
    ...{ id: 7, command: kind, status: 'open', created_at: '', expires_at: '', call_id: 1 },
    ...{ call_uuid: '', call_sid: null, attempt: null, leg_sid: null, digits: null },
    ...{ key_press_id: null, number: null, reason: null },
    ...more,
  } as Command,
});

/** A caller who talks to the buyer of attempt a; b rings too. */
function openTalk(buyer = buildBuyer('a')) {
  const on = follow();
  on.take(answer({ action: 'dial', dial: [buyer, buildBuyer('b')] }), up('a'));
  const actions = on.take(answer({ action: 'connect', attempt: 'a', cancel: ['b'] }));
  return { ...on, actions, state: () => on.call };
}

test('all buyers are dialed at once, and an instruction that is repeated dials none again', () => {
  const on = follow();
  const dial = answer({ action: 'dial', dial: [buildBuyer('a'), buildBuyer('b')] });
  expect(on.take(dial)).toEqual([
    expect.objectContaining({ type: 'dial', leg: 'a', seconds: 20 }),
    expect.objectContaining({ type: 'dial', leg: 'b' }),
  ]);
  expect(on.take(dial)).toEqual([]);
});

test('a buyer whose instruction was lost is dialed with the next', () => {
  const on = follow();
  on.take(answer({ action: 'dial', dial: [buildBuyer('a')] }));
  const more = on.take(answer({ action: 'wait', dial: [buildBuyer('a'), buildBuyer('b')] }));
  expect(more).toEqual([expect.objectContaining({ type: 'dial', leg: 'b' })]);
});

test('the greeting is played once, and before anybody is dialed', () => {
  const on = follow();
  const dial = answer({ action: 'dial', greeting: 'Welcome', dial: [buildBuyer('a')] });
  expect(types(on.take(dial))).toEqual(['answer', 'play']);
  expect(on.take(dial)).toEqual([]);
  expect(types(on.take({ type: 'played', playback: 'greeting' }))).toEqual(['dial']);
  expect(types(on.take({ type: 'played', playback: 'greeting' }))).toEqual([]);
});

test('the first buyer to be accepted gets the caller, and the others stop ringing', () => {
  const { actions, state } = openTalk();
  expect(types(actions)).toEqual(['stop_timer', 'hang_up', 'stop_timer', 'answer', 'connect']);
  expect(state()).toMatchObject({ phase: 'connected', taker: 'a' });
});

test('a buyer who was given up and answers all the same changes nothing', () => {
  const { take } = openTalk();
  expect(take(up('b'), over('b'))).toEqual([]);
});

test('an answer of the service that comes late connects no second buyer', () => {
  const { take } = openTalk();
  expect(take(answer({ action: 'connect', attempt: 'b' }))).toEqual([]);
  expect(take(answer({ action: 'dial', dial: [buildBuyer('c')] }))).toEqual([]);
});

test.each([
  [{ sip_code: 486 }, { event: 'failed', sip_code: 486 }],
  [
    { sip_code: 404, q850: 1 },
    { event: 'failed', sip_code: 404 },
  ],
  [{ sip_code: 480, q850: 19 }, { event: 'no_answer' }],
  [{ sip_code: 200, q850: 16 }, { event: 'no_answer' }],
  [{ q850: 17 }, { event: 'failed', q850: 17 }],
  [{}, { event: 'no_answer' }],
])('a leg that ends with %j is reported as %j', (cause, event) => {
  const on = follow();
  on.take(answer({ action: 'dial', dial: [buildBuyer('a')] }));
  expect(reports(on.take(over('a', cause)))).toEqual([{ ...event, attempt: 'a' }]);
});

test('a buyer is dialed again through another trunk, once, and the trunk is named', () => {
  const on = follow();
  const through = (name: string) => {
    const trunk = { name, host: 'sip.example', number: '13105550101' };
    return answer({ action: 'dial', dial: [buildBuyer('a', { trunk })] });
  };
  on.take(through('west'));
  const failed = reports(on.take(over('a', { sip_code: 503 })));
  expect(failed).toEqual([{ event: 'failed', sip_code: 503, attempt: 'a', trunk: 'west' }]);
  expect(on.take(through('west'))).toEqual([]);
  expect(on.take(through('east'))).toEqual([expect.objectContaining({ type: 'dial', leg: 'a' })]);
  expect(on.call.legs.a).toMatchObject({ channel: 'tl-leg-a-2', state: 'ringing' });
  expect(on.take(through('west'))).toEqual([]);
});

describe('press one', () => {
  const ask = () => {
    const on = follow();
    const buyer = buildBuyer('a', { press_one_to_accept: true });
    on.take(answer({ action: 'dial', dial: [buyer] }), up('a'));
    expect(
      types(on.take(answer({ action: 'ask_for_key', attempt: 'a', prompt: 'Press' }))),
    ).toEqual(['play', 'start_timer']);
    return on;
  };

  test('a key is reported once, and the prompt stops', () => {
    const on = ask();
    const key = on.take({ type: 'key', leg: 'a', key: '1' });
    expect(types(key)).toEqual(['stop_timer', 'stop_playing', 'report']);
    expect(on.take({ type: 'key', leg: 'a', key: '1' })).toEqual([]);
    expect(types(on.take(answer({ action: 'connect', attempt: 'a' })))).toContain('connect');
  });

  test('a buyer who declines is hung up on when the next is dialed', () => {
    const on = ask();
    on.take({ type: 'key', leg: 'a', key: '2' });
    const next = on.take(answer({ action: 'dial', dial: [buildBuyer('b')] }));
    expect(next).toContainEqual({ type: 'hang_up', channel: 'tl-leg-a' });
    expect(next).toContainEqual(expect.objectContaining({ type: 'dial', leg: 'b' }));
  });

  test('a buyer who presses none has not answered', () => {
    const on = ask();
    const actions = on.take({ type: 'time_is_up', timer: 'key:a' });
    expect(reports(actions)).toEqual([{ event: 'no_answer', attempt: 'a' }]);
    expect(actions).toContainEqual({ type: 'hang_up', channel: 'tl-leg-a' });
  });

  test('a key before the prompt, or of a machine, accepts nothing', () => {
    const on = follow();
    on.take(answer({ action: 'dial', dial: [buildBuyer('a', { press_one_to_accept: true })] }));
    on.take(up('a'));
    expect(on.take({ type: 'key', leg: 'a', key: '1' })).toEqual([]);
    const strict = ask();
    expect(strict.take({ type: 'key', leg: 'a', key: 'A' })).toEqual([]);
  });
});

describe('the end of a talk', () => {
  test('by the buyer is reported with its duration, once', () => {
    const { take, pass, state } = openTalk();
    pass(6);
    expect(reports(take(over('a')))).toEqual([{ event: 'completed', by: 'buyer', duration: 6 }]);
    expect(take({ type: 'caller_over', cause: {} }, over('a'))).toEqual([]);
    expect(state().phase).toBe('over');
  });

  test('by the caller lets go of the buyer', () => {
    const { take } = openTalk();
    const actions = take({ type: 'caller_over', cause: {} });
    expect(reports(actions)).toEqual([{ event: 'completed', by: 'caller', duration: 0 }]);
    expect(actions).toContainEqual({ type: 'hang_up', channel: 'tl-leg-a' });
  });

  test('by the service needs no report', () => {
    const { take } = openTalk();
    const actions = take(answer({ action: 'hang_up' }));
    expect(reports(actions)).toEqual([]);
    expect(types(actions)).toContain('hang_up');
  });

  test('comes when the longest time has passed', () => {
    const on = follow();
    on.take(answer({ action: 'dial', dial: [buildBuyer('a')] }), up('a'));
    const connected = on.take(answer({ action: 'connect', attempt: 'a', max_seconds: 60 }));
    expect(connected).toContainEqual({ type: 'start_timer', timer: 'max', seconds: 60 });
    const ended = on.take({ type: 'time_is_up', timer: 'max' });
    expect(reports(ended)).toEqual([expect.objectContaining({ event: 'completed', by: 'switch' })]);
  });
});

test('a caller who was not answered is refused with the status of the service', () => {
  const on = follow();
  const actions = on.take(answer({ action: 'hang_up', sip_status: 603 }));
  expect(actions).toEqual([{ type: 'refuse', status: 603 }, { type: 'forget' }]);
});

describe('without an answer of the service', () => {
  test('a caller whom nobody rings for goes to the overflow, and the session ends', () => {
    const on = follow();
    const actions = on.take({ type: 'unreachable' });
    expect(types(actions)).toEqual(['report', 'overflow', 'forget']);
  });

  test('a caller waits for the buyers who ring', () => {
    const on = follow();
    on.take(answer({ action: 'dial', dial: [buildBuyer('a')] }));
    expect(on.take({ type: 'unreachable' })).toEqual([]);
  });

  test('a buyer who has answered gets the caller, but not one who is to press a key', () => {
    const plain = follow();
    plain.take(answer({ action: 'dial', dial: [buildBuyer('a')] }), up('a'));
    expect(types(plain.take({ type: 'unreachable' }))).toContain('connect');
    const strict = follow();
    const buyer = buildBuyer('a', { press_one_to_accept: true });
    strict.take(answer({ action: 'dial', dial: [buyer] }), up('a'));
    expect(strict.take({ type: 'unreachable' })).toEqual([]);
  });
});

describe('a fallback', () => {
  const start = (type: 'message' | 'voicemail' | 'number') => {
    const on = follow();
    const fallback = { type, message: 'Closed', number: '+13105550102' };
    return { ...on, actions: on.take(answer({ action: 'fallback', fallback })) };
  };

  test('that is a voicemail is recorded after the message, and reported with its length', () => {
    const { actions, take, pass } = start('voicemail');
    expect(types(actions)).toEqual(['report', 'answer', 'play']);
    expect(types(take({ type: 'played', playback: 'message' }))).toEqual(['record_voicemail']);
    pass(9);
    expect(reports(take({ type: 'recorded' }))).toEqual([{ event: 'fallback_ended', duration: 9 }]);
  });

  test('that is a number is dialed, and ends with it', () => {
    const { actions, take } = start('number');
    expect(types(actions)).toEqual(['report', 'dial']);
    expect(types(take(up('fallback')))).toEqual(['answer', 'connect']);
    expect(reports(take(over('fallback')))).toEqual([{ event: 'fallback_ended', duration: 0 }]);
  });

  test('is not begun twice by an answer that repeats it', () => {
    const { take } = start('message');
    const fallback = { type: 'message' as const, message: 'Closed', number: null };
    expect(take(answer({ action: 'fallback', fallback }))).toEqual([]);
  });
});

describe('commands', () => {
  test('keys are played once, whether by a command or an instruction', () => {
    const { take } = openTalk();
    const keys = command('play_keys', { digits: '12', key_press_id: 5 });
    expect(types(take(keys))).toEqual(['play_keys', 'result']);
    const instruction = answer({
      ...{ action: 'connect', attempt: 'a', key_presses: [{ id: 5, digits: '12' }] },
    });
    expect(take(instruction)).toEqual([]);
    expect(types(take(keys))).toEqual(['result']);
  });

  test('a transfer keeps the buyer until the number has answered', () => {
    const { take, state } = openTalk();
    expect(types(take(command('transfer', { number: '+13105550103' })))).toEqual(['dial']);
    const actions = take(up('transfer'));
    expect(actions[0]).toMatchObject({ type: 'connect', leg: 'transfer', drop: 'a' });
    expect(actions).toContainEqual({ type: 'result', command_id: 7, result: 'done' });
    expect(state()).toMatchObject({ phase: 'connected', taker: 'transfer' });
    expect(reports(take(over('transfer')))).toEqual([
      expect.objectContaining({ event: 'completed', by: 'buyer' }),
    ]);
  });

  test('a transfer that fails leaves the talk as it is', () => {
    const { take, state } = openTalk();
    take(command('transfer', { number: '+13105550103' }));
    expect(take(over('transfer', { sip_code: 486 }))).toContainEqual(
      expect.objectContaining({ type: 'result', result: 'failed' }),
    );
    expect(state()).toMatchObject({ phase: 'connected', taker: 'a' });
  });

  test('a recording is begun once', () => {
    const { take } = openTalk(buildBuyer('a', { record_calls: true }));
    expect(types(take(command('start_recording')))).toEqual(['result']);
  });

  test('one about a call that has ended fails, but for a hang-up', () => {
    const { take } = openTalk();
    take(over('a'));
    expect(take(command('start_recording'))).toEqual([
      expect.objectContaining({ result: 'failed', reason: 'it has ended' }),
    ]);
    expect(take(command('hang_up'))).toEqual([expect.objectContaining({ result: 'done' })]);
  });
});

describe('a person who is called', () => {
  const call = () =>
    follow(buildCall('tl-person-1', { is_outbound: true, phase: 'calling', uuid: '1' }));

  test('is reported when it answers, or when it is known who has answered', () => {
    const on = call();
    expect(reports(on.take({ type: 'person_up', detect: undefined }))).toEqual([
      { event: 'answered' },
    ]);
    const detecting = call();
    expect(types(detecting.take({ type: 'person_up', detect: 'at_once' }))).toEqual(['detect']);
    const actions = detecting.take({ type: 'detected', answered_by: 'machine' });
    expect(reports(actions)).toEqual([{ event: 'answered', answered_by: 'machine' }]);
  });

  test('and does not answer ends the call', () => {
    const on = call();
    const actions = on.take({ type: 'caller_over', cause: { sip_code: 486 } });
    expect(reports(actions)).toEqual([{ event: 'failed', sip_code: 486 }]);
  });

  test('and was answered, is let go of where the service does not answer', () => {
    const on = call();
    on.take({ type: 'person_up', detect: undefined });
    expect(types(on.take({ type: 'unreachable' }))).toContain('hang_up');
  });
});
