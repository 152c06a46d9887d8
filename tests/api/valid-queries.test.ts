import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Request } from 'express';
import { createApp } from '../../src/main/app';
import { contract } from '../../src/platform/contract/contract';
import { ValidQueries } from '../../src/api/request/valid-queries';
import { createMember } from '../support/teams';
import { useWorld } from '../support/use-world';

// A query string that was found valid is not validated again, and its list is not planned again.
// Nothing of one request may come into another one.

const world = useWorld();
const { create, api } = world;

const findOperation = (id: string) => contract.operations.find((operation) => operation.id === id)!;
const get = (text: string, more: Partial<Request> = {}) =>
  ({
    method: 'GET',
    originalUrl: `/api/v1/buyers${text}`,
    query: Object.fromEntries(new URLSearchParams(text)),
    ...more,
  }) as Request;

test('a list is answered alike the first time and later, and what is wrong stays wrong', async () => {
  await api('post', 'buyers', { body: { name: 'First', paused: true } });
  await api('post', 'buyers', { body: { name: 'Second' } });
  const queries = [
    '',
    '?columns=id,name&order=name&order_dir=desc',
    '?per_page=1&page=2',
    '?cursor=-1&per_page=1',
    '?root=false',
    '?columns=id,no_such',
    '?paused=yes',
    '?time_zone=Nowhere',
    '?no_such=1',
    '?per_page=many',
  ];
  for (const text of queries) {
    const [first, ...later] = [
      await api('get', `buyers${text}`),
      await api('get', `buyers${text}`),
      await api('get', `buyers${text}`),
    ].map(({ status, body }) => ({ status, body: { ...body, instance: '', request_id: '' } }));
    expect(later).toEqual([first, first]);
  }
  const statuses = await Promise.all(
    queries.map(async (text) => (await api('get', `buyers${text}`)).status),
  );
  expect(statuses).toEqual([...Array(7).fill(200), 422, 422, 422]);
});

test('each caller gets their own records by the same query string', async () => {
  const otherCompany = await world.addCompany('Other');
  const mine = (await create('buyers', { name: 'Mine' })) as number;
  await otherCompany.api('post', 'buyers', { body: { name: 'Theirs' } });
  const limited = await createMember(world.company, 'limited@example.com', {
    permissions: ['buyers:read'],
    buyer_ids: [mine],
  });
  const path = 'buyers?columns=id,name&order=name&per_page=50';
  const namesFor = async (send: typeof api) =>
    ((await send('get', path)).body.buyers as { name: string }[]).map(({ name }) => name);
  for (let round = 0; round < 2; round++) {
    expect(await namesFor(api)).toContain('Second');
    expect(await namesFor(limited.api)).toEqual(['Mine']);
    expect(await namesFor(otherCompany.api)).toEqual(['Theirs']);
  }
});

test('a list that was planned before has what was written since', async () => {
  const path = 'buyers?columns=id&per_page=1';
  const count = async () => (await api('get', path)).body.metadata.total_count as number;
  const before = await count();
  await api('post', 'buyers', { body: { name: 'One more' } });
  expect(await count()).toBe(before + 1);
});

test('only what has nothing but a query string is remembered, and no credentials', () => {
  const queries = new ValidQueries();
  const list = findOperation('listBuyers');
  const remembered = (operation: typeof list, req: Request) => {
    queries.add(operation, req);
    return queries.find(operation, req) !== undefined;
  };
  expect(remembered(list, get('?per_page=2'))).toBe(true);
  expect(queries.find(list, get('?per_page=3'))).toBeUndefined();
  expect(queries.find(findOperation('listOffers'), get('?per_page=2'))).toBeUndefined();
  expect(remembered(list, get('?auth_token=secret'))).toBe(false);
  expect(remembered(list, get('?per_page=4', { body: {} }))).toBe(false);
  expect(remembered(list, get('?per_page=4', { method: 'HEAD' }))).toBe(false);
  expect(remembered(list, get(`?fulltext=${'x'.repeat(600)}`))).toBe(false);
  expect(remembered(findOperation('showBuyer'), get(''))).toBe(false);
  expect(remembered(findOperation('createBuyer'), get(''))).toBe(false);
});

test('what follows a # is no part of the query, and is not remembered as one', async () => {
  const server = createServer(createApp(world.deps)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const fetchStatus = async (target: string) => {
    const path = `/api/v1/buyers${target}`;
    const clientRequest = request({ port, path, auth: world.company.auth, agent: false }).end();
    const [answer] = (await once(clientRequest, 'response')) as [IncomingMessage];
    await json(answer);
    return answer.statusCode;
  };
  expect(await fetchStatus('#?per_page=many')).toBe(200);
  expect(await fetchStatus('?per_page=many')).toBe(422);
  expect(await fetchStatus('?per_page=7#?per_page=many')).toBe(200);
  expect(await fetchStatus('?per_page=many')).toBe(422);
  server.close();
});

test('what is remembered cannot be changed, and is limited', () => {
  const queries = new ValidQueries();
  const list = findOperation('listBuyers');
  const req = get('?columns=id', { query: { columns: ['id'] } as never });
  queries.add(list, req);
  const storedQuery = queries.find(list, req) as { columns: string[] };
  expect(() => storedQuery.columns.push('name')).toThrow(TypeError);
  for (let page = 0; page < 2_000; page++) queries.add(list, get(`?page=${page}`));
  expect(queries.find(list, req)).toBeUndefined();
});

test('a secret that was right before does not make another one right', async () => {
  const { api, auth } = world.company;
  const [publicKey] = auth.split(':');
  const fetchStatus = async (secret: string) => (await api('get', 'me', { auth: secret })).status;
  expect([await fetchStatus(auth), await fetchStatus(auth)]).toEqual([200, 200]);
  expect(await fetchStatus(`${publicKey}:wrong`)).toBe(401);
  expect(await fetchStatus(`${auth}x`)).toBe(401);
  expect(await fetchStatus(auth)).toBe(200);
});
