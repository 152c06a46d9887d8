import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createSocketClient } from '../../../src/adapters/freeswitch/socket/event-socket';

// The client of the event socket, before a FreeSWITCH that is played by this test.

const PASSWORD = 'secret';
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Answers commands as `answer` says; undefined for none. */
async function startFreeswitch(answer: (line: string) => string | undefined) {
  const lines: string[] = [];
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write('Content-Type: auth/request\n\n');
    let rest = '';
    socket.on('data', (bytes) => {
      rest += bytes.toString();
      const parts = rest.split('\n\n');
      rest = parts.pop()!;
      for (const line of parts) {
        lines.push(line);
        const reply = replyTo(line) ?? answer(line);
        if (reply !== undefined) socket.write(reply);
      }
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const connect = (password = PASSWORD) =>
    createSocketClient({ host: '127.0.0.1', port, password })(new AbortController().signal);
  return { lines, sockets, connect };
}

/** The reply to a command of its protocol; undefined for another. */
function replyTo(line: string): string | undefined {
  if (line === `auth ${PASSWORD}`) return buildReply('+OK accepted');
  if (line.startsWith('auth')) return buildReply('-ERR invalid');
  return line.startsWith('event') ? buildReply('+OK') : undefined;
}

const buildReply = (text: string) => `Content-Type: command/reply\nReply-Text: ${text}\n\n`;
const buildAnswer = (text: string) =>
  `Content-Type: api/response\nContent-Length: ${Buffer.byteLength(text)}\n\n${text}`;

test('each command gets its own answer, in whatever pieces they arrive', async () => {
  const on = await startFreeswitch(() => undefined);
  const socket = await on.connect();
  const answers = Promise.all([socket.api('one'), socket.api('two')]);
  const bytes = Buffer.from(buildAnswer('é\n\n1\n') + buildAnswer('2'));
  for (const byte of bytes) on.sockets[0]!.write(Buffer.from([byte]));
  expect(await answers).toEqual(['é\n\n1', '2']);
  socket.close();
  await socket.lost;
});

test('a command that fails throws, and the next is answered', async () => {
  const on = await startFreeswitch((line) =>
    buildAnswer(line.includes('kill') ? '-ERR No such channel!\n' : '+OK\n'),
  );
  const socket = await on.connect();
  await expect(socket.api('uuid_kill x')).rejects.toThrow('No such channel');
  expect(await socket.api('uuid_exists y')).toBe('+OK');
});

test('a wrong password is an error, and a rejected address too', async () => {
  const on = await startFreeswitch(() => undefined);
  await expect(on.connect('wrong')).rejects.toThrow('invalid');
  const closed = await startFreeswitch(() => undefined);
  const connection = closed.connect();
  const rejection = 'Content-Type: text/rude-rejection\nContent-Length: 3\n\nno\n';
  while (closed.sockets.length === 0) await new Promise((done) => setImmediate(done));
  closed.sockets[0]!.write(rejection);
  await expect(connection).rejects.toThrow('connection to FreeSWITCH');
});

test('commands without an answer fail when the connection is lost', async () => {
  const on = await startFreeswitch(() => undefined);
  const socket = await on.connect();
  const answer = socket.api('uuid_exists x');
  on.sockets[0]!.destroy();
  await expect(answer).rejects.toThrow('lost');
  await socket.lost;
  await expect(socket.api('uuid_exists x')).rejects.toThrow('no connection');
});

test('no text can begin another command', async () => {
  const on = await startFreeswitch(() => buildAnswer('+OK'));
  const socket = await on.connect();
  await expect(socket.api('uuid_exists x\n\napi shutdown')).rejects.toThrow('one line');
  expect(on.lines.filter((line) => line.startsWith('api'))).toEqual([]);
});

test('the end of a recording is an event with its path', async () => {
  const on = await startFreeswitch(() => undefined);
  const socket = await on.connect();
  const path = new Promise((done) => socket.onRecordingEnd(done));
  const body = JSON.stringify({ 'Record-File-Path': '/recordings/tl-talk-1.wav' });
  const head = `Content-Length: ${body.length}\nContent-Type: text/event-json\n\n`;
  on.sockets[0]!.write(head + body);
  expect(await path).toBe('/recordings/tl-talk-1.wav');
});
