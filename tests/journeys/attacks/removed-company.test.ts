import {
  contract,
  type CredentialKind,
  type Operation,
} from '../../../src/platform/contract/contract';
import type { Authenticator } from '../../../src/api/auth/authenticator';
import type { Authenticated } from '../../../src/api/auth/scheme';
import { createDemo } from '../../../src/main/demo/demo';
import { removeDemo } from '../../../src/operate/installation/remove-demo';
import { captureLog } from '../../support/captured-log';
import { createFixture } from '../../support/example';
import { repetitions, selectSample } from '../../support/repetitions';
import { buildApp, caller, createWorld, type Api, type World } from '../../support/world';

// A company that is removed while its clients send requests. Some of these were answered with an
// internal error; each finds no company, no record, or a database that is busy, and nothing of the
// company is left.

const captured = captureLog();
let world: World;
beforeAll(async () => {
  world = await createWorld({ log: captured.log });
});
afterAll(() => world.close());

/** The tables that have rows of a company, but for counters of requests, which soon expire. */
async function listTables(companyId: bigint): Promise<string[]> {
  const tables = await world.sql<{ name: string }>(
    `SELECT c.relname::text AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
      AND a.attname = 'company_id' AND NOT a.attisdropped AND c.relname <> 'rate_limits'
    ORDER BY 1`,
  );
  const names: string[] = [];
  for (const { name } of tables) {
    const rows = await world.sql(`SELECT FROM ${name} WHERE company_id = $1 LIMIT 1`, [companyId]);
    if (rows.length > 0) names.push(name);
  }
  const jobs = await world.sql(`SELECT FROM jobs.job WHERE company_id = $1 LIMIT 1`, [
    String(companyId),
  ]);
  return jobs.length > 0 ? [...names, 'jobs'] : names;
}

const internalErrors = () => captured.lines().filter(({ msg }) => msg === 'internal error');

/** Accepts credentials that were valid before, like a process that caches them for seconds. */
function rememberCallers(authenticator: Authenticator): Authenticator {
  const callers = new Map<string, Authenticated['caller']>();
  const senders = new Map<CredentialKind, Authenticated>();
  return {
    ...authenticator,
    callerOutsideBody: async (req, operation) => {
      const key = `${operation.credentials} ${req.headers.authorization ?? ''}`;
      const resolvedCaller =
        callers.get(key) ?? (await authenticator.callerOutsideBody(req, operation));
      if (resolvedCaller) callers.set(key, resolvedCaller);
      return resolvedCaller;
    },
    authenticate: async (req, operation, resolvedCaller) => {
      const sender = senders.get(operation.credentials);
      if (sender)
        return operation.credentials === 'account'
          ? { ...sender, caller: resolvedCaller! }
          : sender;
      const authenticated = await authenticator.authenticate(req, operation, resolvedCaller);
      senders.set(operation.credentials, authenticated);
      return authenticated;
    },
  };
}

test('whatever is sent with credentials of a removed company that are still cached', async () => {
  const doomed = await world.addCompany('Doomed');
  const fixture = await createFixture(world, doomed);
  const authenticator = rememberCallers(world.deps.authenticator);
  const api = caller(buildApp({ ...world.deps, authenticator }), doomed.auth);
  const send = (operation: Operation) => fixture.send(operation, {}, api);
  // One of each kind of credentials, and the user whose streams are read.
  const kinds = new Set(contract.operations.map(({ credentials }) => credentials));
  for (const kind of kinds)
    await send(contract.operations.find(({ credentials }) => credentials === kind)!);
  await send(contract.operations.find(({ id }) => id === 'streamEvents')!);
  await world.sql('UPDATE companies SET demo = true WHERE id = $1', [doomed.id]);
  await removeDemo(world.deps, Number(doomed.id));
  expect(await listTables(doomed.id)).toEqual([]);
  for (const operation of selectSample(contract.operations, 4)) {
    const { status } = await send(operation);
    expect([operation.id, status, status < 500 && status !== 201]).toEqual([
      operation.id,
      status,
      true,
    ]);
  }
  expect(internalErrors()).toEqual([]);
  expect(await listTables(doomed.id)).toEqual([]);
});

/** Requests that write; each call sends a new one. */
async function buildRequests(api: Api): Promise<(() => ReturnType<Api>)[]> {
  const findFirstId = async (path: string) => {
    const { body } = await api('get', path);
    return body[body.metadata.root][0].id as number;
  };
  const [buyerId, offerId] = [await findFirstId('buyers'), await findFirstId('offers')];
  const list = await findFirstId('buyer_suppressions');
  const { schedules } = (await api('get', 'schedules')).body;
  let turn = 0;
  const name = () => `Name ${++turn}`;
  const number = () => `+1310555${String(1_000 + ++turn).padStart(4, '0')}`;
  const post =
    (path: string, body: () => object, more: () => object = () => ({})) =>
    () =>
      api('post', path, { body: body(), ...more() });
  const file = { buyer_suppression_id: String(list), import_file: Buffer.from('3105550177\n') };
  return [
    post('call_sessions', () => ({ offer_id: offerId, caller_number: number() })),
    post('call_sessions', () => ({ offer_id: offerId, caller_number: number() }), withKey),
    post(
      'leads',
      () => ({ lead_token: schedules[0].lead_token, caller_id: number() }),
      withoutCredentials,
    ),
    post('leads/capture', () => ({ offer_id: offerId, caller_id: number() })),
    post('buyers', () => ({ name: name() })),
    post('buyers', () => ({ name: name() }), withKey),
    post('offers', () => ({ name: name(), buyer_ids: [buyerId] })),
    post('value_lists', () => ({ name: name(), values: ['a', 'b'] })),
    post('contacts/caller_block', () => ({ caller_ids: [number()] })),
    post(`buyer_suppressions/${list}/caller_block`, () => ({ caller_ids: [number()] })),
    post('account_entries', () => ({ buyer_id: buyerId, kind: 'adjustment', amount: 1 })),
    post('users', () => ({ email: `user-${++turn}@example.com`, invite: false })),
    post('access_tokens', () => ({ name: name(), permissions: ['buyers:read'] })),
    () => api('post', 'buyer_suppression_files', { form: file }),
    () => api('put', `buyers/${buyerId}`, { body: { name: name() } }),
    () => api('put', 'company', { body: { name: name() } }),
    () => api('get', 'calls.csv'),
  ];
  function withKey() {
    return { headers: { 'Idempotency-Key': `key ${++turn}` } };
  }
  function withoutCredentials() {
    return { auth: null };
  }
}

const CLIENTS = 8;

test('eight clients that write while a demo is removed', async () => {
  const { company_id, credentials } = await createDemo(world.deps, 'Doomed');
  const api = caller(world.app, `${credentials.public_key}:${credentials.private_key}`);
  const requests = await buildRequests(api);
  const statuses = new Set<number>();
  let requestCount = 0;
  let removal: Promise<unknown> | undefined;
  const client = async () => {
    // Ten failed attempts in a minute are the most.
    for (let refused = 0; refused < 2;) {
      const { status } = await requests[requestCount++ % requests.length]!();
      statuses.add(status);
      if (status === 401) refused++;
      if (status === 429) return;
      if (requestCount === repetitions(3, 6) * requests.length)
        removal = removeDemo(world.deps, Number(company_id));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  expect(await removal).toMatchObject({ id: Number(company_id) });
  expect(internalErrors()).toEqual([]);
  const expected = [200, 201, 401, 404, 422, 429, 503];
  expect([...statuses].filter((status) => !expected.includes(status))).toEqual([]);
  expect(await listTables(BigInt(company_id))).toEqual([]);
});
