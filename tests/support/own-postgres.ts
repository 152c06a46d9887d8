import { Client } from 'pg';
import pino from 'pino';
import { withClient } from '../../src/data/postgres/with-client';
import { migrate } from '../../src/data/postgres/migrate';
import { prepareQueue } from '../../src/data/jobs/queue';
import { createCompany } from '../../src/operate/installation/create-company';
import { closeDeps, createDeps } from '../../src/operate/installation/deps';
import { pgCtl, postmasterOptions } from './process';
import { startPrimary } from './standby';
import { buildApp, caller, testConfig } from './world';

/** A service with one company, on a PostgreSQL that no other test uses and that may be stopped. */
export async function startOnOwnPostgres() {
  const { folder, database } = await startPrimary();
  const { url } = database;
  await migrate(url);
  await prepareQueue(url);
  const config = testConfig({ DATABASE_URL: url });
  const deps = createDeps({ config, database_url: url, log: pino({ level: 'silent' }) });
  const { credentials } = await createCompany('Company', deps);
  return {
    deps,
    database: { DATABASE_URL: url },
    api: caller(buildApp(deps), `${credentials.public_key}:${credentials.private_key}`),
    // On a connection of its own: earlier ones break when the database is stopped.
    sql: <Row>(text: string, values: unknown[] = []) =>
      withClient(
        new Client({ connectionString: url }),
        async (client) => (await client.query(text, values)).rows as Row[],
      ),
    /** Stops it without a checkpoint, breaking all connections, and starts it again. */
    restart: () => {
      const options = postmasterOptions(folder);
      pgCtl(folder, 'stop', '-m', 'immediate');
      pgCtl(folder, 'start', '-o', options);
    },
    close: async () => {
      await closeDeps(deps);
      await database.stop();
    },
  };
}
