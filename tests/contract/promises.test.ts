import {
  contract,
  refusesUnknownFields,
  type Operation,
} from '../../src/platform/contract/contract';
import { createDeps } from '../../src/operate/installation/deps';
import pino from 'pino';
import { identifyKey, nameLock } from '../../src/api/records/idempotency';
import type { KeyOwner } from '../../src/api/records/key-owner';
import { createFixture, type Fixture } from '../support/example';
import {
  buildApp,
  basic,
  caller,
  createWorld,
  testConfig,
  type Api,
  type World,
} from '../support/world';

// Derived from openapi.yaml: every response that it promises is requested from every operation.

let world: World;
let fixture: Fixture;
let addresses = 1;
const all = contract.operations.map((operation) => [operation.id, operation] as const);
const selectPromising = (status: string) => all.filter(([, { responses }]) => status in responses);
const send: Fixture['send'] = (operation, ...options) => fixture.send(operation, ...options);
/** Any key is accepted: one that is not a parameter is a token. */
const takesAnything = (operation: Operation) =>
  operation.merged && !refusesUnknownFields(operation);

beforeAll(async () => {
  world = await createWorld({ environment: { TRUST_PROXY: '1' } });
  fixture = await createFixture(world);
});
afterAll(() => world.close());

describe('every operation', () => {
  test.each(all)('%s refuses a caller without credentials', async (_, operation) => {
    const res = await send(operation, { credentials: 'none' });
    expect(res.status).toBe(401);
    expect(res.headers['www-authenticate']).toMatch(/Basic/);
  });

  test.each(selectPromising('403').filter(([, { scope }]) => scope))(
    '%s refuses a caller without its permission, and accepts one with only that',
    async (_, operation) => {
      const otherScopes = contract.document.components.schemas.Scope!.enum!.filter(
        (scope) => scope !== operation.scope,
      ) as string[];
      const res = await send(operation, {
        auth: await world.credentials(world.company, otherScopes),
      });
      expect([res.status, res.body.detail]).toEqual([
        403,
        expect.stringContaining(operation.scope!),
      ]);
      const response = await send(operation, {
        auth: await world.credentials(world.company, [operation.scope!]),
        query: { nonsense: 1 },
      });
      expect(takesAnything(operation) ? [200, 201] : [422]).toContain(response.status);
    },
  );

  test.each(selectPromising('404').filter(([, { credentials }]) => credentials === 'account'))(
    '%s does not find a record that does not exist',
    async (_, operation) => {
      const path = operation.path.replace(/\{\w+\}/g, '999999999');
      for (const at of [
        path,
        path.replace('999999999', '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001'),
        path.replace('999999999', 'no-such'),
      ]) {
        expect((await send(operation, { path: at })).status).toBe(404);
      }
    },
  );

  test.each(selectPromising('404').filter(([, { credentials }]) => credentials !== 'account'))(
    '%s does not find a number or an address that no company has',
    async (_, operation) => {
      const unknown = '+13105559999';
      const { own_number } = operation;
      const path = fixture
        .path(operation)
        .replace('+13105550123', unknown)
        .replace(/auto-partner-\d+/, 'unknown');
      const inQuery = operation.parameters.some(({ name }) => name === own_number);
      const override = inQuery
        ? { query: { number: unknown.slice(1) } }
        : own_number && { body: { ...fixture.body(operation), [own_number]: unknown } };
      // Each from an address of its own: an unknown name counts as an attempt.
      const headers = { 'X-Forwarded-For': `203.0.113.${addresses++}` };
      const res = await send(operation, { path, headers, ...override });
      expect(res.status).toBe(404);
    },
  );

  test.each(selectPromising('422').filter(([, operation]) => !takesAnything(operation)))(
    '%s refuses a parameter it does not have, by name',
    async (_, operation) => {
      const res = await send(operation, { query: { nonsense: 1 } });
      expect([res.status, res.body.errors]).toEqual([422, { nonsense: [expect.any(String)] }]);
    },
  );

  test.each(selectPromising('415'))(
    '%s refuses a body of another media type',
    async (_, operation) => {
      const res = await send(operation, {
        body: '<name>x</name>',
        headers: { 'Content-Type': 'text/plain' },
      });
      expect(res.status).toBe(415);
    },
  );

  test.each(selectPromising('400'))('%s refuses malformed JSON', async (_, operation) => {
    const res = await send(operation, {
      body: '{"name":',
      headers: { 'Content-Type': 'application/json' },
    });
    expect(res.status).toBe(400);
  });

  test.each(selectPromising('413'))('%s refuses a body that is too large', async (_, operation) => {
    const res = await send(operation, { body: { name: 'x'.repeat(1_100_000) } });
    expect(res.status).toBe(413);
  });

  const repeatable = selectPromising('409').filter(([, { parameters }]) =>
    parameters.some(({ name }) => name === 'Idempotency-Key'),
  );
  /** The owner of the key of its request. */
  const findOwner = async (operation: Operation): Promise<KeyOwner> => {
    const { credentials } = operation;
    if (credentials === 'confirmation_token') {
      // The first request makes the address that is to confirm itself.
      await send(operation, {});
      const [{ id } = {}] = await world.sql<{ id: string }>(
        "SELECT id FROM mail_addresses WHERE company_id = $1 AND email = 'desk@network.example'",
        [world.company.id],
      );
      return { kind: 'confirmation', credentials: `${id}/1` };
    }
    if (credentials === 'webhook_token')
      return { kind: 'webhook', credentials: `${fixture.ids.inbound_webhooks}/` };
    if (credentials === 'invitation_token')
      return { kind: 'invitation', credentials: `${fixture.ids.users}/1` };
    return { kind: 'key_pair', credentials: world.company.auth.split(':')[0]! };
  };
  test.each(repeatable)(
    '%s does not run twice at the same time with one Idempotency-Key',
    async (_, operation) => {
      const owner = await findOwner(operation);
      const twin = identifyKey({ company_id: world.company.id }, { key: 'twin', owner });
      await world.sql('SELECT pg_advisory_lock(hashtextextended($1, 7481202))', [nameLock(twin)]);
      // A key that is sent with a lead token alone belongs to the address too.
      const Authorization = basic(world.company.auth);
      const byToken: Record<string, string> =
        operation.credentials === 'lead_token' ? { Authorization } : {};
      const headers = { 'Idempotency-Key': 'twin', ...byToken };
      const res = await send(operation, { headers });
      await world.sql('SELECT pg_advisory_unlock_all()');
      expect([res.status, res.headers['retry-after']]).toEqual([409, '1']);
    },
  );

  test.each(selectPromising('412'))(
    '%s does not change a record that has changed since If-Match',
    async (_, operation) => {
      const res = await send(operation, {
        headers: { 'If-Match': '"00000000000000000000000000000000"' },
      });
      expect(res.status).toBe(412);
    },
  );

  test.each(selectPromising('304'))(
    '%s returns 304 for the checksum of the record',
    async (_, operation) => {
      const first = await send(operation);
      expect(first.headers.etag).toBe(`"${first.body.checksum}"`);
      const second = await send(operation, { headers: { 'If-None-Match': first.headers.etag! } });
      expect([second.status, second.text]).toEqual([304, '']);
    },
  );

  test.each(all)('%s responds to HEAD as to GET, or 405 with Allow', async (_, operation) => {
    const reads = contract.operations.find(
      ({ method, path }) => method === 'get' && path === operation.path,
    );
    const res = await send(reads ?? operation, { method: 'head', body: undefined });
    expect(res.status).toBe(reads && !reads.effect ? 200 : 405);
  });

  test.each([...new Set(contract.operations.map(({ path }) => path))])(
    '%s responds to a method it does not have with 405 and those it has',
    async (path) => {
      const res = await world.company.api('patch', path.replace(/\{\w+\}/g, '1'));
      const methods = contract.operations
        .filter((operation) => operation.path === path)
        .map(({ method }) => method.toUpperCase());
      expect(res.status).toBe(405);
      expect(
        res.headers
          .allow!.split(', ')
          .filter((method) => method !== 'HEAD')
          .sort(),
      ).toEqual(methods.sort());
    },
  );
});

