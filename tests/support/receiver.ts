import { appendFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { contract } from '../../src/contract';
import { ajv } from './worker/contract-check';

export interface Received {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  answered: number;
}

/** What a receiver answers: a status, or whatever it does with the response itself. */
export type Answer = number | ((res: ServerResponse) => void);
type Answering = (received: Omit<Received, 'answered'>, n: number) => Answer;

interface WebhookItem {
  post: { requestBody: { content: Record<string, { schema: { $ref: string } }> } };
}
const { webhooks } = contract.document as unknown as { webhooks: Record<string, WebhookItem> };

/** Holds what was delivered against what the contract says of its type. Throws otherwise. */
export function checkPayload(body: string): {
  type: string;
  timestamp: string;
  truncated?: true;
  data: Record<string, Record<string, unknown>>;
} {
  const payload = JSON.parse(body);
  const item = webhooks[payload.type];
  if (!item) throw new Error(`the contract has no webhook ${payload.type}`);
  const validate = ajv.getSchema(
    `contract${item.post.requestBody.content['application/json']!.schema.$ref}`,
  )!;
  if (!validate(payload))
    throw new Error(
      `${payload.type} is not what the contract says: ${ajv.errorsText(validate.errors)}\n${body.slice(0, 3000)}`,
    );
  appendFileSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'payloads.txt'), `${payload.type}\n`);
  return payload;
}

/** Somebody's server on loopback, which keeps all it gets. */
export async function startReceiver(answer: Answering = () => 200) {
  const received: Received[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const got = {
      method: req.method!,
      path: req.url!,
      headers: req.headers,
      body: Buffer.concat(chunks).toString(),
    };
    const said = answer(got, received.length);
    received.push({ ...got, answered: typeof said === 'number' ? said : 0 });
    if (typeof said === 'number') res.writeHead(said).end('thanks');
    else said(res);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  return {
    url,
    received,
    close,
    ids: () => received.map(({ headers }) => headers['webhook-id'] as string),
  };
}
