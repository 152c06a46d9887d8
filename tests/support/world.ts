import type { ChildProcess } from 'node:child_process';
import type { Server } from 'node:http';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import pino, { type Logger } from 'pino';
import request from 'supertest';
import { createApp } from '../../src/main/app';
import { loadConfig } from '../../src/main/config';
import type { Db } from '../../src/data/db';
import { findOrCreateUsers } from '../../src/domain/people/find-or-create-users';
import type { Deps } from '../../src/domain/deps';
import type { Handlers } from '../../src/api/handlers';
import { startWorkers, type Workers } from '../../src/data/jobs/workers';
import { createRunners } from '../../src/main/background/runners';
import { createCompany } from '../../src/operate/installation/create-company';
import { issueCredentials, type NewCredentials } from '../../src/domain/people/issue-credentials';
import { checkAnswer } from './worker/contract-check';
import { findReader } from './worker/reader';
import { keptConnections, serverFor } from './worker/servers';
import { openFleet } from './fleet';
import { secondsForDatabase } from './patience';
import { rawSql, worldDatabase } from './world-database';

export { emptyDatabase, freshDatabase, reachDatabases } from './world-database';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options';

export interface RequestOptions {
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
export type Api = (
  method: Method,
  path: string,
  options?: RequestOptions,
) => Promise<request.Response>;

export interface Company {
  id: bigint;
  auth: string;
  api: Api;
}

export interface World {
  /** The URL of its database. */
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

export const PEPPER_OF_TESTS = 'a pepper for tests, long enough to be one';

/** The secret that a jambonz of tests signs with. */
export const JAMBONZ_SECRET = 'wh_secret_of_a_jambonz_for_tests';

/** The token that the carrier of tests signs with. */
export const TWILIO_TOKEN = 'a token of the carrier, for tests';

const testEnvironment = (environment: Record<string, string> = {}): Record<string, string> => ({
  DATA_DIR: mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'data-')),
  KEY_PEPPER: PEPPER_OF_TESTS,
  LOG_LEVEL: 'silent',
  DATABASE_TIMEOUT_SECONDS: secondsForDatabase(),
  TWILIO_AUTH_TOKEN: TWILIO_TOKEN,
  JAMBONZ_WEBHOOK_SECRET: JAMBONZ_SECRET,
  ...environment,
});

export const testConfig = (environment: Record<string, string> = {}) =>
  loadConfig(testEnvironment(environment));

/** The application on these dependencies, with the readers of this worker. */
export const buildApp = (deps: Deps, handlers?: Handlers) =>
  createApp(deps, handlers, { findReader });

const startJobs = (deps: Deps): Promise<Workers> =>
  startWorkers({ database: deps.database, log: deps.log, runners: createRunners(deps) });

/** A service on a database of its own, with one company. */
export async function createWorld({
  clock,
  environment,
  handlers,
  rate_window_seconds,
  log: givenLog,
}: WorldOptions = {}): Promise<World> {
  const log = givenLog ?? pino({ level: 'silent' });
  const settings = testEnvironment(environment);
  const database = await worldDatabase(settings);
  const opened = await database.open({
    config: loadConfig({ ...settings, ...database.environment }),
    database_url: database.environment.DATABASE_URL!,
    clock,
    log,
    rate_window_seconds,
  });
  const { deps: all } = opened;
  // A suite may be run against processes of their own (tests/system/fleet), if it needs none of
  // this one.
  const fleet =
    process.env.TEST_FLEET === 'yes' && !clock && !handlers && !rate_window_seconds && !givenLog
      ? await openFleet({ url: database.environment.DATABASE_URL!, deps: all, environment })
      : undefined;
  const app = fleet?.balancer ?? buildApp(all, handlers?.(all));
  const working: Workers[] = [];
  const processes: ChildProcess[] = [];
  const companies: bigint[] = [];
  const addCompany = async (name = 'Test Company'): Promise<Company> => {
    const { company_id, credentials } = await createCompany(name, all);
    companies.push(company_id);
    const auth = `${credentials.public_key}:${credentials.private_key}`;
    return { id: company_id, auth, api: caller(app, auth) };
  };
  const company = await addCompany();
  await fleet?.load(await addCompany('Load'));
  const { url, deps } = await opened.locateCompany(company.id);
  const { sql, end } = rawSql(opened, companies);
  return {
    url,
    database: database.environment,
    deps,
    app,
    company,
    addCompany,
    processes,
    credentials: async (company, permissions, more = {}) => {
      if (more.kind === 'user_token' && !more.superuser)
        await createSuperuserTeam(deps.tenants.of(company.id), more.user_email!);
      const newCredentials = {
        name: 'test',
        kind: 'key_pair' as const,
        permissions,
        superuser: false,
        ...more,
      };
      const issued = await deps.tenants
        .of(company.id)
        .transaction((db) =>
          issueCredentials(db, newCredentials, { pepper: deps.pepper, now: deps.clock() }),
        );
      return issued.token ?? `${issued.public_key}:${issued.private_key}`;
    },
    work: async () => {
      if (fleet) return fleet.work();
      const started = await Promise.all(all.parts().map(startJobs));
      const workers = {
        stop: async () => void (await Promise.all(started.map((worker) => worker.stop()))),
      };
      working.push(workers);
      return workers;
    },
    sql,
    close: async () => {
      for (const child of processes) child.kill('SIGKILL');
      await Promise.all(working.map((workers) => workers.stop()));
      await fleet?.close();
      await end();
      await opened.close();
      await database.drop();
    },
  };
}

/** A team without restrictions for this user: only the token limits what the user may do. */
const createSuperuserTeam = (db: Db, email: string) =>
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
  return async (method, path, options = {}) => {
    const url = path.startsWith('/') ? path : `/api/v1/${path}`;
    const withAuth = options.auth === undefined ? auth : options.auth;
    let req = request(typeof app === 'string' ? app : serverFor(app))
      [method](url)
      .agent(keptConnections)
      // Compressing is tested where it matters, and takes time.
      .set('Accept-Encoding', 'identity')
      .set(options.headers ?? {});
    if (withAuth !== null) req = req.set('Authorization', basic(withAuth));
    if (options.query) req = req.query(options.query);
    if (options.body !== undefined) req = req.send(options.body as object);
    for (const [name, value] of Object.entries(options.form ?? {})) {
      req = Buffer.isBuffer(value)
        ? req.attach(name, value, options.file_name ?? 'numbers.csv')
        : req.field(name, value);
    }
    const res = await req.ok(() => true);
    if (method !== 'head' && method !== 'options') checkAnswer(method, url, res);
    return res;
  };
}