describe('when something fails, every operation', () => {
  let away: World['deps'];
  let withoutDatabase: Api;
  let faulty: Api;
  beforeAll(() => {
    away = createDeps({
      config: testConfig(),
      database_url: 'postgresql://none@127.0.0.1:1/none',
      log: pino({ level: 'silent' }),
    });
    withoutDatabase = caller(buildApp(away), world.company.auth);
    const fail = () => {
      throw new Error('a secret detail');
    };
    const tenants = { of: fail, ofRequest: fail };
    faulty = caller(buildApp({ ...world.deps, tenants }), world.company.auth);
  });
  afterAll(() => away.database.close());

  test.each(all)(
    '%s returns 503 with Retry-After while the database is away',
    async (_, operation) => {
      const res = await send(operation, {}, withoutDatabase);
      expect([res.status, res.headers['retry-after']]).toEqual([503, '2']);
    },
  );

  test.each(all)(
    '%s returns 500 for an internal error, with a request id and without details',
    async (_, operation) => {
      const res = await send(operation, {}, faulty);
      expect(res.status).toBe(500);
      expect(res.body.request_id).toBe(res.headers['x-request-id']);
      expect(res.text).not.toContain('secret detail');
    },
  );

  test('returns 429 after ten bad credentials in a minute from one address', async () => {
    const otherWorld = await createWorld();
    const publicKey = otherWorld.company.auth.split(':')[0]!;
    for (let i = 0; i < 10; i++)
      expect(
        (await otherWorld.company.api('get', 'me', { auth: `${publicKey}:wrong${i}` })).status,
      ).toBe(401);
    for (const operation of contract.operations) {
      const res = await send(operation, { credentials: 'wrong' }, otherWorld.company.api);
      expect([operation.id, res.status, Number(res.headers['retry-after']) > 0]).toEqual([
        operation.id,
        429,
        true,
      ]);
    }
    expect((await otherWorld.company.api('get', 'me')).status).toBe(200);
    await otherWorld.close();
  });
});

describe('every operation works as its example says', () => {
  test('in the order create, read, change, delete', async () => {
    const otherWorld = await createWorld();
    const otherFixture = await createFixture(otherWorld);
    const rank = { get: 0, post: 1, put: 1, patch: 1, delete: 2 };
    const rankOperation = ({ id, path, method, effect }: Operation) => {
      if (!path.includes('{')) return 0;
      // A token ends with its traffic source.
      if (id === 'revokeTrafficSourceToken') return 1.5;
      // A lead that was removed, or has opted out, can be read and deleted, but moves nowhere.
      if (/^(removeLead|optOutLead)/.test(id)) return 1.5;
      return effect ? 1 : rank[method];
    };
    const rest = contract.operations
      .filter(({ method, path }) => method !== 'post' || path.includes('{'))
      .toSorted((a, b) => rankOperation(a) - rankOperation(b));
    for (const operation of rest) {
      const res = await otherFixture.send(operation);
      expect([operation.id, res.status]).toEqual([operation.id, operation.status]);
    }
    await otherWorld.close();
  });
});
