import type { ChildProcess } from 'node:child_process';
import type { Server } from 'node:http';
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import pino, { type Logger } from 'pino';
import request from 'supertest';
import { createApp } from '../../src/app';
import { loadConfig } from '../../src/config';
import type { Db } from '../../src/db/tenant';
import { findOrCreateUsers } from '../../src/people/find-or-create-users';
import { createDeps, type Deps } from '../../src/deps';
import type { Handlers } from '../../src/http/handlers';
import { startWorkers, type Workers } from '../../src/jobs/workers';
import { createRunners } from '../../src/background/runners';
import { createCompany } from '../../src/installation/create-company';
import { issueCredentials, type NewCredentials } from '../../src/people/issue-credentials';
import { TEMPLATE } from './global-setup';
import { checkAnswer } from './worker/contract-check';
import { validate } from './worker/validator';
import { openFleet } from './fleet';
import { patient } from './patience';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options';

export interface Sent {
  body?: unknown;
  headers?: Record<string, string>;
  /** Basic credentials as "public:private"; null for none. */
  auth?: string | null;
  query?: object;
  /** Sent as multipart/form-data; a Buffer is a file. */
  form?: Record<string, string | string[] | Buffer>;
  file_name?: string;
}

/** A caller of the API. Every answer is held against the contract. */
export type Api = (method: Method, path: string, sent?: Sent) => Promise<request.Response>;

export interface Company {
  id: bigint;
  auth: string;
  api: Api;
}

export interface World {
  /** Its PostgreSQL. */
  url: string;
  /** The database, as the environment of a process names it. */
  database: Record<string, string>;
  deps: Deps;
  app: Server | ReturnType<typeof createApp>;
  company: Company;
  addCompany(name?: string): Promise<Company>;
  /** Credentials of a company with exactly these permissions. */
  credentials(
    company: Company,
    permissions: string[],
    more?: Partial<NewCredentials>,
  ): Promise<string>;
  /** Processes that work on its database; what is left of them ends with it. */
  processes: ChildProcess[];
  /** Runs background jobs until the world is closed. */
  work(): Promise<Workers>;
  /** The database, without any of our code between. */
  sql<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export interface WorldOptions {
  clock?: () => Date;
  environment?: Record<string, string>;
  handlers?: (deps: Deps) => Handlers;
  rate_window_seconds?: number;
  log?: Logger;
}

/** The URL of a fresh, migrated, empty database. */
export async function freshDatabase(): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY file_copy`);
  return process.env.TRUNKLINE_TEST_DATABASE!.replace(/\/postgres$/, `/${name}`);
}

type Through = (url: string, environment: Record<string, string>) => Promise<World['database']>;
let through: Through = async (url) => ({ DATABASE_URL: url });

/** From now on worlds reach their databases in this way, such as through a pooler. */
export const reachDatabases = (way: Through): void => void (through = way);

/** A process that was killed may still be connected to it. */
const dropDatabase = (url: string): Promise<void> =>
  onServer(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`);

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: process.env.TRUNKLINE_TEST_DATABASE! });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

export const PEPPER_OF_TESTS = 'a pepper for tests, long enough to be one';

/** What the carrier of tests signs with. */
export const TWILIO_TOKEN = 'a token of the carrier, for tests';

const testEnvironment = (environment: Record<string, string> = {}): Record<string, string> => ({
  DATA_DIR: mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'data-')),
  KEY_PEPPER: PEPPER_OF_TESTS,
  LOG_LEVEL: 'silent',
  DATABASE_TIMEOUT_SECONDS: String(Math.min(100, Math.ceil(patient(10)))),
  TWILIO_AUTH_TOKEN: TWILIO_TOKEN,
  ...environment,
});

export const testConfig = (environment: Record<string, string> = {}) =>
  loadConfig(testEnvironment(environment));

/** The application on these dependencies, with the validator of this worker. */
export const appOf = (deps: Deps, handlers?: Handlers) => createApp(deps, handlers, { validate });

