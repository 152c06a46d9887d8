import { contract, type CredentialKind, type Operation } from '../../src/contract';
import type { Authenticator } from '../../src/http/auth/authenticator';
import type { Authenticated } from '../../src/http/auth/scheme';
import { createDemo } from '../../src/installation/demo';
import { removeDemo } from '../../src/installation/remove-demo';
import { captureLog } from '../support/captured-log';
import { createFixture } from '../support/example';
import { appOf, caller, createWorld, type Api, type World } from '../support/world';

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
async function tablesWith(company_id: bigint): Promise<string[]> {
  const tables = await world.sql<{ name: string }>(
    `SELECT c.relname::text AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
      AND a.attname = 'company_id' AND NOT a.attisdropped AND c.relname <> 'rate_limits'
    ORDER BY 1`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await world.sql(`SELECT FROM ${name} WHERE company_id = $1 LIMIT 1`, [company_id]);
    if (rows.length > 0) found.push(name);
  }
  const jobs = await world.sql(
    `SELECT FROM jobs.job WHERE data ->> 'company_id' = $1 AND state < 'completed' LIMIT 1`,
    [String(company_id)],
  );
  return jobs.length > 0 ? [...found, 'jobs'] : found;
}

const internalErrors = () => captured.lines().filter(({ msg }) => msg === 'internal error');

/** Accepts credentials that were valid before, like a process that caches them for seconds. */
function remembering(authenticator: Authenticator): Authenticator {
  const callers = new Map<string, Authenticated['caller']>();
  const senders = new Map<CredentialKind, Authenticated>();
  return {
    ...authenticator,
    callerOutsideBody: async (req, operation) => {
      const key = `${operation.credentials} ${req.headers.authorization ?? ''}`;
      const known = callers.get(key) ?? (await authenticator.callerOutsideBody(req, operation));
      if (known) callers.set(key, known);
      return known;
    },
    authenticate: async (req, operation, known) => {
      const sender = senders.get(operation.credentials);
      if (sender)
        return operation.credentials === 'account' ? { ...sender, caller: known! } : sender;
      const found = await authenticator.authenticate(req, operation, known);
      senders.set(operation.credentials, found);
      return found;
    },
  };
}

test('whatever is sent with credentials of a removed company that are still cached', async () => {
  const doomed = await world.addCompany('Doomed');
  const fixture = await createFixture(world, doomed);
  const authenticator = remembering(world.deps.authenticator);
  const api = caller(appOf({ ...world.deps, authenticator }), doomed.auth);
  const send = (operation: Operation) => fixture.send(operation, {}, api);
  // One of each kind of credentials, and the user whose streams are read.
  const kinds = new Set(contract.operations.map(({ credentials }) => credentials));
  for (const kind of kinds)
    await send(contract.operations.find(({ credentials }) => credentials === kind)!);
  await send(contract.operations.find(({ id }) => id === 'streamEvents')!);
  await world.sql('UPDATE companies SET demo = true WHERE id = $1', [doomed.id]);
  await removeDemo(world.deps, Number(doomed.id));
  expect(await tablesWith(doomed.id)).toEqual([]);
  for (const operation of contract.operations) {
    const { status } = await send(operation);
    expect([operation.id, status, status < 500 && status !== 201]).toEqual([
      operation.id,
      status,
      true,
    ]);
  }
  expect(internalErrors()).toEqual([]);
  expect(await tablesWith(doomed.id)).toEqual([]);
});

/** Requests that write; each call sends a new one. */
async function requestsOf(api: Api): Promise<(() => ReturnType<Api>)[]> {
  const idOf = async (path: string) => {
    const { body } = await api('get', path);
    return body[body.metadata.root][0].id as number;
  };
  const [buyer_id, offer_id] = [await idOf('buyers'), await idOf('offers')];
  const list = await idOf('buyer_suppressions');
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
    post('call_sessions', () => ({ offer_id, caller_number: number() })),
    post('call_sessions', () => ({ offer_id, caller_number: number() }), keyed),
    post('leads', () => ({ lead_token: schedules[0].lead_token, caller_id: number() }), nobody),
    post('leads/capture', () => ({ offer_id, caller_id: number() })),
    post('buyers', () => ({ name: name() })),
    post('buyers', () => ({ name: name() }), keyed),
    post('offers', () => ({ name: name(), buyer_ids: [buyer_id] })),
    post('value_lists', () => ({ name: name(), values: ['a', 'b'] })),
    post('contacts/caller_block', () => ({ caller_ids: [number()] })),
    post(`buyer_suppressions/${list}/caller_block`, () => ({ caller_ids: [number()] })),
    post('account_entries', () => ({ buyer_id, kind: 'adjustment', amount: 1 })),
    post('users', () => ({ email: `user-${++turn}@example.com`, invite: false })),
    post('access_tokens', () => ({ name: name(), permissions: ['buyers:read'] })),
    () => api('post', 'buyer_suppression_files', { form: file }),
    () => api('put', `buyers/${buyer_id}`, { body: { name: name() } }),
    () => api('put', 'company', { body: { name: name() } }),
    () => api('get', 'calls.csv'),
  ];
  function keyed() {
    return { headers: { 'Idempotency-Key': `key ${++turn}` } };
  }
  function nobody() {
    return { auth: null };
  }
}

const CLIENTS = 8;

test('eight clients that write while a demo is removed', async () => {
  const { company_id, credentials } = await createDemo(world.deps, 'Doomed');
  const api = caller(world.app, `${credentials.public_key}:${credentials.private_key}`);
  const requests = await requestsOf(api);
  const statuses = new Set<number>();
  let sent = 0;
  let removal: Promise<unknown> | undefined;
  const client = async () => {
    // Ten failed attempts in a minute are the most.
    for (let refused = 0; refused < 2;) {
      const { status } = await requests[sent++ % requests.length]!();
      statuses.add(status);
      if (status === 401) refused++;
      if (status === 429) return;
      if (sent === 6 * requests.length) removal = removeDemo(world.deps, Number(company_id));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  expect(await removal).toMatchObject({ id: Number(company_id) });
  expect(internalErrors()).toEqual([]);
  const expected = [200, 201, 401, 404, 422, 429, 503];
  expect([...statuses].filter((status) => !expected.includes(status))).toEqual([]);
  expect(await tablesWith(BigInt(company_id))).toEqual([]);
});
