import { randomUUID } from 'node:crypto';
import { callingSwitch } from '../../support/calling-switch';
import { DIAL, wait } from '../../support/leads';

const here = callingSwitch();
const { ok, world, connect, listCommands, routeCall, report, showCall, showLead, answer, later } =
  here;

type Fields = Record<string, unknown>;

describe('a call that a switch places', () => {
  test('is a command, whose person is routed to buyers when it answers', async () => {
    await connect();
    const command = await routeCall([{ timeout_seconds: 25 }], { machine_action: 'hang_up' });
    const uuid = command.call_uuid;
    const waits = { action: 'wait', dial: [], report_within_seconds: null };
    expect((await ok('get', `call_sessions/${uuid}`)).call_session.instruction).toMatchObject(
      waits,
    );
    await answer(command, { result: 'done' });
    expect(await report(uuid, 'ringing')).toMatchObject(waits);
    expect(await showCall(uuid)).toMatchObject({ status: 'ringing', answered_by: null });
    const dial = await report(uuid, 'answered', { answered_by: 'human' });
    expect(dial).toMatchObject({ action: 'dial', dial: [{ timeout_seconds: 25 }] });
    const { attempt } = dial.dial[0];
    // The answer was lost: no buyer is dialed twice.
    expect(await report(uuid, 'answered', { answered_by: 'human' })).toMatchObject({
      ...{ action: 'wait', dial: [{ attempt }] },
    });
    expect(await report(uuid, 'ringing', { attempt })).toMatchObject({ action: 'wait' });
    expect(await report(uuid, 'answered', { attempt })).toMatchObject({
      ...{ action: 'connect', attempt },
    });
    later(60);
    expect(await report(uuid, 'completed', { duration: 55, by: 'buyer' })).toMatchObject({
      action: 'hang_up',
    });
    expect(await showCall(uuid)).toMatchObject({
      ...{ status: 'completed', answered_by: 'human', answered_duration: 55, abandoned: false },
      ...{ hangup_cause: 'buyer_hung_up', category: 'outbound' },
    });
    expect(await listCommands()).toEqual([]);
  });

  test('goes on to the next buyer, and plays a message where there is none', async () => {
    await connect();
    const { call_uuid: uuid } = await routeCall([{ tier: 1 }, { tier: 2 }]);
    const offerId = (await showCall(uuid)).offer_id as number;
    await ok('put', `offers/${offerId}`, { abandoned_message: 'This was Acme.' });
    const first = (await report(uuid, 'answered')).dial[0].attempt;
    const next = await report(uuid, 'failed', { attempt: first, sip_code: 486 });
    expect(next).toMatchObject({ action: 'dial', dial: [{ attempt: expect.any(String) }] });
    const last = await report(uuid, 'no_answer', { attempt: next.dial[0].attempt });
    expect(last).toMatchObject({ action: 'fallback', message: 'This was Acme.' });
    expect(await report(uuid, 'fallback_ended')).toMatchObject({ action: 'hang_up' });
    expect(await showCall(uuid)).toMatchObject({ status: 'completed', abandoned: true });
  });

  test('to a fixed number sends the person there', async () => {
    await connect();
    const { body } = await here.placeCall();
    const [command] = await listCommands();
    expect(command).toMatchObject({ timeout_seconds: 20, detect_machine: null });
    const { uuid } = body.call;
    const sends = { action: 'fallback', fallback: { type: 'number', number: '+13105550199' } };
    expect(await report(uuid, 'answered')).toMatchObject(sends);
    expect(await report(uuid, 'answered')).toMatchObject(sends);
    expect((await ok('get', `call_sessions/${uuid}`)).call_session.instruction).toMatchObject(
      sends,
    );
    await report(uuid, 'fallback_started');
    later(90);
    const recording = { recording_url: 'https://switch.example.com/7.mp3' };
    expect(await report(uuid, 'recording', recording)).toMatchObject(sends);
    await report(uuid, 'completed', { by: 'caller' });
    const ended = { status: 'completed', total_duration: 90, hangup_cause: 'caller_hung_up' };
    expect(await showCall(uuid)).toMatchObject({ ...ended, ...recording });
    later(30);
    await report(uuid, 'completed', { by: 'caller' });
    expect(await showCall(uuid)).toMatchObject(ended);
    expect(await here.loadEvents(uuid)).toEqual(
      expect.arrayContaining(['answered', 'fallback_started', 'recording', 'completed']),
    );
  });

  test.each([
    ['hang_up', { action: 'hang_up' }, 'machine'],
    ['connect', { action: 'dial' }, null],
  ])('with a machine that answers does what the order says: %s', async (action, does, cause) => {
    await connect();
    const { call_uuid: uuid } = await routeCall([{}], { machine_action: action });
    expect(await report(uuid, 'answered', { answered_by: 'machine' })).toMatchObject(does);
    expect(await showCall(uuid)).toMatchObject({ answered_by: 'machine', hangup_cause: cause });
  });

  test('leaves a message on a machine', async () => {
    await connect();
    const order = { machine_action: 'leave_message', machine_message: 'Call us back.' };
    const command = await routeCall([{}], order);
    expect(command.detect_machine).toBe('for_message');
    const uuid = command.call_uuid;
    const plays = { action: 'fallback', message: 'Call us back.', fallback: { type: 'message' } };
    expect(await report(uuid, 'answered', { answered_by: 'machine' })).toMatchObject(plays);
    expect(await report(uuid, 'fallback_started')).toMatchObject(plays);
    later(12);
    expect(await report(uuid, 'fallback_ended', { duration: 12 })).toMatchObject({
      action: 'hang_up',
    });
    expect(await showCall(uuid)).toMatchObject({
      ...{ status: 'completed', answered_by: 'machine', total_duration: 12, abandoned: false },
    });
  });

  test.each([
    ['no_answer', {}, 'no_answer', null],
    ['busy', { hangup_cause: 'line busy' }, 'busy', 'line busy'],
    ['failed', { sip_code: 486 }, 'busy', 'busy'],
    ['failed', { sip_code: 480 }, 'no_answer', 'no_answer'],
    ['failed', { sip_code: 603 }, 'busy', 'declined'],
    ['failed', { q850: 1 }, 'failed', 'no_such_number'],
    ['failed', { sip_code: 503 }, 'failed', null],
    ['completed', { by: 'switch' }, 'canceled', 'switch_hung_up'],
  ])('ends with %s %j of the person as %s', async (event, fields, status, cause) => {
    await connect();
    const { call_uuid: uuid } = await routeCall();
    await report(uuid, 'ringing');
    later(20);
    const over = await report(uuid, event, fields);
    expect(over).toMatchObject({ action: 'hang_up', sip_status: null });
    const ended = { status, hangup_cause: cause, total_duration: 0, service_cost: 0 };
    expect(await showCall(uuid)).toMatchObject(ended);
    expect(await report(uuid, event, fields)).toEqual(over);
    expect(await report(uuid, 'answered')).toEqual(over);
    expect(await showCall(uuid)).toMatchObject({ ...ended, answered_by: null });
    expect(await here.loadEvents(uuid)).toEqual([event]);
  });

  test('drops no field of an event silently', async () => {
    await connect();
    const { call_uuid: uuid } = await routeCall();
    const errors = async (event: string, fields: Fields) => {
      const path = `call_sessions/${uuid}/events`;
      const res = await world.api('post', path, { body: { event, ...fields } });
      return [res.status, Object.keys(res.body.errors)];
    };
    expect(await errors('ringing', { answered_by: 'human' })).toEqual([409, ['answered_by']]);
    expect(await errors('no_answer', { duration: 7 })).toEqual([409, ['duration']]);
    expect(await errors('answered', { hangup_cause: 'x' })).toEqual([409, ['hangup_cause']]);
    expect(await errors('fallback_started', {})).toEqual([422, ['event']]);
    expect(await errors('answered', { attempt: randomUUID() })).toEqual([422, ['attempt']]);
    const { attempt } = (await report(uuid, 'answered')).dial[0];
    expect(await errors('answered', { attempt, answered_by: 'human' })).toEqual([
      ...[409, ['answered_by']],
    ]);
    expect(await errors('no_answer', {})).toEqual([422, ['attempt']]);
    expect(await showCall(uuid)).toMatchObject({ ended_at: null });
  });

  test('that is hung up when its person was answered ends, and its switch learns it', async () => {
    await connect();
    const { body } = await here.placeCall();
    const { uuid } = body.call;
    await report(uuid, 'answered');
    await ok('post', `calls/${uuid}`, { hang_up: true });
    expect(await showCall(uuid)).toMatchObject({ status: 'completed' });
    expect((await listCommands()).map(({ command }) => command)).toEqual(['hang_up']);
  });

  test('that was not placed is over for its person too', async () => {
    await connect();
    const command = await routeCall();
    await answer(command, { result: 'failed' });
    expect(await report(command.call_uuid, 'answered')).toMatchObject({ action: 'hang_up' });
  });
});

