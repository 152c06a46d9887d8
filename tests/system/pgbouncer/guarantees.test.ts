import { createRequire } from 'node:module';
import { missingPgBouncer, startPgBouncer, type PgBouncer } from '../../support/pgbouncer';
import { repetitions } from '../../support/repetitions';
import { reachDatabases } from '../../support/world';

// The guarantees of other test files hold through a PgBouncer in transaction mode. It has fewer
// sessions than a process has connections, so that sessions pass from one to another.

const SUITES = [
  'journeys/wire/credentials',
  'domain/agents/streams',
  'domain/agents/agent-messages',
  'domain/buyers/buyers',
  'domain/calls/calls-at-once',
  'domain/calls/convert-call',
  'system/races/event-races',
  'domain/calls/event-writes',
  'system/races/exact-caps',
  'system/races/two-processes',
  'data/batcher',
  'data/saved-counts',
  'data/transaction',
  'data/write',
  'api/idempotency',
  'api/isolation',
  'api/rate-limits',
  'operate/installation/remove-demo',
  'domain/leads/batched-submissions',
  'domain/leads/capture-lead',
  'domain/leads/leads',
  'domain/offers/offers',
  'domain/outreach/due-leads',
  'domain/outreach/races',
  'domain/people/access-control-lists',
  'domain/people/company',
  'domain/people/users',
  'domain/ping-post/ping',
  'domain/ping-post/post',
  'domain/routing/candidates',
  'domain/routing/pre-dial',
  'domain/suppression/change-file',
  'domain/suppression/files',
  'domain/suppression/import-file',
  'domain/suppression/lists',
  'system/crash/imports',
  'domain/webhooks/deliver',
  'domain/webhooks/outgoing-webhooks',
  'journeys/wire/http',
  'journeys/wire/lists',
];
const SESSIONS = '4';
const load = createRequire(__filename);

const missing = missingPgBouncer();
let pgbouncer: PgBouncer;

if (missing) test.skip(`guarantees through PgBouncer: ${missing}`, () => undefined);
else {
  beforeAll(async () => {
    pgbouncer = await startPgBouncer({ default_pool_size: SESSIONS });
    reachDatabases((url, environment) => pgbouncer.serve(url, environment));
  });
  afterAll(() => pgbouncer.stop());

  const only = process.env.PGBOUNCER_SUITES?.split(',');
  for (const suite of only ?? SUITES.slice(0, repetitions(1, SUITES.length)))
    describe(suite, () => void load(`../../${suite}.test`));
}
