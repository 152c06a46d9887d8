import { listen, openStream } from '../../support/event-stream';
import { softswitch } from '../../support/softswitch';

/** Monday 08:30 in New York. */
const here = softswitch('2026-06-01T12:30:00Z');
const { ok, buyer, offer, begin, report, later } = here;

type Fields = Record<string, unknown>;
interface Command extends Fields {
  id: number;
  command: string;
  status: string;
}

const addSwitch = async (fields: Fields = {}) =>
  (await ok('post', 'switches', { name: 'edge', ...fields })) as {
    switch: Fields & { id: number };
    secret: string;
  };
const startCall = async (fields: Fields = {}) =>
  begin(await offer({ buyer_ids: [await buyer()] }), { switch: 'edge', ...fields });
const listCommands = async (query = ''): Promise<Command[]> =>
  (await ok('get', `switches/edge/commands${query}`)).commands;
const hangUp = ({ id }: { id: number }) => ok('post', `calls/${id}`, { hang_up: true });

describe('a switch', () => {
  test('has a name of its own, and a secret that is shown once', async () => {
    const { secret, ...created } = await addSwitch();
    expect(secret).toMatch(/^whsec_/);
    const shown = await ok('get', `switches/${created.switch.id}`);
    expect(shown.switch).toMatchObject({
      ...{ name: 'edge', synced_at: null, live_calls: 0, open_commands: 0 },
    });
    expect(JSON.stringify(shown)).not.toContain('whsec_');
    const [status] = await here.errors('switches', { name: 'edge' });
    expect(status).toBe(422);
    const rotated = await ok('post', `switches/${created.switch.id}/rotate_secret`);
    expect(rotated.secret).not.toBe(secret);
  });

  test('must be one of the company in a call that names it', async () => {
    await addSwitch();
    const id = await offer({ buyer_ids: [await buyer()] });
    const [status, errors] = await here.errors('call_sessions', { offer_id: id, switch: 'other' });
    expect([status, Object.keys(errors)]).toEqual([422, ['switch']]);
  });

  test('counts its live calls', async () => {
    const { switch: edge } = await addSwitch();
    const call = await startCall();
    const show = async () => (await ok('get', `switches/${edge.id}`)).switch;
    expect(await show()).toMatchObject({ live_calls: 1, open_commands: 0 });
    await hangUp(call);
    expect(await show()).toMatchObject({ live_calls: 0, open_commands: 1 });
  });
});

describe('a call that is hung up by the API', () => {
  test('gives its switch a command, with what the switch calls it', async () => {
    await addSwitch();
    const call = await startCall({ call_sid: 'a84b@192.0.2.1' });
    await report(call, 'answered');
    await hangUp(call);
    const [command, ...rest] = await listCommands();
    expect(rest).toEqual([]);
    expect(command).toMatchObject({
      ...{ id: 1, command: 'hang_up', status: 'open', call_id: call.id, call_uuid: call.uuid },
      ...{ call_sid: 'a84b@192.0.2.1', expires_at: '2026-06-01T12:35:00.000+00:00' },
    });
  });

  test('wakes a switch that waits', async () => {
    await addSwitch();
    const call = await startCall();
    const waiting = listCommands('?wait_seconds=60');
    await hangUp(call);
    expect(await waiting).toMatchObject([{ command: 'hang_up', call_uuid: call.uuid }]);
  });

  test('of no switch gives no command', async () => {
    await addSwitch();
    const call = await startCall({ switch: null });
    await hangUp(call);
    expect(await listCommands()).toEqual([]);
  });
});

