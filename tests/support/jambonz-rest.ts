import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './loopback';
import type { Fields } from './records';

// The REST of a jambonz, as a model made from its documentation (https://docs.jambonz.org) and from
// its source, which is public. It is not jambonz.

export interface JambonzRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  body: Fields;
  authorization: string | undefined;
}

export interface JambonzCall extends Fields {
  call_sid: string;
  direction: 'inbound' | 'outbound';
  call_status: string;
}

/** An answer in place of its own, or none; `break after accepting`: it does what it is asked. */
export type JambonzTrouble = { status: number; text?: string } | 'break' | 'break after accepting';

export interface JambonzServer {
  base_url: string;
  account_sid: string;
  api_key: string;
  application_sid: string;
  webhook_secret: string;
  requests: JambonzRequest[];
  calls: JambonzCall[];
  troubles: JambonzTrouble[];
  close(): Promise<void>;
}

/** The header by which jambonz signs a request. */
export const signJambonz = (secret: string, text: string, at: Date): string => {
  const seconds = Math.floor(at.getTime() / 1000);
  const signature = createHmac('sha256', secret).update(`${seconds}.${text}`).digest('hex');
  return `t=${seconds},v1=${signature}`;
};

interface Reply {
  status: number;
  body?: unknown;
}

/** Calls are ended by status: those that ring by `no-answer`, those in progress by `completed`. */
const ENDED_BY: Record<string, readonly string[]> = {
  completed: ['in-progress'],
  'no-answer': ['trying', 'ringing'],
};

export async function startJambonz(): Promise<JambonzServer> {
  const state: JambonzServer = {
    base_url: '',
    account_sid: randomUUID(),
    api_key: randomUUID(),
    application_sid: randomUUID(),
    webhook_secret: `wh_secret_${randomUUID().replaceAll('-', '')}`,
    requests: [],
    calls: [],
    troubles: [],
    close: async () => {},
  };
  const server = createServer((req, res) => void serve(state, req, res));
  const { url, close } = await listen(server);
  return Object.assign(state, { base_url: `${url}/api/v1`, close });
}

async function serve(
  state: JambonzServer,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const { pathname, searchParams: query } = new URL(req.url!, 'http://jambonz');
  const text = Buffer.concat(chunks).toString();
  const received: JambonzRequest = {
    method: req.method!,
    path: pathname.replace(`/api/v1/Accounts/${state.account_sid}/`, ''),
    query,
    body: text ? (JSON.parse(text) as Fields) : {},
    authorization: req.headers.authorization,
  };
  state.requests.push(received);
  const trouble = state.troubles.shift();
  if (trouble === 'break') return void req.socket.destroy();
  if (typeof trouble === 'object') return void res.writeHead(trouble.status).end(trouble.text);
  const { status, body } = answer(state, received);
  if (trouble === 'break after accepting') return void req.socket.destroy();
  if (body === undefined) return void res.writeHead(status).end('a text');
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function answer(state: JambonzServer, request: JambonzRequest): Reply {
  const { method, path, query, body, authorization } = request;
  if (authorization !== `Bearer ${state.api_key}`) return { status: 401, body: {} };
  if (method === 'POST' && path === 'Calls') return createCall(state, body);
  if (method === 'GET' && path === 'Calls') {
    const isListed = (call: JambonzCall) =>
      [...query].every(([name, value]) => call[name] === value);
    return { status: 200, body: state.calls.filter(isListed) };
  }
  const call = state.calls.find(({ call_sid }) => path === `Calls/${call_sid}`);
  if (method !== 'PUT' || !call) return { status: 404 };
  const status = String(body.call_status);
  if (!ENDED_BY[status]?.includes(call.call_status))
    return { status: 422, body: { msg: 'current call state is incompatible' } };
  call.call_status = status;
  return { status: 202 };
}

/** The hooks of the application take the place of those in an order. */
function createCall(state: JambonzServer, body: Fields): Reply {
  const { application_sid, from, to } = body;
  const { type, number } = (to ?? {}) as Fields;
  if (application_sid !== state.application_sid || !from || type !== 'phone' || !number)
    return { status: 400, body: { msg: 'missing or invalid to property' } };
  const call = {
    ...{ call_sid: randomUUID(), call_id: randomUUID(), account_sid: state.account_sid },
    ...{ application_sid, direction: 'outbound' as const, from, to: number },
    ...{ call_status: 'trying', sip_status: 100, service_url: 'http://10.0.0.1:3000' },
  };
  state.calls.push(call);
  return { status: 201, body: { sid: call.call_sid, callId: call.call_id } };
}
