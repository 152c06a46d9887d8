import { appendFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { contract } from '../../src/platform/contract/contract';
import { listen } from './loopback';
import { ajv } from './worker/contract-check';

export interface Received {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  answered: number;
}

/** The response of a receiver: a status, or a function that writes it. */
export type Answer = number | ((res: ServerResponse) => void);
export type Answering = (received: Omit<Received, 'answered'>, n: number) => Answer;

interface Event {
  requestBody: { content: Record<string, { schema: { $ref: string } }> };
}
type Callback = Record<string, { post: Event }>;
const { callbacks } = contract.document.paths['/outgoing_webhooks']!.post as unknown as {
  callbacks: Record<string, Callback>;
};

/** Checks a payload against its type in the contract; throws where they differ. */
export function checkPayload(body: string): {
  type: string;
  timestamp: string;
  truncated?: true;
  data: Record<string, Record<string, unknown>>;
} {
  const payload = JSON.parse(body);
  const event = Object.values(callbacks[payload.type] ?? {})[0]?.post;
  if (!event) throw new Error(`the contract has no event ${payload.type}`);
  const validate = ajv.getSchema(
    `contract${event.requestBody.content['application/json']!.schema.$ref}`,
  )!;
  if (!validate(payload)) {
    const errors = ajv.errorsText(validate.errors);
    throw new Error(`${payload.type} breaks the contract: ${errors}\n${body.slice(0, 3000)}`);
  }
  appendFileSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'payloads.txt'), `${payload.type}\n`);
  return payload;
}

/** A server on loopback that records all requests. */
export async function startReceiver(answer: Answering = () => 200, host = '127.0.0.1') {
  const received: Received[] = [];
  const state = { connections: 0 };
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const got = {
      method: req.method!,
      path: req.url!,
      headers: req.headers,
      body: Buffer.concat(chunks).toString(),
    };
    const response = answer(got, received.length);
    received.push({ ...got, answered: typeof response === 'number' ? response : 0 });
    if (typeof response === 'number') res.writeHead(response).end('thanks');
    else response(res);
  });
  server.on('connection', () => void (state.connections += 1));
  const { port, url, close } = await listen(server, host);
  return {
    url,
    port,
    received,
    state,
    close,
    ids: () => received.map(({ headers }) => headers['webhook-id'] as string),
  };
}
