import { randomUUID } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';

// The callers and the buyer of calls over SIP, in one process: one clock measures how long an
// INVITE takes from the one to the other.

/** How long each call lasts. */
const TALK_MS = 1_000;

export interface Probe {
  /** The SIP address of the buyer. */
  buyer: string;
  /** Places calls at a rate, and returns the milliseconds from INVITE to INVITE, by call. */
  placeCalls(load: SipLoad): Promise<SipTimes>;
  close(): void;
}

interface SipLoad {
  /** The port of the proxy. */
  proxy: number;
  number: string;
  rate: number;
  count: number;
}

export interface SipTimes {
  times: number[];
  /** Calls that did not end as they should. */
  errors: number;
}

interface ProbedCall {
  sentAt: number;
  receivedAt?: number;
  isOver?: true;
}

/** The lines of a message with these headers, in order. */
const pick = (lines: readonly string[], ...names: string[]): string[] =>
  lines.filter((line) => names.some((name) => line.toLowerCase().startsWith(`${name}:`)));

const readValue = (lines: readonly string[], name: string): string =>
  pick(lines, name.toLowerCase())[0]
    ?.slice(name.length + 1)
    .trim() ?? '';

const readAddress = (text: string): string => text.slice(text.indexOf('<') + 1, text.indexOf('>'));

const build = (lines: readonly string[]): string =>
  [...lines, 'Content-Length: 0', '', ''].join('\r\n');

async function bind(): Promise<{ socket: Socket; port: number }> {
  const socket = createSocket('udp4');
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  return { socket, port: socket.address().port };
}

export async function openProbe(): Promise<Probe> {
  const [caller, buyer] = await Promise.all([bind(), bind()]);
  const calls = new Map<string, ProbedCall>();
  const contact = `Contact: <sip:buyer@127.0.0.1:${buyer.port}>`;
  buyer.socket.on('message', (data, { port }) => {
    const receivedAt = performance.now();
    const lines = data.toString().split('\r\n');
    const [method] = lines[0]!.split(' ');
    if (method === 'ACK') return;
    const call = calls.get(readValue(lines, 'Call-ID'));
    if (method === 'INVITE' && call) call.receivedAt ??= receivedAt;
    const to = readValue(lines, 'To');
    const answer = [
      'SIP/2.0 200 OK',
      ...pick(lines, 'via', 'record-route', 'from', 'call-id', 'cseq'),
      `To: ${to.includes(';tag=') ? to : `${to};tag=buyer`}`,
      contact,
    ];
    buyer.socket.send(build(answer), port, '127.0.0.1');
  });
  caller.socket.on('message', (data, { port }) => {
    const lines = data.toString().split('\r\n');
    const id = readValue(lines, 'Call-ID');
    const call = calls.get(id);
    if (!call || !lines[0]!.startsWith('SIP/2.0 200')) return;
    if (readValue(lines, 'CSeq').endsWith('BYE')) call.isOver = true;
    else void acknowledge(caller, lines, port);
  });
  return {
    buyer: `sip:buyer@127.0.0.1:${buyer.port}`,
    placeCalls: async ({ proxy, number, rate, count }) => {
      calls.clear();
      const start = performance.now();
      for (let n = 0; n < count; n++) {
        const early = start + (n * 1000) / rate - performance.now();
        if (early > 0) await sleep(early);
        const id = `${randomUUID()}@127.0.0.1`;
        const invite = buildInvite({ id, n, number, port: caller.port, proxy });
        calls.set(id, { sentAt: performance.now() });
        caller.socket.send(invite, proxy, '127.0.0.1');
      }
      await sleep(TALK_MS * 3);
      const all = [...calls.values()];
      return {
        times: all.flatMap(({ sentAt, receivedAt }) => (receivedAt ? [receivedAt - sentAt] : [])),
        errors: all.filter(({ isOver }) => !isOver).length,
      };
    },
    close: () => {
      caller.socket.close();
      buyer.socket.close();
    },
  };
}

interface Invite {
  id: string;
  n: number;
  number: string;
  port: number;
  proxy: number;
}

function buildInvite({ id, n, number, port, proxy }: Invite): string {
  const from = `sip:+1201555${String(n % 10_000).padStart(4, '0')}@carrier.invalid`;
  return build([
    `INVITE sip:${number}@127.0.0.1:${proxy} SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK-invite-${id}`,
    `From: <${from}>;tag=caller${n}`,
    `To: <sip:${number}@127.0.0.1:${proxy}>`,
    `Call-ID: ${id}`,
    'CSeq: 1 INVITE',
    `Contact: <sip:caller@127.0.0.1:${port}>`,
    'Max-Forwards: 70',
  ]);
}

/** Acknowledges an answer, and hangs up later. */
async function acknowledge(
  { socket, port }: { socket: Socket; port: number },
  lines: readonly string[],
  proxy: number,
): Promise<void> {
  const target = readAddress(readValue(lines, 'Contact'));
  const request = (method: string, cseq: number) =>
    build([
      `${method} ${target} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK-${method}-${readValue(lines, 'Call-ID')}`,
      `Route: <${readAddress(readValue(lines, 'Record-Route'))}>`,
      ...pick(lines, 'from', 'to', 'call-id'),
      `CSeq: ${cseq} ${method}`,
      'Max-Forwards: 70',
    ]);
  socket.send(request('ACK', 1), proxy, '127.0.0.1');
  await sleep(TALK_MS);
  socket.send(request('BYE', 2), proxy, '127.0.0.1');
}
