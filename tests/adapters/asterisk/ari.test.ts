import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { AriEvent } from '../../../src/adapters/asterisk/ari/ari';
import { createClient } from '../../../src/adapters/asterisk/ari/client';
import { createAriServer } from '../../../src/adapters/asterisk/ari/server';
import { buildHeaders } from '../../../src/adapters/asterisk/settings';
import { buildEndpoint, buildTrunkEndpoint } from '../../../src/adapters/service/dialing';
import { freePort } from '../../support/process';

const KEY = 'trunkline:secret';
const SIGNAL = new AbortController().signal;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(key).toString('base64')}` });
const closed = (socket: WebSocket) =>
  new Promise<void>((done) => socket.once('close', () => done()));

describe('a connection to Asterisk', () => {
  async function startAsterisk() {
    const http: Server = createServer((request, response) => {
      const isKnown = request.url?.startsWith('/ari/channels?');
      response.writeHead(isKnown ? 200 : 404).end(isKnown ? '[{"id":"c1"}]' : '{"message":"none"}');
    });
    const sockets = new WebSocketServer({ server: http });
    await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
    closing.push(
      () => http.close(),
      () => sockets.close(),
    );
    const { port } = http.address() as AddressInfo;
    return { sockets, settings: { url: `http://127.0.0.1:${port}/ari`, key: KEY } };
  }

  test('passes on events that come before there is a listener, in their order', async () => {
    const { sockets, settings } = await startAsterisk();
    sockets.on('connection', (socket, { url }) => {
      expect(url).toBe('/ari/events?app=trunkline&api_key=trunkline%3Asecret');
      for (const type of ['a', 'b']) socket.send(JSON.stringify({ type }));
    });
    const connection = await createClient(settings)(SIGNAL);
    closing.push(() => connection.close());
    await new Promise((done) => setTimeout(done, 50));
    const types: string[] = [];
    connection.onEvent(({ type }: AriEvent) => void types.push(type));
    expect(types).toEqual(['a', 'b']);
  });

  test('asks by HTTP, and says what Asterisk does not do', async () => {
    const { settings } = await startAsterisk();
    const connection = await createClient(settings)(SIGNAL);
    closing.push(() => connection.close());
    const path = '/channels';
    expect(await connection.ask({ method: 'GET', path, query: { a: 'b' } })).toEqual([
      { id: 'c1' },
    ]);
    await expect(connection.ask({ method: 'DELETE', path: '/channels/x' })).rejects.toMatchObject({
      status: 404,
    });
  });

  test('that cannot be made says so without the password', async () => {
    const client = createClient({ url: `http://127.0.0.1:${await freePort()}/ari`, key: KEY });
    const error = await client(SIGNAL).catch((fault: Error) => fault);
    expect(String(error)).toContain('ECONNREFUSED');
    expect(String(error)).not.toContain('secret');
  });
});

describe('a connection of Asterisk to this process', () => {
  async function open() {
    const port = await freePort();
    const server = await createAriServer({ host: '127.0.0.1', port, key: KEY });
    closing.push(server.close);
    const connect = (key: string) =>
      new WebSocket(`ws://127.0.0.1:${port}/`, ['ari'], { headers: basic(key) });
    return { server, connect };
  }

  test('carries requests and events', async () => {
    const { server, connect } = await open();
    const socket = connect(KEY);
    socket.on('message', (data: Buffer) => {
      const request = JSON.parse(data.toString()) as Record<string, string>;
      expect(request).toMatchObject({ type: 'RESTRequest', method: 'POST', uri: 'channels?a=b' });
      const { request_id } = request;
      const message = JSON.stringify({ id: 'c1' });
      socket.send(
        JSON.stringify({
          type: 'RESTResponse',
          request_id,
          status_code: 200,
          message_body: message,
        }),
      );
    });
    const connection = await server.connect(SIGNAL);
    const request = { method: 'POST' as const, path: '/channels', query: { a: 'b' }, body: {} };
    expect(await connection.ask(request)).toEqual({ id: 'c1' });
    socket.close();
    await connection.lost;
  });

  test('is refused with another password', async () => {
    const { connect } = await open();
    const socket = connect('trunkline:guessed');
    const hasClosed = closed(socket);
    const error = await new Promise<Error>((done) => socket.once('error', done));
    expect(error.message).toContain('401');
    await hasClosed;
  });

  test('that is lost fails what was asked through it', async () => {
    const { server, connect } = await open();
    const socket = connect(KEY);
    const connection = await server.connect(SIGNAL);
    socket.once('message', () => socket.terminate());
    await expect(connection.ask({ method: 'GET', path: '/channels' })).rejects.toThrow(
      'did not answer',
    );
  });
});

test('a trunk is one endpoint, and a header one line', () => {
  const settings = { dial_trunk: 'PJSIP/{number}@{trunk}' };
  const trunk = { name: 'west', host: 'sip.example', number: '913105550101' };
  expect(buildTrunkEndpoint(trunk, settings)).toBe('PJSIP/913105550101@west');
  expect(buildTrunkEndpoint({ ...trunk, name: 'a&PJSIP/b' }, settings)).toBeUndefined();
  expect(buildHeaders({ 'X-Lead': '7\r\nX-Evil: 1', 'X)=1,(': 'x' })).toEqual({
    'PJSIP_HEADER(add,X-Lead)': '7 X-Evil: 1',
  });
});

test.each([
  ['+13105550101', 'PJSIP/+13105550101@trunk'],
  ['sip:desk@pbx.example.com:5070', 'PJSIP/sip/sip:desk@pbx.example.com:5070'],
  ['+1310&PJSIP/evil', undefined],
  ['sip:a@b,c', undefined],
  ['', undefined],
])('the number %j is dialed as %j', (number, endpoint) => {
  const settings = { dial: 'PJSIP/{number}@trunk', dial_sip: 'PJSIP/sip/{uri}' };
  expect(buildEndpoint(number, settings)).toBe(endpoint);
});
