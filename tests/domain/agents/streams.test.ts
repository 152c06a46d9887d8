import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { sendEvents } from '../../../src/api/reply/event-stream';
import { EventStream } from '../../../src/api/reply/reply';
import { asAgent, makeAgent, type TestAgent } from '../../support/agents';
import { eventually } from '../../support/engine-process';
import { listen, openStream, type ReadEvent } from '../../support/event-stream';
import { repetitions } from '../../support/repetitions';
import { useWorld } from '../../support/use-world';
import { buildApp } from '../../support/world';

const world = useWorld();
let servers: { url: string; close(): Promise<void> }[];
beforeAll(async () => {
  servers = [await listen(world.app), await listen(buildApp(world.openProcess()))];
  for (const { close } of servers) world.closeLater(close);
});

const { api, createRecord, create } = world;
const send = (content: string, body: object = {}): Promise<{ id: number }> =>
  createRecord('agent_messages', { content, ...body });
const contents = (events: ReadEvent[]) => events.map(({ data }) => data.content);
const until = async (met: () => Promise<boolean>) => {
  while (!(await met())) await new Promise((done) => setTimeout(done, 20));
};

test('a message arrives live on every server, with the number of the agent’s event', async () => {
  const agent = await makeAgent(world);
  const readers = await Promise.all(servers.map(({ url }) => openStream(url, agent.token)));
  await send('Live');
  for (const reader of readers) {
    const [event] = await reader.have(1);
    expect([reader.status, event]).toMatchObject([
      200,
      { id: '1', event: 'agent_message', data: { content: 'Live', agent_widget_count: 1 } },
    ]);
    reader.leave();
  }
});

test('a change is sent again; a withdrawn or deleted message is sent without content', async () => {
  const center = await create('call_centers', { name: 'C' });
  const agent = await makeAgent(world, { call_center_ids: [center] });
  const reader = await openStream(servers[0]!.url, agent.token);
  const { id } = await send('Secret', { call_center_ids: [center] });
  await reader.have(1);
  await api('put', `agent_messages/${id}`, { body: { content: 'Changed' } });
  await reader.have(2);
  await api('put', `agents/${agent.id}`, { body: { call_center_ids: [] } });
  await api('put', `agent_messages/${id}`, {
    body: {
      agent_status_id: (await api('get', `agents/${agent.id}`)).body.agent.agent_status_id,
    },
  });
  await reader.have(3);
  const second = await send('To all');
  await reader.have(4);
  await api('delete', `agent_messages/${second.id}`);
  const events = await reader.have(5);
  expect(
    events.map(({ id: eventId, event, data }) => [eventId, event, data.content ?? data]),
  ).toEqual([
    ['1', 'agent_message', 'Secret'],
    ['2', 'agent_message', 'Changed'],
    ['3', 'agent_message_withdrawn', { id }],
    ['4', 'agent_message', 'To all'],
    ['5', 'agent_message_withdrawn', { id: second.id }],
  ]);
  reader.leave();
  // Later readers do not see what was withdrawn in the meantime.
  const later = await openStream(servers[1]!.url, agent.token, {
    after: '0',
    query: '?wait_seconds=0',
  });
  expect(await later.ended).toBe(true);
  expect(later.events.map(({ event }) => event)).toEqual(Array(5).fill('agent_message_withdrawn'));
});

test('a stream sends its position first, so that no event is lost', async () => {
  const agent = await makeAgent(world);
  await send('Before');
  const reader = await openStream(servers[0]!.url, agent.token, { query: '?wait_seconds=0' });
  expect([await reader.ended, reader.events, reader.last_id]).toEqual([true, [], '1']);
  await send('Between');
  const next = await openStream(servers[1]!.url, agent.token, {
    after: reader.last_id,
    query: '?wait_seconds=0',
  });
  await next.ended;
  expect(contents(next.events)).toEqual(['Between']);
});

test('a reader that reconnects to changing servers gets each event once, in order', async () => {
  const agents = await Promise.all(Array.from({ length: 3 }, () => makeAgent(world)));
  const COUNT = repetitions(60, 120);
  let writing = true;
  const write = async () => {
    for (let n = 0; n < COUNT; n += 6)
      await Promise.all(Array.from({ length: 6 }, (_, k) => send(`N${n + k}`)));
    writing = false;
  };
  const follow = async (agent: TestAgent): Promise<ReadEvent[]> => {
    const events: ReadEvent[] = [];
    let after = '0';
    for (let turn = 0; writing || events.length < COUNT; turn++) {
      const reader = await openStream(servers[turn % 2]!.url, agent.token, { after });
      const isLast = () => events.length + reader.events.length >= COUNT;
      await eventually(() => reader.events.length > turn % 7 || isLast());
      reader.leave();
      await reader.ended;
      events.push(...reader.events);
      after = reader.last_id;
    }
    return events;
  };
  const [, ...followed] = await Promise.all([write(), ...agents.map(follow)]);
  for (const events of followed) {
    expect(events.map(({ id }) => Number(id))).toEqual(
      Array.from({ length: COUNT }, (_, n) => n + 1),
    );
    expect(contents(events).toSorted()).toEqual(
      Array.from({ length: COUNT }, (_, n) => `N${n}`).toSorted(),
    );
  }
  // In the order of the commits of messages, which is the same for all agents.
  expect(contents(followed[1]!)).toEqual(contents(followed[0]!));
  expect(contents(followed[2]!)).toEqual(contents(followed[0]!));
});

