import { createRequire } from 'node:module';
import { missingPgBouncer, startPgBouncer, type PgBouncer } from '../../support/pgbouncer';
import { repetitions } from '../../support/repetitions';
import { reachDatabases } from '../../support/world';

// The guarantees of other test files hold through a PgBouncer in transaction mode. It has fewer
// sessions than a process has connections, so that sessions pass from one to another.

const SUITES = [
  'wire/credentials',
  'agents/streams',
  'agents/agent-messages',
  'buyers/buyers',
  'calls/calls-at-once',
  'calls/convert-call',
  'calls/event-races',
  'calls/event-writes',
  'calls/exact-caps',
  'calls/two-processes',
  'db/batcher',
  'db/saved-counts',
  'db/transaction',
  'db/write',
  'http/idempotency',
  'http/isolation',
  'http/rate-limits',
  'installation/remove-demo',
  'leads/batched-submissions',
  'leads/capture-lead',
  'leads/leads',
  'offers/offers',
  'outreach/contact-due-leads',
  'outreach/races',
  'people/access-control-lists',
  'people/company',
  'people/users',
  'ping-post/ping',
  'ping-post/post',
  'routing/candidates',
  'routing/pre-dial-webhooks',
  'suppression/change-file',
  'suppression/files',
  'suppression/import-file',
  'suppression/lists',
  'webhooks/deliver',
  'webhooks/outgoing-webhooks',
  'wire/http',
  'wire/lists',
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
    describe(suite, () => void load(`../${suite}.test`));
}
