import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import pino from 'pino';
import { startTracing, stopTracing } from '../../../src/platform/telemetry/tracing';
import { eventually } from '../../support/engine-process';
import { patient } from '../../support/patience';
import { useWorld } from '../../support/use-world';

// Traces reach an OTLP receiver whole and without anybody's data, and cost a request nothing when
// the receiver is away.

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: object }[];
}

const received: OtlpSpan[] = [];
const webhookHeaders: IncomingHttpHeaders[] = [];
let receiver: Server;
const lines: string[] = [];
const world = useWorld({
  log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
  environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' },
});
const { api } = world;

const readPort = (server: Server) => (server.address() as AddressInfo).port;

/** Takes spans at the path of OTLP, and webhooks at any other. */
const listen = () =>
  new Promise<Server>((done) => {
    const server = createServer((req, res) => {
      let body = '';
      req.on('data', (chunk: Buffer) => (body += chunk.toString()));
      req.on('end', () => {
        if (req.url !== '/v1/traces') webhookHeaders.push(req.headers);
        else received.push(...listSpans(JSON.parse(body)));
        res.end('{}');
      });
    }).listen(0, '127.0.0.1', () => done(server));
  });

interface Export {
  resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[];
}
const listSpans = ({ resourceSpans }: Export) =>
  resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));

const start = (endpoint: string) => startTracing({ endpoint, ratio: 1, version: 'test' });

beforeAll(async () => {
  receiver = await listen();
});
afterEach(() => stopTracing());
afterAll(() => new Promise((done) => receiver.close(done)));

/** Sends what was recorded; nothing is lost by a stop. */
async function flush(): Promise<OtlpSpan[]> {
  await stopTracing();
  return received.splice(0);
}

const toAttributes = ({ attributes }: OtlpSpan) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, Object.values(value)[0] as string | number]),
  );

const CALLER = '+13105550177';

test('a call is one trace: its request, the decision, the statements by their names', async () => {
  const { body } = await api('post', 'offers', { body: { name: 'Confidential' } });
  start(`http://127.0.0.1:${readPort(receiver)}`);
  const trace = 'a'.repeat(32);
  const traceparent = `00-${trace}-${'b'.repeat(16)}-01`;
  await api('post', 'call_sessions', {
    headers: { traceparent },
    body: { offer_id: body.offer.id, caller_number: CALLER, tokens: { secret: 'Confidential' } },
  });
  // The span ends with the last byte of the answer, which the client may have before.
  await eventually(async () => lines.some((line) => line.includes(trace)), 20);
  const spans = await flush();
  const request = spans.find(({ kind }) => kind === 2)!;
  expect(request).toMatchObject({
    name: 'POST /api/v1/call_sessions',
    traceId: trace,
    parentSpanId: 'b'.repeat(16),
  });
  expect(toAttributes(request)).toMatchObject({
    'trunkline.operation_id': 'createCallSession',
    'http.route': '/api/v1/call_sessions',
    'http.response.status_code': 201,
  });
  const decision = spans.find(({ name }) => name === 'routing decision')!;
  expect(toAttributes(decision)).toMatchObject({ 'trunkline.action': 'hang_up' });
  expect(spans.map(({ name }) => name)).toContain('calls.begin_calls');
  const ids = new Set(spans.map(({ spanId }) => spanId));
  for (const span of spans) {
    expect(span.traceId).toBe(trace);
    if (span !== request) expect(ids).toContain(span.parentSpanId);
  }
  expect(JSON.stringify(spans)).not.toMatch(/Confidential|3105550177|secret/);
  expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({ operation: 'createCallSession', trace_id: trace }),
  );
});

test('the path of a request is named by its template, whatever its values', async () => {
  start(`http://127.0.0.1:${readPort(receiver)}`);
  const before = lines.length;
  await api('get', 'buyers/987654?q=Secretive');
  await eventually(async () => lines.length > before, 20);
  const spans = await flush();
  expect(spans.map(({ name }) => name)).toContain('GET /api/v1/buyers/{id}');
  expect(JSON.stringify(spans)).not.toMatch(/987654|Secretive/);
});

test(
  'a request to others carries the trace on; a job is a trace',
  async () => {
    start(`http://127.0.0.1:${readPort(receiver)}`);
    await world.deps.request({
      url: `http://127.0.0.1:${readPort(receiver)}/hook?token=Confidential`,
      method: 'POST',
      headers: {},
      body: 'Confidential',
      timeout_ms: patient(5_000),
    });
    const workers = await world.work();
    await world.deps.tenants.of(world.company.id).transaction((tx) =>
      world.deps.queue.add(tx, 'forget_number', {
        company_id: String(world.company.id),
        id: '1',
      }),
    );
    const isDone = async () =>
      (await world.sql(`SELECT FROM jobs.job WHERE name = 'forget_number'`)).length === 0;
    await eventually(isDone, 50);
    await workers.stop();
    const spans = await flush();
    const requestSpan = spans.find(({ name }) => name === 'request of a webhook')!;
    expect(webhookHeaders.at(-1)!.traceparent).toBe(
      `00-${requestSpan.traceId}-${requestSpan.spanId}-01`,
    );
    expect(spans.map(({ name }) => name)).toContain('job forget_number');
    expect(JSON.stringify(spans)).not.toContain('Confidential');
  },
  patient(20_000),
);

test('without an endpoint nothing is recorded, and no line of the log names a trace', async () => {
  const headers = { traceparent: `00-${'c'.repeat(32)}-${'b'.repeat(16)}-01` };
  const before = lines.length;
  await api('get', 'me', { headers });
  await eventually(async () => lines.length > before, 20);
  expect(await flush()).toEqual([]);
  expect(lines.at(-1)).not.toContain('trace_id');
});

test('while the receiver is away, requests are answered and a stop is not held up', async () => {
  const away = await listen();
  const port = readPort(away);
  await new Promise((done) => away.close(done));
  start(`http://127.0.0.1:${port}`);
  for (let n = 0; n < 20; n++) expect((await api('get', 'me')).status).toBe(200);
  await stopTracing();
  expect((await api('get', 'me')).status).toBe(200);
});

test('a receiver that never answers does not hold up a stop either', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer(() => undefined).on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  start(`http://127.0.0.1:${readPort(silent)}`);
  expect((await api('get', 'me')).status).toBe(200);
  await stopTracing();
  for (const socket of sockets) socket.destroy();
  await new Promise((done) => silent.close(done));
});