test('an event arrives even if its notification is lost', async () => {
  const agent = await makeAgent(world);
  const { id } = await send('First');
  const reader = await openStream(servers[0]!.url, agent.token, { after: '1' });
  await world.sql(
    `INSERT INTO agent_events (company_id, agent_id, event_id, agent_message_id)
    VALUES ($1, $2, 2, $3)`,
    [world.company.id, agent.id, id],
  );
  await world.sql('UPDATE agents SET last_event_id = 2 WHERE company_id = $1 AND id = $2', [
    world.company.id,
    agent.id,
  ]);
  expect((await reader.have(1))[0]!.id).toBe('2');
  reader.leave();
});

test('a process has one listening connection while it has streams', async () => {
  const listeners = async () =>
    (
      await world.sql(
        `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND query = 'LISTEN trunkline_agents'`,
      )
    ).length;
  await until(async () => (await listeners()) === 0);
  const agents = await Promise.all([makeAgent(world), makeAgent(world)]);
  const readers = await Promise.all(
    [...agents, ...agents].map(({ token }) => openStream(servers[0]!.url, token)),
  );
  await until(async () => (await listeners()) === 1);
  readers.forEach((reader) => reader.leave());
  await until(async () => (await listeners()) === 0);
});

test('a stream ends when its credentials are revoked, and when its agent is deleted', async () => {
  const [revoked, deleted] = await Promise.all([makeAgent(world), makeAgent(world)]);
  const readers = await Promise.all(
    [revoked, deleted].map(({ token }) => openStream(servers[0]!.url, token)),
  );
  const [row] = await world.sql<{ id: string }>('SELECT id FROM access_tokens WHERE user_id = $1', [
    revoked.user_id,
  ]);
  await api('delete', `access_tokens/${row!.id}`);
  await api('delete', `agents/${deleted.id}`);
  expect(await Promise.all(readers.map(({ ended }) => ended))).toEqual([true, true]);
  expect((await openStream(servers[0]!.url, deleted.token)).problem!.errors).toEqual({
    auth_token: [expect.any(String)],
  });
});

test('streams end when the process stops', async () => {
  const deps = world.openProcess();
  const server = await listen(buildApp(deps));
  const agent = await makeAgent(world);
  const reader = await openStream(server.url, agent.token);
  deps.live.close();
  expect(await reader.ended).toBe(true);
  expect(await (await openStream(server.url, agent.token)).ended).toBe(true);
  await server.close();
});

test.each([
  ['Last-Event-ID', { after: 'abc' }],
  ['Last-Event-ID', { after: '1' }],
  ['last_event_id', { query: '?last_event_id=1' }],
])('a position in %s that the agent has not had is refused', async (field, position) => {
  const agent = await makeAgent(world);
  const reader = await openStream(servers[0]!.url, agent.token, position);
  expect([reader.status, reader.problem!.errors]).toEqual([
    422,
    { [field]: [expect.stringContaining('from 0 to 0')] },
  ]);
});

test('HEAD has the status and headers of a stream', async () => {
  const agent = await makeAgent(world);
  const res = await api('head', 'agent_messages/stream', asAgent(agent));
  expect([res.status, res.headers['content-type']]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
});

test('a reader that stalls is cut off, and little is read for it', async () => {
  const block = `data: ${'x'.repeat(64_000)}\n\n`;
  let blockCount = 0;
  let socket: Socket | undefined;
  const endless = new EventStream(async function* () {
    for (;;) {
      blockCount += 1;
      yield block;
    }
  });
  const done = new Promise<void>((resolve) => {
    const server = createServer((req, res) => {
      Object.assign(res, {
        set: (headers: Record<string, string>) => res.setHeaders(new Map(Object.entries(headers))),
      });
      void sendEvents(req as never, res as never, endless, 200).then(() => {
        socket?.destroy();
        server.close(() => resolve());
      });
    });
    server.listen(0, '127.0.0.1', () => {
      socket = connect((server.address() as { port: number }).port, '127.0.0.1', () =>
        socket?.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
      );
      socket.pause();
      socket.on('error', () => undefined);
    });
  });
  await done;
  // The buffers of the operating system take some megabytes.
  expect(blockCount).toBeLessThan(500);
});
