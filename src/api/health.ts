import { Router } from 'express';
import type { Sql } from '../data/sql';
import { recentCheck } from '../platform/recent-check';
import { diskFull, isDiskFull, unavailable } from './reply/database-errors';
import { CHECK_WRITES } from './queries/health';

/** The endpoint is public: it queries the database at most once in this time. */
const CHECK_EVERY_MS = 1_000;

/**
 * /livez: the process runs. /readyz: it reaches its database, and can write there. Faults of the
 * background are listed after that, and are no reason to send requests elsewhere.
 */
export function healthChecks(sql: Sql, listFaults: () => Promise<string[]>): Router {
  const router = Router({ caseSensitive: true });
  const checkWrites = recentCheck(CHECK_EVERY_MS, () => sql(CHECK_WRITES, {}));
  router.get('/livez', (_req, res) => void res.type('text/plain').send('ok\n'));
  router.get('/readyz', async (_req, res) => {
    await checkWrites().catch((error: unknown) => {
      throw isDiskFull(error) ? diskFull() : unavailable(error);
    });
    const faults = await listFaults().catch(() => []);
    res
      .type('text/plain')
      .send(['ok', ...faults.map((fault) => `degraded: ${fault}`), ''].join('\n'));
  });
  return router;
}