describe('a schedule', () => {
  test('goes on when its call has ended, and knows who was connected', async () => {
    await connect();
    const { lead } = await here.callLead([DIAL, wait(1)]);
    expect(await showLead(lead)).toMatchObject({ status: 'running' });
    const [command] = await listCommands();
    await report(command!.call_uuid, 'answered');
    later(30);
    await report(command!.call_uuid, 'completed');
    await here.keepHouse();
    expect(await showLead(lead)).toMatchObject({
      ...{ status: 'scheduled', connected_call_id: command!.call_id },
    });
  });
});

describe('a call that nothing is reported of', () => {
  test('ends after the longest talk, at its last sign of life, and still gets its end', async () => {
    await connect();
    const { uuid } = (await here.placeCall()).body.call;
    later(5);
    await report(uuid, 'answered');
    for (const seconds of [300, 14_100]) {
      later(seconds);
      await here.keepHouse();
      expect(await showCall(uuid)).toMatchObject({ ended_at: null });
    }
    later(61);
    await here.keepHouse();
    expect(await showCall(uuid)).toMatchObject({
      ...{ status: 'completed', hangup_cause: 'lost' },
      ended_at: '2027-01-12T17:00:05.000+00:00',
    });
    await report(uuid, 'completed', { duration: 14_455 });
    expect(await showCall(uuid)).toMatchObject({ ended_at: '2027-01-12T21:01:06.000+00:00' });
  });

  test('is left to its slots once buyers are dialed', async () => {
    await connect();
    const { call_uuid: uuid } = await routeCall();
    await report(uuid, 'answered');
    later(15_000);
    await here.keepHouse();
    expect(await showCall(uuid)).toMatchObject({ ended_at: null });
  });
});

