import { createServer } from 'node:http';
import { createApp } from '../../src/main/app';
import { loadConfig } from '../../src/main/config';
import { createDeps } from '../../src/operate/installation/deps';
import { createHandlers } from '../../src/main/handlers';
import type { ChangeLog } from '../../src/api/records/change-log';
import { PEPPER } from './world';

// The service with or without its change log; the difference is the cost of the log.

const { BENCH_URL, BENCH_PORT, BENCH_LOG } = process.env;
const deps = createDeps({
  config: loadConfig({ KEY_PEPPER: PEPPER, LOG_LEVEL: 'silent', RATE_LIMIT_PER_MINUTE: '0' }),
  database_url: BENCH_URL!,
});
const none: ChangeLog = {
  runLogged: async (db, _write, handle, direct) => (await direct?.(undefined)) ?? handle(db),
};
createServer(
  createApp(deps, createHandlers(deps), BENCH_LOG === 'yes' ? {} : { changes: none }),
).listen(Number(BENCH_PORT), '127.0.0.1');
