import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { contract } from '../../../src/platform/contract/contract';
import { messageClasses } from '../../../src/api/message-classes';
import { answerUnreadable, MAX_HEADER_BYTES } from '../../../src/api/request/unreadable-requests';
import { createFixture, type Fixture } from '../../support/example';
import { ajv, recordCode } from '../../support/worker/contract-check';
import { basic } from '../../support/world';
import { listen } from '../../support/loopback';
import { useWorld } from '../../support/use-world';

// Requests that Node's parser refuses are answered with the shape of all errors, like everything
// else that a client sends to the port.

const world = useWorld();
let fixture: Fixture;
let port: number;
beforeAll(async () => {
  fixture = await createFixture(world);
  const timeouts = { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 50 };
  const limits = { maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false };
  const server = createServer({ ...messageClasses(world.app as never), ...timeouts, ...limits });
  server.on('request', world.app as never);
  answerUnreadable(server, world.deps.log);
  const listening = await listen(server);
  ({ port } = listening);
  world.closeLater(listening.close);
});

interface Answer {
  status: number;
  head: string;
  body: Record<string, unknown>;
}

/** Sends bytes as they are; every answer of the connection. */
async function sendBytes(bytes: string | Buffer): Promise<Answer[]> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(bytes);
  let rest = await readAll(socket);
  const answers: Answer[] = [];
  while (rest) {
    const begins = rest.indexOf('\r\n\r\n') + 4;
    const head = rest.slice(0, begins);
    const length = Number(/content-length: (\d+)/i.exec(head)![1]);
    const [, status] = /^HTTP\/1\.1 (\d+) /.exec(head)!;
    answers.push({
      status: Number(status),
      head,
      body: JSON.parse(rest.slice(begins, begins + length)),
    });
    rest = rest.slice(begins + length);
  }
  return answers;
}

const isProblem = ajv.getSchema('contract#/components/schemas/Problem')!;

/** Status and code of a problem that is as the contract says. */
function checkProblem({ status, head, body }: Answer): [number, unknown] {
  expect([isProblem(body), isProblem.errors]).toEqual([true, null]);
  expect(body.status).toBe(status);
  expect(head).toMatch(/content-type: application\/problem\+json/i);
  expect(head).toMatch(/cache-control: no-store/i);
  expect(head).toContain(`X-Request-Id: ${body.request_id as string}\r\n`);
  recordCode(String(body.code));
  return [status, body.code];
}

const LONG = 'x'.repeat(20_000);
const chunked = (body: string) =>
  `POST /api/v1/buyers HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic(world.company.auth)}\r\n` +
  `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;

test.each<[string, () => string, number, string]>([
  ['no HTTP at all', () => 'HELO there\r\n\r\n', 400, 'malformed_request'],
  ['another version of HTTP', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed_request'],
  ['an unknown method', () => 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
  ['no Host', () => 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed_request'],
  [
    'a length that is no number',
    () => 'POST /api/v1/buyers HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n',
    400,
    'malformed_request',
  ],
  [
    'two lengths',
    () => 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    400,
    'malformed_request',
  ],
  ['a long URL', () => `GET /${LONG} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, 'headers_too_large'],
  [
    'a long header',
    () => `GET /api/v1/me HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${LONG}\r\n\r\n`,
    431,
    'headers_too_large',
  ],
  [
    'many headers',
    () => `GET / HTTP/1.1\r\nHost: a\r\n${'X-A: bcdef\r\n'.repeat(5_000)}\r\n`,
    431,
    'headers_too_large',
  ],
  ['a chunk without a size', () => chunked('zz\r\n'), 400, 'malformed_request'],
  ['a long extension of a chunk', () => chunked(`2;${LONG}\r\n{}\r\n`), 413, 'body_too_large'],
  ['a tunnel', () => 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
  ['headers that do not end', () => 'GET / HTTP/1.1\r\nHost: a\r\n', 408, 'request_timeout'],
  ['a body that does not end', () => chunked('2\r\n{'), 408, 'request_timeout'],
])('%s is answered with a problem', async (_, buildRequest, status, code) => {
  const answers = await sendBytes(buildRequest());
  expect(answers.map(checkProblem)).toEqual([[status, code]]);
});

const BODIES = contract.operations.filter(({ body, multipart }) => body ?? multipart);
const TYPES = [
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
];

test.each(BODIES.map((operation) => [operation.id, operation] as const))(
  '%s: a type without a body is an empty body, and no internal error',
  async (_, operation) => {
    for (const type of TYPES) {
      const [answer] = await sendBytes(
        `${operation.method.toUpperCase()} /api/v1${fixture.path(operation)} HTTP/1.1\r\n` +
          `Host: a\r\nAuthorization: ${basic(world.company.auth)}\r\nConnection: close\r\n` +
          `Content-Type: ${type}\r\n\r\n`,
      );
      expect(answer!.status).toBeLessThan(500);
    }
  },
);