/** A service on a database of its own, with one company. */
export async function createWorld({
  clock,
  environment,
  handlers,
  rate_window_seconds,
  log: given_log,
}: WorldOptions = {}): Promise<World> {
  const log = given_log ?? pino({ level: 'silent' });
  const url = await freshDatabase();
  const own = testEnvironment(environment);
  const database = await through(url, own);
  const deps = createDeps({
    config: loadConfig({ ...own, ...database }),
    database_url: database.DATABASE_URL!,
    clock,
    log,
    rate_window_seconds,
  });
  // A suite may be run against processes of their own (tests/fleet), if it needs nothing of this one.
  const fleet =
    process.env.TEST_FLEET === 'yes' && !clock && !handlers && !rate_window_seconds && !given_log
      ? await openFleet({ url, deps, environment })
      : undefined;
  const app = fleet?.balancer ?? appOf(deps, handlers?.(deps));
  const client = new Client({ connectionString: url, options: '-c timezone=UTC' });
  await client.connect();
  const working: Workers[] = [];
  const processes: ChildProcess[] = [];
  const addCompany = async (name = 'Test Company'): Promise<Company> => {
    const { company_id, credentials } = await createCompany(name, deps);
    const auth = `${credentials.public_key}:${credentials.private_key}`;
    return { id: company_id, auth, api: caller(app, auth) };
  };
  const company = await addCompany();
  await fleet?.load(await addCompany('Load'));
  return {
    url,
    database,
    deps,
    app,
    company,
    addCompany,
    processes,
    credentials: async (company, permissions, more = {}) => {
      if (more.kind === 'user_token' && !more.superuser)
        await everything(deps.tenants.of(company.id), more.user_email!);
      const wanted = {
        name: 'test',
        kind: 'key_pair' as const,
        permissions,
        superuser: false,
        ...more,
      };
      const issued = await deps.tenants
        .of(company.id)
        .transaction((db) =>
          issueCredentials(db, wanted, { pepper: deps.pepper, now: deps.clock() }),
        );
      return issued.token ?? `${issued.public_key}:${issued.private_key}`;
    },
    work: async () => {
      if (fleet) return fleet.work();
      const workers = await startWorkers({
        database: deps.database,
        log: deps.log,
        runners: createRunners(deps),
      });
      working.push(workers);
      return workers;
    },
    sql: async <Row>(text: string, values: unknown[] = []) =>
      (await client.query(text, values)).rows as Row[],
    close: async () => {
      for (const child of processes) child.kill('SIGKILL');
      await Promise.all(working.map((workers) => workers.stop()));
      await fleet?.close();
      deps.live.close();
      await client.end();
      await deps.database.close();
      await dropDatabase(url);
    },
  };
}

/** A team without restrictions for this user: only the token limits what the user may do. */
const everything = (db: Db, email: string) =>
  db.transaction(async (tx) => {
    const team = await tx.prisma.accessControlList.create({
      data: { company_id: db.company_id, name: 'Everything', superuser: true },
      select: { id: true },
    });
    const [user] = await findOrCreateUsers(tx, [email], new Date());
    await tx.prisma.accessControlListUser.create({
      data: { company_id: db.company_id, access_control_list_id: team.id, user_id: user! },
    });
  });

export const basic = (auth: string): string => `Basic ${Buffer.from(auth).toString('base64')}`;

export function caller(app: World['app'] | string, auth: string | null): Api {
  return async (method, path, sent = {}) => {
    const url = path.startsWith('/') ? path : `/api/v1/${path}`;
    const with_auth = sent.auth === undefined ? auth : sent.auth;
    let req = request(app)
      [method](url)
      .set(sent.headers ?? {});
    if (with_auth !== null) req = req.set('Authorization', basic(with_auth));
    if (sent.query) req = req.query(sent.query);
    if (sent.body !== undefined) req = req.send(sent.body as object);
    for (const [name, value] of Object.entries(sent.form ?? {})) {
      req = Buffer.isBuffer(value)
        ? req.attach(name, value, sent.file_name ?? 'numbers.csv')
        : req.field(name, value);
    }
    const res = await req.ok(() => true);
    if (method !== 'head' && method !== 'options') checkAnswer(method, url, res);
    return res;
  };
}
