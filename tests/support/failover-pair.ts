import { createDeps } from '../../src/operate/installation/deps';
import { type Deps } from '../../src/domain/deps';
import { createCompany } from '../../src/operate/installation/create-company';
import { startServer, startWorker, type Running } from './process';
import {
  replicateSynchronously,
  startPrimary,
  startStandby,
  buildUrl,
  type Server,
} from './standby';
import { basic, testConfig } from './world';

type Fields = Record<string, unknown>;

export interface Answer {
  status: number;
  body: Fields;
  headers: Headers;
  /** When the answer came, in milliseconds. */
  at: number;
}

/** The answer to a request of a load, and the kind of the request. */
export interface LoadAnswer extends Answer {
  kind: string;
}

export interface PairOptions {
  is_synchronous: boolean;
  /** A worker runs jobs in addition to the server. */
  with_worker?: boolean;
  environment?: Record<string, string>;
  /** More of the server's environment, of the URL of the standby. */
  ofStandby?: (standby: Server) => Record<string, string>;
}

/** A server process on a primary and its standby, with one company. */
export async function startPair({
  is_synchronous,
  with_worker,
  environment = {},
  ofStandby = () => ({}),
}: PairOptions) {
  const primary = await startPrimary();
  const standby = await startStandby(primary);
  if (is_synchronous) await replicateSynchronously(primary);
  const url = buildUrl([primary, standby], 'target_session_attrs=read-write&connect_timeout=2');
  const config = testConfig({
    DATABASE_URL: url,
    DEMO: 'false',
    RUN_JOBS: 'false',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    ...environment,
  });
  const variables = {
    DATABASE_URL: url,
    DATA_DIR: config.data_dir,
    KEY_PEPPER: config.key_pepper!,
    LOG_LEVEL: 'silent',
    DEMO: 'false',
    RUN_JOBS: 'false',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    ...ofStandby(standby),
    ...environment,
  };
  const server = await startServer(variables);
  const running: Running[] = [server];
  if (with_worker) running.push(await startWorker(variables));
  const deps: Deps = createDeps({ config, database_url: url });
  const { company_id, credentials } = await createCompany('Failover', deps);
  await deps.database.close();
  const auth = basic(`${credentials.public_key}:${credentials.private_key}`);
  const send = async (method: string, path: string, body?: Fields): Promise<Answer> => {
    const res = await fetch(`${server.url}/api/v1/${path}`, {
      method,
      headers: { Authorization: auth, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await res.text();
    return {
      status: res.status,
      body: text.startsWith('{') ? (JSON.parse(text) as Fields) : { text },
      headers: res.headers,
      at: Date.now(),
    };
  };
  const create = async (path: string, body: Fields): Promise<number> => {
    const res = await send('POST', path, body);
    const { root } = (res.body.metadata ?? {}) as { root?: string };
    if (res.status !== 201 || !root) throw new Error(JSON.stringify(res.body));
    return (res.body[root] as { id: number }).id;
  };
  return {
    primary,
    standby,
    server,
    company_id,
    send,
    create,
    close: async () => {
      await Promise.all(running.map((program) => program.end('SIGTERM')));
      for (const host of [primary, standby]) await host.database.stop().catch(() => undefined);
    },
  };
}

export type Pair = Awaited<ReturnType<typeof startPair>>;

/** Sends requests of each kind one after the other, until it is stopped. */
export function startLoad(
  kinds: Record<string, (n: number) => Promise<Answer>>,
  clientsOfEach = 2,
) {
  const answers: LoadAnswer[] = [];
  let isRunning = true;
  let n = 0;
  const client = async (kind: string) => {
    while (isRunning) {
      const answered = await kinds[kind]!(n++);
      answers.push({ ...answered, kind });
      // A client that waits for the time of Retry-After would see little of the failover.
      if (answered.status >= 500) await new Promise((done) => setTimeout(done, 50));
    }
  };
  const clients = Object.keys(kinds).flatMap((kind) =>
    Array.from({ length: clientsOfEach }, () => client(kind)),
  );
  return {
    answers,
    /** How many requests of each kind have succeeded. */
    counts: () =>
      Object.fromEntries(
        Object.keys(kinds).map((kind) => [
          kind,
          answers.filter((answer) => answer.kind === kind && answer.status < 300).length,
        ]),
      ),
    of: (kind: string) => answers.filter((answer) => answer.kind === kind),
    stop: async () => {
      isRunning = false;
      await Promise.all(clients);
    },
  };
}
