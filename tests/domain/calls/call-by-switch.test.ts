import { randomUUID } from 'node:crypto';
import type { Sql } from '../../../src/data/sql';
import { listCallersWithoutSwitch } from '../../../src/domain/switches/originate';
import { callingSwitch, type Command } from '../../support/calling-switch';
import { DIAL, loadStory, runEngine, wait } from '../../support/leads';

const here = callingSwitch();
const { ok, world, connect, listCommands, routeCall, showCall, showLead, answer, later } = here;

type Fields = Record<string, unknown>;

describe('a call that a switch places', () => {
  test('is a command for the switch that waits for it', async () => {
    await connect();
    const waiting = listCommands('?wait_seconds=30');
    const command = await routeCall();
    expect(await waiting).toEqual([command]);
    const uuid = command.call_uuid;
    expect(command).toMatchObject({
      ...{ command: 'originate', status: 'open', call_sid: uuid, number: '+13105550190' },
      ...{ caller_id: world.number, timeout_seconds: 30, detect_machine: 'at_once' },
      expires_at: '2027-01-12T17:02:00.000+00:00',
    });
  });

  test('that is hung up before it was placed is not placed any more', async () => {
    await connect();
    const { call_uuid: uuid } = await routeCall();
    await ok('post', `calls/${uuid}`, { hang_up: true });
    expect(await showCall(uuid)).toMatchObject({ status: 'canceled' });
    expect(await listCommands()).toMatchObject([{ command: 'hang_up' }]);
  });
});

describe('a company', () => {
  test('without a switch places no call, by name', async () => {
    const placed = await here.placeCall();
    expect([placed.status, placed.body.code]).toEqual([409, 'carrier_refused']);
    expect(placed.body.detail).toContain('register one by POST /switches');
    const { lead } = await here.callLead();
    expect(await loadStory(world, lead)).toContainEqual(
      expect.stringContaining('The company has no switch'),
    );
    expect((await ok('get', 'calls')).calls).toEqual([]);
  });

  test('whose switch is not there places no call, and its schedules wait for it', async () => {
    await connect();
    later(181);
    const placed = await here.placeCall();
    expect([placed.status, placed.body.code]).toEqual([409, 'carrier_refused']);
    expect(placed.body.detail).toContain('No switch of the company is there');
    const { lead } = await here.callLead([DIAL, wait(1)]);
    expect(await showLead(lead)).toMatchObject({ status: 'scheduled' });
    await here.sync([]);
    later(15);
    await runEngine(world);
    expect(await showLead(lead)).toMatchObject({ status: 'running' });
    expect(await listCommands()).toMatchObject([{ command: 'originate' }]);
  });

  test('with several switches calls by the first that is there', async () => {
    await connect();
    await connect({ name: 'second' });
    await routeCall();
    later(181);
    await listCommands('', 'second');
    const { body } = await here.placeCall();
    expect(await listCommands('', 'second')).toMatchObject([{ call_uuid: body.call.uuid }]);
    expect(await listCommands()).toEqual([]);
  });

  test('does not call through a switch that only takes calls', async () => {
    await connect({ name: 'edge', places_calls: false });
    expect((await here.placeCall()).body).toMatchObject({ code: 'carrier_refused' });
    await connect();
    expect(await routeCall()).toMatchObject({ command: 'originate' });
  });

  test('sends no texts and buys no numbers, by name', async () => {
    await connect();
    const { lead } = await here.callLead([{ action_type: 'sms', body: 'Hello' }]);
    expect(await loadStory(world, lead)).toContainEqual(
      expect.stringContaining('CARRIER=switch): it sends no texts'),
    );
    const numbers = await world.api('get', 'phone_numbers/search?country=US');
    expect([numbers.status, numbers.body.code]).toEqual([409, 'carrier_refused']);
  });

  test('reads no commands of another', async () => {
    await connect();
    const { call_uuid: uuid } = await routeCall();
    const other = await world.addCompany();
    const event = { body: { event: 'completed' } };
    expect((await other.api('post', `call_sessions/${uuid}/events`, event)).status).toBe(404);
    await other.api('post', 'switches', { body: { name: 'pbx' } });
    expect((await other.api('get', 'switches/pbx/commands')).body.commands).toEqual([]);
  });
});

