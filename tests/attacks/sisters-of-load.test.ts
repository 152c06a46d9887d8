import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Client } from 'pg';
import { createApp } from '../../src/app';
import { limitConnections } from '../../src/http/connections';
import { member } from '../support/teams';
import { openShop } from '../support/leads';
import { validate } from '../support/worker/validator';
import { basic, createWorld, type World } from '../support/world';

// Limits by address, by those who have many of them, and slots of exports after faults.

let world: World;
beforeAll(async () => {
  world = await createWorld({
    environment: { LEAD_RATE_LIMIT_PER_MINUTE: '80', TRUST_PROXY: '1' },
  });
});
afterAll(() => world.close());

test('connections of one IPv6 network count together', () => {
  const server = new EventEmitter() as unknown as Server;
  limitConnections(server, { max: 100, max_per_address: 3 });
  const closed = Array.from({ length: 10 }, (_, n) => {
    let destroyed = false;
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress: `2001:db8:1:2::${n + 1}`,
      destroy: () => void (destroyed = true),
    });
    server.emit('connection', socket);
    return () => destroyed;
  });
  server.emit('close');
  expect(closed.filter((is) => is()).length).toBe(7);
});

test('one line of a provider (IPv6 /56) does not use up what a lead token has', async () => {
  const { offer } = await openShop(world, []);
  const { api } = world.company;
  const send = async (address: string, n: number) =>
    (
      await api('post', 'leads', {
        auth: null,
        headers: { 'X-Forwarded-For': address },
        query: { lead_token: offer.lead_token, caller_id: `+1310555${4000 + n}` },
      })
    ).status;
  let n = 0;
  for (let network = 0; network < 5; network++)
    for (let each = 0; each < 20; each++)
      await send(`2001:db8:1:${(0xff00 + network).toString(16)}::1`, n++);
  expect(await send('198.51.100.7', n++)).toBe(201);
});

test('event streams of one user leave connections for others', async () => {
  const server = createApp(world.deps, undefined, { validate }).listen(0);
  limitConnections(server, { max: 40 });
  const { port } = server.address() as { port: number };
  const { api } = world.company;
  const { token, email } = await member(world.company, 'streams@example.com', {
    permissions: ['agent_messages:read'],
  });
  await api('post', 'agents', { body: { name: 'Streams', user_email: email } });
  const url = `http://127.0.0.1:${port}/api/v1/agent_messages/stream?auth_token=${token}`;
  const gone = new AbortController();
  const opened = await Promise.all(
    Array.from({ length: 40 }, () =>
      fetch(url, { signal: gone.signal }).then(
        (res) => res.status,
        () => 0,
      ),
    ),
  );
  const other = await world.addCompany('Other');
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/me`, {
    headers: { Authorization: basic(other.auth) },
    signal: AbortSignal.timeout(3_000),
  }).then(
    (res) => res.status,
    (error: Error) => error.message,
  );
  gone.abort();
  server.closeAllConnections();
  server.close();
  expect([opened.filter((status) => status === 200).length < 40, answer]).toEqual([true, 200]);
}, 30_000);

test('a slot of exports is free again after HEAD', async () => {
  const { api } = world.company;
  const statuses: number[] = [];
  for (let n = 0; n < 4; n++)
    statuses.push((await api('head', 'buyers', { query: { format: 'csv' } })).status);
  statuses.push((await api('get', 'buyers.csv')).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200]);
}, 20_000);

test('a slot of exports is free again when the client leaves before the first row', async () => {
  const server = createApp(world.deps, undefined, { validate }).listen(0);
  const { port } = server.address() as { port: number };
  const lock = new Client({ connectionString: world.url });
  await lock.connect();
  await lock.query('BEGIN; LOCK TABLE buyers IN ACCESS EXCLUSIVE MODE');
  const url = `http://127.0.0.1:${port}/api/v1/buyers?format=csv`;
  const headers = { Authorization: basic(world.company.auth) };
  const ask = (ms: number) =>
    fetch(url, { headers, signal: AbortSignal.timeout(ms) }).then(
      (res) => res.status,
      () => 0,
    );
  const left = await Promise.all([ask(500), ask(500)]);
  await new Promise((done) => setTimeout(done, 3_000));
  const later = await ask(1_000);
  await lock.query('ROLLBACK');
  await lock.end();
  server.closeAllConnections();
  server.close();
  // Not 429: it waits for the lock, as the others did.
  expect([left, later]).toEqual([[0, 0], 0]);
}, 30_000);
