import { randomBytes } from 'node:crypto';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { DialectName } from '../../src/platform/carriers/dialects/dialect';
import { MODELS } from './carrier-models';
import { listen } from './loopback';
import { answer } from './twilio-resources';
import {
  NOT_FOUND,
  refusal,
  buildSid,
  type Reply,
  type State,
  type Trouble,
  type TwilioRequest,
  type TwilioServer,
} from './twilio-state';

export type { TwilioRequest, Resource, Trouble, TwilioServer } from './twilio-state';

/**
 * A service on loopback with the part of a carrier's API that we use; it stores its requests. It is
 * a model of that carrier (./carrier-models.ts).
 */
export async function startTwilio(
  stock: string[] = [],
  dialect: DialectName = 'twilio',
  authToken = randomBytes(16).toString('hex'),
): Promise<TwilioServer> {
  const model = MODELS[dialect];
  const state: State = {
    ...{ url: '', base_url: '', dialect },
    account_sid: buildSid('AC'),
    auth_token: authToken,
    keys: model.createKeys(authToken),
    application_id: '2741690567753729623',
    clock: () => new Date(),
    requests: [],
    messages: [],
    calls: [],
    numbers: [],
    stock,
    ignores_filters: model.ignores_filters ?? false,
    max_page_size: 1000,
    troubles: [],
    pending: [],
  };
  const server = createServer((req, res) => void serve(state, req, res));
  const { url: ownUrl, close } = await listen(server);
  Object.assign(state, { url: ownUrl, base_url: `${ownUrl}${model.base}` });
  const hook = (url: string, params: Record<string, string>) => sendHook(state, url, params);
  return Object.assign(state, {
    trouble: (troubles: Trouble[], only?: string) =>
      Object.assign(state, { troubles: [...troubles], only }),
    settle: async () => {
      const statuses: number[] = [];
      for (const { url, params } of state.pending.splice(0))
        statuses.push((await hook(url, params)).status);
      return statuses;
    },
    hook,
    close,
  });
}

async function serve(state: State, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const { pathname, searchParams: query } = new URL(req.url!, state.url);
  const model = MODELS[state.dialect];
  if (req.headers.authorization !== model.authorize(state))
    return send(res, refusal({ status: 401, code: 20003, message: 'Authenticate' }));
  const path = model.readPath(pathname, state.account_sid);
  const form = readFields(req, Buffer.concat(chunks).toString());
  const { method, headers } = req;
  const received = { method: method!, path: path ?? pathname, query, form, headers };
  state.requests.push(received);
  const trouble = state.only && state.only !== req.method ? undefined : state.troubles.shift();
  if (trouble === 'hang') return;
  if (trouble === 'break') return void req.socket.destroy();
  if (typeof trouble === 'object') return fail(res, trouble);
  const reply = path === undefined ? refusal(NOT_FOUND) : answerAs(state, received);
  if (trouble === 'hang after accepting') return;
  if (trouble === 'break after accepting') return void req.socket.destroy();
  send(res, reply);
}

function readFields({ headers }: IncomingMessage, text: string): URLSearchParams {
  if (headers['content-type'] !== 'application/json') return new URLSearchParams(text);
  return new URLSearchParams(JSON.parse(text) as Record<string, string>);
}

function answerAs(state: State, received: TwilioRequest): Reply {
  const { refuse, rewrite = (reply: Reply) => reply } = MODELS[state.dialect];
  const refused = refuse?.(state, received);
  return rewrite(refused ? refusal(refused) : answer(state, received), received);
}

function fail(
  res: ServerResponse,
  { status, code, text, location }: Exclude<Trouble, string>,
): void {
  if (code) return send(res, refusal({ status, code, message: 'As the test asked' }));
  res
    .writeHead(status, { 'content-type': 'text/html', ...(location && { location }) })
    .end(text ?? '<h1>As the test asked</h1>');
}

function send(res: ServerResponse, { status, body }: Reply): void {
  if (status === 204) return void res.writeHead(204).end();
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendHook(
  { dialect, keys, clock }: State,
  url: string,
  params: Record<string, string>,
): Promise<{ status: number; text: string }> {
  const text = new URLSearchParams(params).toString();
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...MODELS[dialect].sign({ url, params, text, at: clock() }, keys),
  };
  return new Promise((done, failed) => {
    const httpRequest = request(url, { method: 'POST', headers }, (res) => {
      let answered = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (answered += chunk));
      res.once('end', () => done({ status: res.statusCode!, text: answered }));
    });
    httpRequest.once('error', failed).end(text);
  });
}