describe('a schedule', () => {
  test.each([
    ['failed', (command: Command) => answer(command, { result: 'failed', reason: 'no trunk' })],
    ['expired', async () => later(121)],
  ])('goes on when the command of its call has %s', async (how, end) => {
    await connect();
    const { lead } = await here.callLead([DIAL, wait(1)]);
    const [command] = await listCommands();
    await end(command!);
    await here.keepHouse();
    expect(await showCall(command!.call_uuid)).toMatchObject({
      ...{ status: 'failed', hangup_cause: `originate_${how}`, total_duration: 0, service_cost: 0 },
    });
    expect((await showLead(lead)).status).not.toBe('running');
    expect(await listCommands()).toEqual([]);
  });

  test('calls once, however often its step runs', async () => {
    await connect();
    const { lead } = await here.callLead([DIAL, wait(1)]);
    for (let time = 0; time < 2; time++) {
      await world.sql(
        `UPDATE leads
          SET (status, step, position, due_at, next_action_at) = ('scheduled', 0, NULL, $2, $2)
          WHERE id = $1`,
        [lead, world.clock.read()],
      );
      await Promise.all([runEngine(world), runEngine(world)]);
    }
    const commands = await world.sql('SELECT FROM switch_commands WHERE company_id = $1', [
      world.company.id,
    ]);
    expect([commands.length, (await ok('get', 'calls')).calls.length]).toEqual([1, 1]);
  });
});

describe('a call that nothing is reported of', () => {
  test('ends when its person can no longer be rung', async () => {
    await connect();
    const command = await routeCall();
    await answer(command, { result: 'done' });
    later(121);
    await here.keepHouse();
    expect(await showCall(command.call_uuid)).toMatchObject({ ended_at: null });
    later(89);
    await here.keepHouse();
    expect(await showCall(command.call_uuid)).toMatchObject({
      ...{ status: 'failed', hangup_cause: 'lost', service_cost: 0 },
    });
  });
});

describe('a result and the expiry of a command', () => {
  test('at the same time end its call once', async () => {
    await connect();
    for (let time = 0; time < 5; time++) {
      const { call_uuid: uuid, ...command } = await routeCall();
      later(119);
      const fail = () => answer(command as Command, { result: 'failed', reason: 'no trunk' });
      const expire = async () => {
        later(2);
        await here.keepHouse();
      };
      await Promise.all([fail(), expire(), fail(), expire()]);
      later(2);
      await here.keepHouse();
      const { status, hangup_cause } = await showCall(uuid);
      expect(status).toBe('failed');
      expect(['originate_failed', 'originate_expired']).toContain(hangup_cause);
      expect(await here.loadEvents(uuid)).toEqual(['failed']);
    }
  });
});

test('a company whose schedules call is named while no switch of it is there', async () => {
  const listCallers = () =>
    listCallersWithoutSwitch(world.deps.database.sql as Sql, world.clock.read());
  const name = `Company ${randomUUID()}`;
  await world.sql('UPDATE companies SET name = $2 WHERE id = $1', [world.company.id, name]);
  await connect();
  later(181);
  expect(await listCallers()).not.toContain(name);
  await here.callLead([DIAL, wait(1)]);
  expect(await listCallers()).toContain(name);
  await listCommands();
  expect(await listCallers()).not.toContain(name);
});

test('a switch with a URL gets the command as a signed request', async () => {
  await connect({ webhook_url: 'https://switch.example.com/commands' });
  await routeCall();
  const jobs = await world.sql<{ data: Fields }>(
    `SELECT data FROM jobs.job WHERE name = 'push_switch_command' AND data->>'company_id' = $1`,
    [String(world.company.id)],
  );
  expect(jobs).toHaveLength(1);
});
