import { connect as openConnection, type Socket } from 'node:net';
import { parseForeignJson } from '../../../platform/storable-text';

// The event socket of FreeSWITCH: commands, each with its answer, and the ends of recordings.

export interface SocketSettings {
  host: string;
  port: number;
  password: string;
}

export interface EventSocket {
  /** Runs a command of its console; throws if it fails. */
  api(command: string): Promise<string>;
  /** The path of each recording that has ended. */
  onRecordingEnd(listener: (path: string) => void): void;
  /** Resolves when the connection has ended. */
  lost: Promise<void>;
  close(): void;
}

export type ConnectSocket = (signal: AbortSignal) => Promise<EventSocket>;

const CONNECT_TIMEOUT_MS = 5_000;
const ANSWER_TIMEOUT_MS = 5_000;

interface Message {
  headers: Record<string, string>;
  body: string;
}

interface Waiting {
  answer(message: Message): void;
  fail(error: Error): void;
}

export const createSocketClient =
  ({ host, port, password }: SocketSettings): ConnectSocket =>
  async (signal) => {
    const socket = openConnection({ host, port });
    const abort = () => void socket.destroy();
    signal.addEventListener('abort', abort, { once: true });
    const opened = open(socket);
    void opened.lost.then(() => signal.removeEventListener('abort', abort));
    try {
      await opened.greeted;
      await opened.send(`auth ${cleanLine(password)}`);
      await opened.send('event json RECORD_STOP');
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return {
      lost: opened.lost,
      close: () => void socket.destroy(),
      onRecordingEnd: (listener) => opened.onEvent((path) => listener(path)),
      api: async (command) => {
        const { body } = await opened.send(`api ${cleanLine(command)}`);
        if (body.startsWith('-ERR')) throw new Error(`FreeSWITCH: ${body.trim()}`);
        return body.trim();
      },
    };
  };

/** A line break would begin another command. */
function cleanLine(text: string): string {
  if (/[\r\n]/.test(text)) throw new Error('a command is one line');
  return text;
}

function open(socket: Socket) {
  const waiting: Waiting[] = [];
  let listener: (path: string) => void = () => undefined;
  let greet: (message: Message) => void = () => undefined;
  let giveUp: (error: Error) => void = () => undefined;
  const greeted = new Promise<Message>((done, fail) => ([greet, giveUp] = [done, fail]));
  greeted.catch(() => undefined);
  const lost = new Promise<void>((done) => socket.once('close', () => done()));
  const read = createReader((message) => {
    switch (message.headers['content-type']) {
      case 'auth/request':
        return greet(message);
      case 'text/event-json':
        return listener(readRecordingPath(message.body));
      case 'command/reply':
      case 'api/response':
        return waiting.shift()?.answer(message);
      default:
        // A rejection by its access list, or its end.
        return void socket.destroy();
    }
  });
  socket.on('data', (bytes) => read(bytes));
  socket.on('error', () => undefined);
  socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy());
  void greeted.then(() => socket.setTimeout(0)).catch(() => undefined);
  void lost.then(() => {
    const error = new Error('the connection to FreeSWITCH is lost');
    giveUp(error);
    for (const { fail } of waiting.splice(0)) fail(error);
  });
  return {
    greeted,
    lost,
    onEvent: (next: (path: string) => void) => void (listener = next),
    send: (line: string): Promise<Message> =>
      new Promise((done, fail) => {
        if (socket.destroyed) return fail(new Error('there is no connection to FreeSWITCH'));
        // Answers come in order: without this one, the next would be taken for it.
        const timer = setTimeout(() => socket.destroy(), ANSWER_TIMEOUT_MS);
        waiting.push({
          answer: (message) => {
            clearTimeout(timer);
            const reply = message.headers['reply-text'] ?? '';
            if (reply.startsWith('-ERR')) fail(new Error(`FreeSWITCH: ${reply}`));
            else done(message);
          },
          fail: (error) => {
            clearTimeout(timer);
            fail(error);
          },
        });
        socket.write(`${line}\n\n`);
      }),
  };
}

function readRecordingPath(body: string): string {
  const event = parseForeignJson(body) as Record<string, string> | undefined;
  return event?.['Record-File-Path'] ?? '';
}

/** Reads messages: headers, an empty line, and as many bytes as they say. */
function createReader(take: (message: Message) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const end = rest.indexOf('\n\n');
      if (end < 0) return;
      const headers = readHeaders(rest.toString('utf8', 0, end));
      const length = Number(headers['content-length'] ?? 0);
      const start = end + 2;
      if (rest.length < start + length) return;
      const body = rest.toString('utf8', start, start + length);
      rest = rest.subarray(start + length);
      take({ headers, body });
    }
  };
}

const readHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