const form = (boundary: string, part: string) => {
  const body = `--x\r\nContent-Disposition: form-data${part}\r\n\r\n5\r\n--x--\r\n`;
  return (
    `POST /api/v1/buyers HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic(world.company.auth)}\r\n` +
    `Content-Type: multipart/form-data${boundary}\r\nContent-Length: ${body.length}\r\n` +
    `Connection: close\r\n\r\n${body}`
  );
};

test.each([
  ['without a boundary', '', '; name="weight"'],
  ['with an empty boundary', '; boundary=', '; name="weight"'],
  ['with an empty quoted boundary', '; boundary=""', '; name="weight"'],
  ['with a part without a name', '; boundary=x', ''],
])('a form %s is refused, and not read as one without fields', async (_, boundary, part) => {
  const [answer] = await sendBytes(form(boundary, part));
  expect(checkProblem(answer!)).toEqual([400, 'malformed_body']);
});

test('what follows a whole request on its connection does not touch the answer to it', async () => {
  const whole = `GET /api/v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic(world.company.auth)}\r\n\r\n`;
  const socket = connect(port, '127.0.0.1');
  socket.write(whole);
  const [first] = (await once(socket, 'data')) as [Buffer];
  expect(first.toString()).toMatch(/^HTTP\/1\.1 200 /);
  socket.write('HELO there\r\n\r\n');
  expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 400 /);
});

test('no header is dropped, however many come before it', async () => {
  const { body } = await world.company.api('post', 'buyers', { body: { name: 'Unchanged' } });
  const [answer] = await sendBytes(
    `DELETE /api/v1/buyers/${body.buyer.id} HTTP/1.1\r\nHost: a\r\n` +
      `Authorization: ${basic(world.company.auth)}\r\nConnection: close\r\n` +
      `${'A: b\r\n'.repeat(3_000)}If-Match: "stale"\r\n\r\n`,
  );
  expect(checkProblem(answer!)).toEqual([412, 'stale_checksum']);
});

test('an unknown expectation is ignored', async () => {
  const [answer] = await sendBytes(
    'GET /api/v1/me HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nConnection: close\r\n\r\n',
  );
  expect(checkProblem(answer!)).toEqual([401, 'missing_credentials']);
});

describe('JSON that cannot be read', () => {
  const post = (body: Buffer, more = '') =>
    sendBytes(
      Buffer.concat([
        Buffer.from(
          `POST /api/v1/buyers HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic(world.company.auth)}\r\n` +
            `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n${more}` +
            'Connection: close\r\n\r\n',
        ),
        body,
      ]),
    );
  test.each([
    ['an end too soon', '{"name":', 400, 'malformed_body'],
    ['a comma too many', '{"name":"a",}', 400, 'malformed_body'],
    ['a name without quotes', '{name:1}', 400, 'malformed_body'],
    ['NaN', '{"tier":NaN}', 400, 'malformed_body'],
    ['a list', '[]', 422, 'invalid_value'],
    ['a text', '"name"', 422, 'invalid_value'],
    ['null', 'null', 422, 'invalid_value'],
    ['great depth', `{"name":${'['.repeat(40_000)}${']'.repeat(40_000)}}`, 422, 'invalid_value'],
    ['a prototype', '{"__proto__":{"name":"a"}}', 422, 'unknown_field'],
  ])('is answered with a problem: %s', async (_, json, status, code) => {
    expect((await post(Buffer.from(json))).map(checkProblem)).toEqual([[status, code]]);
  });
  test.each([
    ['gzip', 400, 'malformed_request'],
    ['br', 400, 'malformed_request'],
    ['deflate', 400, 'malformed_request'],
    ['zip', 415, 'unsupported_media_type'],
  ])('is answered with a problem: not compressed as %s', async (encoding, status, code) => {
    const answers = await post(Buffer.from('{"name":"a"}'), `Content-Encoding: ${encoding}\r\n`);
    expect(answers.map(checkProblem)).toEqual([[status, code]]);
  });
});

const withHeaders = contract.operations.flatMap((operation) =>
  operation.parameters
    .filter((parameter) => parameter.in === 'header')
    .map(
      ({ name, schema }) =>
        [operation.id, name, operation, contract.resolve(schema).maxLength!] as const,
    ),
);

test.each(withHeaders)('%s measures the header %s', async (_, name, operation, max) => {
  const send = async (length: number) => {
    const res = await fixture.send(operation, { headers: { [name]: 'x'.repeat(length) } });
    return listFaults(res.body, name);
  };
  expect(await send(max + 1)).toEqual([`must NOT have more than ${max} characters`]);
  // An event's id has a form of its own.
  if (name !== 'Last-Event-ID') expect(await send(max)).toEqual([]);
});

const listFaults = (body: { errors?: Record<string, string[]> }, name: string): string[] =>
  body.errors?.[name.toLowerCase()] ?? [];

test('every header that a request may have is one of the contract', () => {
  const names = new Set(withHeaders.map(([, name]) => name));
  expect(names).toEqual(new Set(['Idempotency-Key', 'If-Match', 'If-None-Match', 'Last-Event-ID']));
  const { description } = contract.document.info as unknown as { description: string };
  for (const name of names) expect(description).toContain(`\`${name}\``);
});
