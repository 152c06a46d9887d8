import { Router } from 'express';
import type { Sql } from '../db/sql';
import { unavailable } from './database-errors';
import { CHECK_DATABASE } from './queries/health';

/** /livez: the process runs. /readyz: it reaches its database. */
export function healthChecks(sql: Sql): Router {
  const router = Router({ caseSensitive: true });
  router.get('/livez', (_req, res) => void res.type('text/plain').send('ok\n'));
  router.get('/readyz', async (_req, res) => {
    await sql(CHECK_DATABASE, {}).catch(() => {
      throw unavailable();
    });
    res.type('text/plain').send('ok\n');
  });
  return router;
}
