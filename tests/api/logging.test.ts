import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import request from 'supertest';
import { contract, facets, type Operation } from '../../src/platform/contract/contract';
import { createApp } from '../../src/main/app';
import { captureLog } from '../support/captured-log';
import { eventually } from '../support/engine-process';
import { createFixture, type Fixture } from '../support/example';
import { repetitions } from '../support/repetitions';
import { useWorld } from '../support/use-world';
import { buildApp, basic, caller, type Api, type World } from '../support/world';
import { findReader } from '../support/worker/reader';

// Derived from openapi.yaml: no value of somebody's data reaches the log, wherever it is sent and
// however the request ends.

const PERSONAL = [
  'Annabel Quux',
  'annabel.quux@example.com',
  '415-555-0133',
  '+14155550133',
  '123-45-6789',
  'ut_quux_secret',
];
/** However it is written: encoded, in parts, with or without separators. */
const TRACES = /quux|annabel|415\D{0,3}555\D{0,3}0133|123\D{0,3}45\D{0,3}6789/i;
const ENCODED = PERSONAL.flatMap((value) =>
  ['base64', 'base64url', 'hex'].map((form) =>
    Buffer.from(value)
      .toString(form as 'hex')
      .replace(/=+$/, ''),
  ),
);

const captured = captureLog();
const world = useWorld({ log: captured.log });
let fixture: Fixture;
let app: World['app'];
let api: Api;

beforeAll(async () => {
  fixture = await createFixture(world);
  app = buildApp(world.deps);
  api = caller(app, world.company.auth);
});
beforeEach(() => captured.clear());

const KINDS = PERSONAL.length;
/** Each operation, with the values that are sent to it: usually one of them in turn. */
const all = contract.operations.map((operation, n) => {
  const values = Array.from({ length: repetitions(1, KINDS) }, (_, i) => (n + i) % KINDS);
  return [operation.id, operation, values.map((kind) => PERSONAL[kind]!)] as const;
});

/** Names of what may be in the query string of an operation. */
const listQueryNames = ({ parameters, merged, body }: Operation): string[] => [
  ...parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
  ...(merged && body ? Object.keys(facets(body).properties) : []),
];

