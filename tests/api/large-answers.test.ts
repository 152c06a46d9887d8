import { once } from 'node:events';
import http from 'node:http';
import { connect, Socket, type AddressInfo } from 'node:net';
import { buffer as readAll } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Response } from 'express';

import { sendJson, borrowBytes } from '../../src/api/reply/send-reply';

// Large answers are written into memory that is used again (src/api/reply/send-reply.ts).

/** Different for each `n`, from a few bytes to more than is lent, with characters of every size. */
const buildParts = (n: number): string[] => {
  const size = [900_000, 280_000, 10, 20_000, 33_000, 1_200_000][n % 6]!;
  const piece = JSON.stringify({ n, name: ['Ada', 'Zoë', '日本', '\ud83d\udcde'][n % 4] });
  return Array.from({ length: Math.ceil(size / piece.length) }, () => piece);
};

const server = http.createServer((req, res) => {
  const n = Number(req.url!.slice(1));
  const parts = buildParts(n);
  sendJson(res as Response, 200, n % 5 === 0 ? parts.join('') : parts, {});
});
let port: number;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

/** Asks for several answers on one connection, and reads none of them yet. */
async function ask(all: readonly number[]): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  await once(socket, 'connect');
  const last = all.at(-1);
  for (const n of all)
    socket.write(
      `GET /${n} HTTP/1.1\r\nHost: test\r\n${n === last ? 'Connection: close\r\n' : ''}\r\n`,
    );
  return socket;
}

async function readBodies(socket: Socket): Promise<string[]> {
  const bodies: string[] = [];
  let rest = await readAll(socket);
  while (rest.length > 0) {
    const begins = rest.indexOf('\r\n\r\n') + 4;
    const head = rest.toString('latin1', 0, begins);
    const length = Number(/Content-Length: (\d+)/i.exec(head)![1]);
    bodies.push(rest.toString('utf8', begins, begins + length));
    rest = rest.subarray(begins + length);
  }
  return bodies;
}

/** More connections than there is memory to lend; each with more than a kernel buffers. */
const CONNECTIONS = Array.from({ length: 12 }, (_, c) =>
  Array.from({ length: 18 }, (_, n) => c + n),
);

async function askAll(): Promise<Socket[]> {
  const sockets = await Promise.all(CONNECTIONS.map(ask));
  // The server answers as long as it can write.
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  return sockets;
}

test('answers that wait for slow readers at the same time are each complete', async () => {
  for (const [c, socket] of (await askAll()).entries()) {
    const bodies = await readBodies(socket);
    const expected = CONNECTIONS[c]!.map((n) => buildParts(n).join(''));
    expect(bodies.map((body, index) => body === expected[index])).toEqual(expected.map(() => true));
  }
});

test('a reader that goes away takes nothing from the others', async () => {
  const sockets = await askAll();
  for (const [c, socket] of sockets.entries()) if (c % 2 === 0) socket.destroy();
  for (const [c, socket] of sockets.entries()) {
    if (c % 2 === 0) continue;
    const bodies = await readBodies(socket);
    expect(bodies).toHaveLength(CONNECTIONS[c]!.length);
    for (const [index, n] of CONNECTIONS[c]!.entries())
      expect(bodies[index] === buildParts(n).join('')).toBe(true);
  }
});

test('a response that was closed before is lent nothing, as it would not give it back', () => {
  const open = () => {
    const res = new http.ServerResponse(new http.IncomingMessage(new Socket()));
    res.assignSocket(new Socket());
    return res;
  };
  const text = ['x'.repeat(40_000)];
  for (let time = 0; time < 20; time++) {
    const closed = open();
    closed.destroy();
    expect(borrowBytes(text, closed)).toBeUndefined();
  }
  const res = open();
  expect(borrowBytes(text, res)).toHaveLength(40_000);
  res.emit('close');
});
