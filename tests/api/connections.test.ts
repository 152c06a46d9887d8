import { EventEmitter } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { closeSlowReaders, limitConnections } from '../../src/api/connections';
import { httpServer } from '../../src/main/processes/http-server';
import { createApp } from '../../src/main/app';
import { listen } from '../../src/operate/installation/listen';
import { eventually } from '../support/engine-process';
import { createWorld, type World } from '../support/world';

// Many connections, and readers that do not read, cost little and not for long.

const SECOND = 1_000;
const open: Socket[] = [];
const client = (port: number, request: string): Promise<Socket> =>
  new Promise((done, fail) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.pause();
      socket.write(request);
      done(socket);
    });
    socket.once('error', fail);
    open.push(socket);
  });
const GET = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

afterAll(() => open.forEach((socket) => socket.destroy()));

describe('a client that does not read', () => {
  const sockets: Parameters<typeof closeSlowReaders>[0] = new Map();
  const answer = Buffer.alloc(32_000_000);
  const server = createServer((_req, res) => void res.end(answer));
  server.on('connection', (socket) => void sockets.set(socket, undefined));
  beforeAll(() => new Promise<void>((done) => void server.listen(0, '127.0.0.1', done)));
  afterAll(() => new Promise((done) => void server.close(done)));
  beforeEach(() => sockets.clear());

  const begin = async () => {
    const reader = await client((server.address() as AddressInfo).port, GET('/'));
    await eventually(() => [...sockets.keys()].some((socket) => socket.writableLength > 0));
    return { reader, socket: [...sockets.keys()][0]! };
  };

  test('is cut off after the time in which a slow one would have read', async () => {
    const { socket } = await begin();
    // 30 seconds, and as long as 32 MB take at 16 kB a second.
    const limit = 30 * SECOND + (socket.writableLength / 16_384) * SECOND;
    closeSlowReaders(sockets, 0);
    closeSlowReaders(sockets, limit - SECOND);
    expect(socket.destroyed).toBe(false);
    closeSlowReaders(sockets, limit + SECOND);
    expect(socket.destroyed).toBe(true);
  });

  test('and one that reads is not, however long it stays connected', async () => {
    const { reader, socket } = await begin();
    closeSlowReaders(sockets, 0);
    reader.resume();
    await eventually(() => socket.writableLength === 0);
    closeSlowReaders(sockets, 1e9);
    closeSlowReaders(sockets, 2e9);
    expect(socket.destroyed).toBe(false);
    reader.destroy();
  });
});

describe('a server', () => {
  let world: World;
  let http: ReturnType<typeof httpServer>;
  const port = () => (http.server.address() as AddressInfo).port;
  beforeAll(async () => {
    world = await createWorld({ environment: { MAX_CONNECTIONS: '40' } });
    http = httpServer(world.deps, createApp(world.deps));
    await listen(http.server, { host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await http.stop();
    await world.close();
  });

  test('takes half of its connections from one address, and others when they are closed', async () => {
    const sockets = await Promise.all(
      Array.from({ length: 60 }, () => client(port(), GET('/livez')).catch(() => undefined)),
    );
    for (const socket of sockets) socket?.resume().once('error', () => undefined);
    await eventually(() => sockets.filter((socket) => !socket?.destroyed).length === 20);
    sockets.forEach((socket) => socket?.destroy());
    // Until the server knows that they are closed, it cuts new ones off.
    const answers = () =>
      fetch(`http://127.0.0.1:${port()}/livez`).then(
        ({ ok }) => ok,
        () => false,
      );
    await eventually(answers);
  });

  test.each(['deflate', 'identity', '*;q=0'])(
    'sends the documents to every client from the same memory, with Accept-Encoding: %s',
    async (encoding) => {
      const bundle = '/api/assets/any/swagger-ui-bundle.js';
      for (const path of [bundle, '/api/openapi.yaml', '/api/docs/']) {
        const res = await world.company.api('get', path, {
          auth: null,
          headers: { 'Accept-Encoding': encoding },
        });
        expect([res.status, res.headers['content-encoding']]).toEqual([200, undefined]);
      }
    },
  );
});

test('connections of one IPv6 line (/56) count together', () => {
  const server = new EventEmitter() as unknown as Server;
  limitConnections(server, { max: 100, max_per_address: 3 });
  const connectFrom = (remoteAddress: string) => {
    let isClosed = false;
    const destroy = () => void (isClosed = true);
    server.emit('connection', Object.assign(new EventEmitter(), { remoteAddress, destroy }));
    return isClosed;
  };
  const flood = Array.from({ length: 10 }, (_, n) => connectFrom(`2001:db8:1:20${n}::${n + 1}`));
  expect(flood.filter(Boolean).length).toBe(7);
  expect(connectFrom('2001:db8:1:300::1')).toBe(false);
  server.emit('close');
});
