import { Router } from 'express';
import type { Sql } from '../db/sql';
import { unavailable } from './database-errors';
import { CHECK_DATABASE } from './queries/health';

/**
 * /livez: the process runs. /readyz: it reaches its database; what the background cannot do is named
 * after that, and is no reason to send requests elsewhere.
 */
export function healthChecks(sql: Sql, listFaults: () => Promise<string[]>): Router {
  const router = Router({ caseSensitive: true });
  router.get('/livez', (_req, res) => void res.type('text/plain').send('ok\n'));
  router.get('/readyz', async (_req, res) => {
    await sql(CHECK_DATABASE, {}).catch(() => {
      throw unavailable();
    });
    const faults = await listFaults().catch(() => []);
    res
      .type('text/plain')
      .send(['ok', ...faults.map((each) => `degraded: ${each}`), ''].join('\n'));
  });
  return router;
}