/** Every parameter, one the contract does not know, fields in brackets, and a personal name. */
const buildQuery = (operation: Operation, value: string): string => {
  const names = [...listQueryNames(operation), 'ssn', 'password', 'data[name]', 'ids[]', value];
  return names.map((name) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
};

const buildPath = ({ path }: Operation, value: string): string =>
  path.replace(/\{\w+\}/g, encodeURIComponent(value));

const buildHeaders = (value: string) => ({
  Authorization: `Token ${value}`,
  Cookie: `session=${encodeURIComponent(value)}`,
  'User-Agent': `agent of ${value}`,
  Referer: `https://example.com/?q=${encodeURIComponent(value)}`,
  'X-Forwarded-For': value,
  'X-Twilio-Signature': value,
  'Idempotency-Key': value,
  'X-Request-Id': `id of ${value}`,
});

const buildBody = (operation: Operation, value: string) => ({
  ...Object.fromEntries(
    Object.keys(operation.body ? facets(operation.body).properties : {}).map((name) => [
      name,
      value,
    ]),
  ),
  data: { name: value, [value]: value },
  [value]: [value],
});

const requestLines = () => captured.lines().filter(({ msg }) => msg === 'request');

/** The line of a request is written when its connection is done with it: after the answer. */
const waitForLines = (requests: number) => eventually(() => requestLines().length >= requests);

async function expectNoTrace(requests: number, minimum = 400): Promise<void> {
  await waitForLines(requests);
  const text = captured.text();
  expect(TRACES.exec(text)?.input.slice(0, 2_000)).toBeUndefined();
  for (const form of ENCODED) expect(text).not.toContain(form);
  const lines = requestLines();
  expect(lines).toHaveLength(requests);
  expect(lines.filter(({ status }) => Number(status) < minimum)).toEqual([]);
}

describe('personal data is not in the log when it is sent', () => {
  test.each(all)('to %s by every parameter of the query string', async (_, operation, values) => {
    for (const value of values) {
      const path = `${fixture.path(operation)}?${buildQuery(operation, value)}`;
      await fixture.send(operation, { path, credentials: 'own' }, api);
    }
    await expectNoTrace(values.length, 200);
    expect(captured.text()).toContain(`"operation":"${operation.id}"`);
  });

  test.each(all)(
    'to %s in path, headers and body, without credentials',
    async (_, operation, values) => {
      for (const value of values)
        await request(app)
          [operation.method](`${buildPath(operation, value)}?${buildQuery(operation, value)}`)
          .set(buildHeaders(value))
          .send(buildBody(operation, value));
      await expectNoTrace(values.length);
    },
  );

  test.each(all)(
    'to %s with good credentials and wrong values everywhere',
    async (_, operation, values) => {
      for (const value of values)
        await request(app)
          [operation.method](buildPath(operation, value))
          // A stream would go on for an hour.
          .query(operation.id.startsWith('stream') ? { wait_seconds: 0 } : {})
          .set({ ...buildHeaders(value), Authorization: basic(world.company.auth) })
          .send(buildBody(operation, value));
      await expectNoTrace(values.length, 200);
      expect(captured.text()).not.toContain(world.company.auth.split(':')[1]);
    },
  );

  test.each(all)('to %s as a body that is not JSON', async (_, operation, values) => {
    for (const value of values)
      await request(app)
        [operation.method](buildPath(operation, value))
        .set('Content-Type', 'application/json')
        .send(`{"name": ${value}`);
    await expectNoTrace(values.length);
  });

  test.each(all)(
    'to %s, which fails with an error that repeats it',
    async (_, operation, values) => {
      // The worst that a library can do: its message has everything that was sent, without quotes.
      const authenticator: World['deps']['authenticator'] = {
        ...world.deps.authenticator,
        callerOutsideBody: () => Promise.resolve(undefined),
        authenticate: (req) => {
          const body = Object.entries((req.body as object | undefined) ?? {}).flat();
          const values = Object.values({ ...req.query, ...req.headers, ...req.params });
          const strings = [...values.flat(), ...body].filter((value) => typeof value === 'string');
          throw Object.assign(new Error(`nobody is called ${strings.join(' or ')}`), {
            code: 'E_NOBODY',
            detail: strings,
            cause: new Error(`Key (name)=(${strings.join(', ')}) is taken`),
          });
        },
      };
      const faulty = buildApp({ ...world.deps, authenticator });
      for (const value of values) {
        const res = await request(faulty)
          [operation.method](`${buildPath(operation, value)}?${buildQuery(operation, value)}`)
          .set(buildHeaders(value))
          .send(buildBody(operation, value));
        expect(res.status).toBe(500);
      }
      await expectNoTrace(values.length, 500);
      const errors = captured.lines().filter(({ msg }) => msg === 'internal error');
      expect(errors).toHaveLength(values.length);
      expect(errors[0]!.err).toMatchObject({
        message: expect.stringMatching(/^nobody is called \*\*\*/),
        code: 'E_NOBODY',
        stack: expect.stringContaining('logging.test.ts'),
        causes: [{ message: expect.stringMatching(/^Key \(name\)/) }],
      });
    },
  );

  test.each(['/nosuch/VALUE', '/api/v1/VALUE', '/api/v1/buyers/1/VALUE', '/invitations?t=VALUE'])(
    'to %s, which is no operation',
    async (path) => {
      for (const value of PERSONAL)
        await request(app).get(path.replace('VALUE', encodeURIComponent(value)));
      await request(app).patch('/api/v1/leads/annabel.quux@example.com');
      await expectNoTrace(PERSONAL.length + 1, 200);
    },
  );

  test('by a request that works', async () => {
    const query = {
      caller_id: '415-555-0133',
      email: 'annabel.quux@example.com',
      first_name: 'Annabel',
    };
    const submit = contract.operations.find(({ id }) => id === 'submitLead')!;
    const res = await fixture.send(submit, { query, body: undefined }, api);
    expect([res.status, res.body.lead?.caller_id]).toEqual([201, '+14155550133']);
    await api('get', 'leads', { query: { number: '+14155550133', columns: 'id,caller_id' } });
    await api('get', 'leads/by_caller_number/x/%2B14155550133');
    await expectNoTrace(3, 200);
  });

  test('in the middle of an answer that breaks off', async () => {
    const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const breaking = createApp(world.deps, undefined, {
      findReader,
      limits: {
        ...world.deps.limits,
        take: async (_, { res }) => {
          res.write('{');
          throw new Error('no number +14155550133');
        },
      },
    });
    const server = breaking.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/me`;
    const headers = { Authorization: basic(world.company.auth) };
    await expect(fetch(url, { headers }).then((res) => res.text())).rejects.toThrow();
    await waitForLines(1);
    server.close();
    expect(captured.lines().map(({ msg, cut_off }) => [msg, cut_off])).toEqual([
      ['the answer was cut off', undefined],
      ['request', true],
    ]);
    expect(captured.text()).not.toMatch(TRACES);
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });
});

describe('the line of a request shows', () => {
  const captureUrl = async (path: string) => {
    captured.clear();
    await api('get', path);
    await waitForLines(1);
    return requestLines()[0]!.url;
  };

  test('pages, orders, columns, closed lists, times, zones and ids', async () => {
    const shown =
      'page=2&per_page=5&order=name&order_dir=desc&columns=id,name&root=false&paused=yes' +
      '&time_zone=Eastern+Time+%28US+%26+Canada%29&created_at_from=2026-01-31&ids=1,2&ids[]=3' +
      '&serializer=buyer_grid&format=csv';
    expect(await captureUrl(`/api/v1/buyers?${shown}`)).toBe(`/api/v1/buyers?${shown}`);
    expect(await captureUrl('/api/v1/buyers/12')).toBe('/api/v1/buyers/12');
    const uuid = '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001';
    expect(await captureUrl(`/api/v1/leads/${uuid}/timeline`)).toBe(
      `/api/v1/leads/${uuid}/timeline`,
    );
    expect(await captureUrl('/api/v1/collections/route_by_type')).toBe(
      '/api/v1/collections/route_by_type',
    );
  });

  test('*** for everything else, also for names that the contract does not know', async () => {
    expect(
      await captureUrl(
        '/api/v1/buyers?number=%2B13105550123&page=4155550133&order=ann&columns=id,ann' +
          '&ann=1&cursor=WyJhbm4i&fulltext=&time_zone=ann&ids[x]=1',
      ),
    ).toBe(
      '/api/v1/buyers?number=***&page=***&order=***&columns=***&***&cursor=***&fulltext=' +
        '&time_zone=***&ids[***]=***',
    );
    expect(await captureUrl('/api/v1/phone_numbers/%2B13105550123')).toBe(
      '/api/v1/phone_numbers/***',
    );
  });
});
