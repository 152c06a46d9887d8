import { createHmac, randomBytes } from 'node:crypto';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './loopback';
import { answer } from './twilio-resources';
import {
  refusal,
  buildSid,
  type Reply,
  type State,
  type Trouble,
  type TwilioServer,
} from './twilio-state';

export type { TwilioRequest, Resource, Trouble, TwilioServer } from './twilio-state';

/** A service on loopback with the part of Twilio's API that we use; it stores its requests. */
export async function startTwilio(stock: string[] = []): Promise<TwilioServer> {
  const state: State = {
    url: '',
    account_sid: buildSid('AC'),
    auth_token: randomBytes(16).toString('hex'),
    requests: [],
    messages: [],
    calls: [],
    numbers: [],
    stock,
    ignores_filters: false,
    max_page_size: 1000,
    troubles: [],
    pending: [],
  };
  const server = createServer((req, res) => void serve(state, req, res));
  const { url: ownUrl, close } = await listen(server);
  state.url = ownUrl;
  const hook = (url: string, params: Record<string, string>) =>
    sendHook(state.auth_token, url, params);
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
  const { account_sid, auth_token } = state;
  const credentials = `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`;
  if (req.headers.authorization !== credentials)
    return send(res, refusal({ status: 401, code: 20003, message: 'Authenticate' }));
  const path = pathname
    .replace(`/2010-04-01/Accounts/${state.account_sid}/`, '')
    .replace(/\.json$/, '');
  const received = {
    method: req.method!,
    path,
    query,
    form: new URLSearchParams(Buffer.concat(chunks).toString()),
    headers: req.headers,
  };
  state.requests.push(received);
  const trouble = state.only && state.only !== req.method ? undefined : state.troubles.shift();
  if (trouble === 'hang') return;
  if (trouble === 'break') return void req.socket.destroy();
  if (typeof trouble === 'object') return fail(res, trouble);
  const reply = answer(state, received);
  if (trouble === 'hang after accepting') return;
  if (trouble === 'break after accepting') return void req.socket.destroy();
  send(res, reply);
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
  authToken: string,
  url: string,
  params: Record<string, string>,
): Promise<{ status: number; text: string }> {
  const pairs = Object.keys(params)
    .sort()
    .map((key) => key + params[key]);
  const signature = createHmac('sha1', authToken)
    .update(url + pairs.join(''))
    .digest('base64');
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-twilio-signature': signature,
  };
  return new Promise((done, failed) => {
    const httpRequest = request(url, { method: 'POST', headers }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.once('end', () => done({ status: res.statusCode!, text }));
    });
    httpRequest.once('error', failed).end(new URLSearchParams(params).toString());
  });
}