describe('a command', () => {
  const order = async (call: { id: number }, fields: Fields = { command: 'refresh' }) =>
    (await ok('post', 'switches/edge/commands', { call_id: String(call.id), ...fields }))
      .command as Command;
  const answer = (id: number, fields: Fields) => ok('post', `switches/edge/commands/${id}`, fields);

  test('is given until it has a result, of which the first counts', async () => {
    await addSwitch();
    const call = await startCall();
    const { id } = await order(call);
    expect(await listCommands()).toHaveLength(1);
    expect((await answer(id, { result: 'failed', reason: 'no such call' })).command).toMatchObject({
      ...{ status: 'failed', reason: 'no such call' },
    });
    expect((await answer(id, { result: 'done' })).command).toMatchObject({ status: 'failed' });
    expect(await listCommands()).toEqual([]);
  });

  test('expires, and has no result after that', async () => {
    await addSwitch();
    const { id } = await order(await startCall());
    later(61);
    expect(await listCommands()).toEqual([]);
    expect((await answer(id, { result: 'done' })).command).toMatchObject({ status: 'expired' });
  });

  test('comes after those that the switch has', async () => {
    await addSwitch();
    const call = await startCall();
    const ids = [await order(call), await order(call), await order(call)].map(({ id }) => id);
    expect(ids).toEqual([1, 2, 3]);
    expect((await listCommands('?after=1')).map(({ id }) => id)).toEqual([2, 3]);
    expect(await listCommands('?after=3')).toEqual([]);
  });

  test('is numbered without gaps, however many are given at once', async () => {
    await addSwitch();
    const call = await startCall();
    await Promise.all(Array.from({ length: 20 }, () => order(call)));
    const ids = (await listCommands()).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });

  test('names the leg and the keys that it is about', async () => {
    await addSwitch();
    const call = await startCall();
    const attempt = call.instruction.dial[0].attempt as string;
    await report(call, 'ringing', { leg_sid: 'leg-7' });
    expect(await order(call, { command: 'stop_leg', attempt })).toMatchObject({
      ...{ attempt, leg_sid: 'leg-7' },
    });
    await report(call, 'answered');
    await ok('post', 'calls/send_key_press', { id: String(call.id), digits: '12w3' });
    const { call_session } = await ok('get', `call_sessions/${call.uuid}`);
    const [keys] = call_session.instruction.key_presses;
    expect((await listCommands('?after=1'))[0]).toMatchObject({
      ...{ command: 'play_keys', digits: '12w3', key_press_id: keys.id, attempt },
    });
    expect(await order(call, { command: 'transfer', number: '+13105550111' })).toMatchObject({
      number: '+13105550111',
    });
  });

  test('to look again follows a key that the API has pressed for a buyer', async () => {
    await addSwitch();
    const id = await offer({ buyer_ids: [await buyer({ press_one_to_accept: true })] });
    const call = await begin(id, { switch: 'edge' });
    await report(call, 'answered');
    await ok('post', 'calls/send_key_press', { id: String(call.id), digits: '1' });
    expect(await listCommands()).toMatchObject([{ command: 'refresh' }]);
    const { call_session } = await ok('get', `call_sessions/${call.uuid}`);
    expect(call_session.instruction.action).toBe('connect');
  });

  test.each([
    [{ command: 'transfer' }, 'number'],
    [{ command: 'stop_leg' }, 'attempt'],
    [{ command: 'stop_leg', attempt: '01a2033d-9359-7086-a5cc-b6e626d5932b' }, 'attempt'],
    [{ command: 'originate' }, 'command'],
    [{ command: 'refresh', call_id: '999' }, 'call_id'],
  ])('%j is refused on %s', async (fields, field) => {
    await addSwitch();
    const call = await startCall();
    const [status, errors] = await here.errors('switches/edge/commands', {
      ...{ call_id: String(call.id), ...fields },
    });
    expect([status, Object.keys(errors)]).toEqual([422, [field]]);
  });

  test('is for a call in progress of the same switch', async () => {
    await addSwitch();
    await addSwitch({ name: 'other' });
    const call = await startCall({ switch: 'other' });
    const body = { command: 'refresh', call_id: String(call.id) };
    expect(await here.errors('switches/edge/commands', body)).toEqual([
      422,
      { call_id: ['must be a call of this switch'] },
    ]);
    await report(call, 'completed');
    const recording = { ...body, command: 'start_recording' };
    expect(await here.errors('switches/other/commands', recording)).toEqual([
      422,
      { call_id: ['must be a call in progress'] },
    ]);
    expect(await listCommands()).toEqual([]);
  });

  test('of another company is not found', async () => {
    await addSwitch();
    const other = await here.world.addCompany();
    expect((await other.api('get', 'switches/edge/commands')).status).toBe(404);
    const result = { body: { result: 'done' } };
    expect((await other.api('post', 'switches/edge/commands/1', result)).status).toBe(404);
    expect((await here.world.api('post', 'switches/edge/commands/1', result)).status).toBe(404);
  });
});

test('commands come as server-sent events, and after the last one that a client has', async () => {
  await addSwitch();
  const call = await startCall();
  const { url, close } = await listen(here.world.app);
  const permissions = ['switches:operate'];
  const owner = { kind: 'user_token', user_email: 'edge@network.example' } as const;
  const token = await here.world.credentials(here.world.company, permissions, owner);
  const path = 'switches/edge/commands/stream';
  const order = () =>
    ok('post', 'switches/edge/commands', { call_id: String(call.id), command: 'refresh' });
  const reader = await openStream(url, token, { path });
  await order();
  await order();
  const events = await reader.have(2);
  expect(events.map(({ id, event, data }) => [id, event, data.id])).toEqual([
    ['1', 'command', 1],
    ['2', 'command', 2],
  ]);
  reader.leave();
  await order();
  const resumed = await openStream(url, token, { path, after: '2' });
  expect((await resumed.have(1)).map(({ id }) => id)).toEqual(['3']);
  resumed.leave();
  await close();
});
