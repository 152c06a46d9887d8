import { buildEnvironment } from './job-process';
import { startServer, type Running } from './process';
import { useWorld } from './use-world';

/** Application name of the connections of these processes. */
export const APPLICATION = 'one of two servers';

/**
 * Two server processes of one database: registers the hooks of a test file. `environment` is added
 * to that of the processes.
 */
export function twoServers(environment: Record<string, string> = {}) {
  const world = useWorld();
  let servers: Running[];
  const settings = { RUN_JOBS: 'false', PGAPPNAME: APPLICATION, ...environment };
  const start = () => startServer({ ...buildEnvironment(world), ...settings });
  beforeAll(async () => {
    servers = await Promise.all([start(), start()]);
    world.closeLater(() => Promise.all(servers.map((server) => server.end('SIGTERM'))));
  });
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
    world,
    /** Creates a record through this process and returns its id. */
    create: world.create,
    send,
    kill: (server: number) => servers[server]!.end('SIGKILL'),
    restart: async (server: number) => void (servers[server] = await start()),
  };
}
