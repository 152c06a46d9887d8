import { createSocket } from 'node:dgram';

/** How long an answer on this machine may take before the request is sent again. */
const REPEAT_MS = 500;

/** A request within a dialog, through a proxy: its tag, and the proxy's port. */
export interface WithinDialog {
  to_tag: string;
  proxy: number;
}

const buildRequest = (
  { method, callId, port }: { method: string; callId: string; port: number },
  within?: WithinDialog,
): string =>
  [
    `${method} sip:test@127.0.0.1 SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK-${method}-${callId}`,
    'From: <sip:test@127.0.0.1>;tag=test',
    `To: <sip:test@127.0.0.1>${within ? `;tag=${within.to_tag}` : ''}`,
    ...(within ? [`Route: <sip:127.0.0.1:${within.proxy};lr;ftag=test>`] : []),
    `Call-ID: ${callId}`,
    `CSeq: 1 ${method}`,
    'Max-Forwards: 70',
    'Content-Length: 0',
    '\r\n',
  ].join('\r\n');

/** Sends a request, usually outside of any dialog. Returns false if it is not answered soon. */
export function sendRequest(
  method: string,
  callId: string,
  port: number,
  within?: WithinDialog,
): Promise<boolean> {
  const socket = createSocket('udp4');
  return new Promise<boolean>((done) => {
    const timer = setTimeout(() => done(false), REPEAT_MS);
    socket.once('message', () => {
      clearTimeout(timer);
      done(true);
    });
    socket.once('error', () => done(false));
    socket.bind(0, '127.0.0.1', () => {
      const request = buildRequest({ method, callId, port: socket.address().port }, within);
      socket.send(request, port, '127.0.0.1');
    });
  }).finally(() => socket.close());
}