describe('the expiry of a command', () => {
  test('at the same time as an answer either ends the call or lets it go on', async () => {
    await connect();
    for (let time = 0; time < 6; time++) {
      const { call_uuid: uuid } = await routeCall();
      later(121);
      const [instruction] = await Promise.all([
        report(uuid, 'answered'),
        here.keepHouse(),
        here.keepHouse(),
      ]);
      const { status } = await showCall(uuid);
      expect([status, instruction.action]).toEqual(
        status === 'failed' ? ['failed', 'hang_up'] : ['in_progress', 'dial'],
      );
    }
  });
});

describe('a sync', () => {
  test('does not lose a call that its switch has not got yet', async () => {
    await connect();
    await here.sync([]);
    const command = await routeCall();
    later(30);
    const nothing = { renewed: 0, ended: [], lost: [], unknown: [] };
    expect(await here.sync([])).toMatchObject(nothing);
    expect(await here.sync([], 'boot-2')).toMatchObject(nothing);
    later(1);
    await answer(command, { result: 'done' });
    expect(await here.sync([], 'boot-2')).toMatchObject(nothing);
    later(30);
    expect(await here.sync([command.call_uuid], 'boot-2')).toMatchObject({ renewed: 1 });
    await report(command.call_uuid, 'ringing');
    expect(await here.sync([], 'boot-3')).toMatchObject({ lost: [command.call_uuid] });
    expect(await showCall(command.call_uuid)).toMatchObject({
      ...{ status: 'failed', hangup_cause: 'lost' },
    });
  });

  test('names a call that has ended here', async () => {
    await connect();
    const { call_uuid: uuid } = await routeCall();
    await report(uuid, 'ringing');
    await ok('post', `calls/${uuid}`, { hang_up: true });
    expect(await here.sync([uuid])).toMatchObject({ ended: [uuid] });
  });
});
