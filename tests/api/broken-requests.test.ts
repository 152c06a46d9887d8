import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { captureLog } from '../support/captured-log';
import { eventually } from '../support/engine-process';
import { buildApp, basic } from '../support/world';
import { useWorld } from '../support/use-world';

// A request whose connection ends is not run as one without a body.

const captured = captureLog();
const world = useWorld({ log: captured.log });
let server: Server;
let ended: Promise<unknown>;

beforeAll(async () => {
  const { authenticator } = world.deps;
  const slow: typeof authenticator = {
    ...authenticator,
    callerOutsideBody: async (req, operation) => {
      await ended;
      return authenticator.callerOutsideBody(req, operation);
    },
  };
  server = createServer(buildApp({ ...world.deps, authenticator: slow }) as never);
  ended = new Promise((done) =>
    server.once('connection', (socket) => socket.once('close', () => setImmediate(done))),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  world.closeLater(() => server.close());
});

test('a call of a client that goes away while its credentials are read is not begun', async () => {
  const body = JSON.stringify({ offer_id: 1, caller_number: '+12125550100' });
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(
    `POST /api/v1/call_sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Authorization: ${basic(world.company.auth)}\r\nContent-Length: ${body.length}\r\n\r\n` +
      body,
  );
  const requested = once(server, 'request');
  await requested;
  socket.destroy();
  await eventually(() => captured.lines().some(({ msg }) => msg === 'request'));
  // An error is logged after the line of a request that was cut off.
  await new Promise((done) => setTimeout(done, 200));
  expect(captured.lines().filter(({ msg }) => msg === 'internal error')).toEqual([]);
  expect((await world.company.api('get', 'calls')).body.calls).toEqual([]);
});
