import { startServer, type Running } from './process';
import { createWorld, type World } from './world';

/** Application name of the connections of these processes. */
export const APPLICATION = 'one of two servers';

/**
 * Two server processes of one database: registers the hooks of a test file. `environment` is added
 * to that of the processes.
 */
export function twoServers(environment: Record<string, string> = {}) {
  let world: World;
  let servers: Running[];
  const start = () => {
    const { storage_dir, data_dir } = world.deps.config;
    return startServer({
      ...world.database,
      DATA_DIR: data_dir,
      STORAGE_DIR: storage_dir,
      LOG_LEVEL: 'silent',
      RUN_JOBS: 'false',
      PGAPPNAME: APPLICATION,
      KEY_PEPPER: 'a pepper for tests, long enough to be one',
      ...environment,
    });
  };
  beforeAll(async () => {
    world = await createWorld();
    servers = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.end('SIGTERM')));
    await world.close();
  });
  /** Creates a record through this process and returns its id. */
  const create = async (path: string, body: Record<string, unknown>) => {
    const res = await world.company.api('post', path, { body });
    if (res.status !== 201) throw new Error(res.text);
    return res.body[res.body.metadata.root].id as number;
  };
  const send = (
    server: number,
    method: string,
    path: string,
    body: Record<string, unknown>,
    headers: Record<string, string> = {},
  ) =>
    fetch(`${servers[server]!.url}/api/v1/${path}`, {
      method,
      headers: {
        ...headers,
        Authorization: `Basic ${Buffer.from(world.company.auth).toString('base64')}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(body),
    });
  return {
    get world() {
      return world;
    },
    create,
    send,
    kill: (server: number) => servers[server]!.end('SIGKILL'),
    restart: async (server: number) => void (servers[server] = await start()),
  };
}
