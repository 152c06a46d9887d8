import { existsSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { Client } from 'pg';
import { ConfigError, loadConfig, type Config } from '../config';
import { pendingMigrations, PreReleaseDatabase } from '../db/migrate';
import { startEmbedded, type EmbeddedDatabase } from '../db/embedded-postgres';

/** What an examination found, and how to mend it. */
export interface Finding {
  check: string;
  ok: boolean;
  finding: string;
  remedy?: string;
}

/** Looks at configuration, disk, port, database, extensions, migrations and purchases of numbers. */
export async function examine(): Promise<Finding[]> {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((finding) => ({
      check: 'configuration',
      ok: false,
      finding,
      remedy: 'Set it as .env.example explains.',
    }));
  }
  return [
    { check: 'configuration', ok: true, finding: 'every variable is usable' },
    disk(config),
    await ports(config),
    ...(await databases(config)),
  ];
}

function disk({ data_dir }: Config): Finding {
  let folder = resolve(data_dir);
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  const free_gb = (bavail * bsize) / 1e9;
  return {
    check: 'disk',
    ok: free_gb > 1,
    finding: `${free_gb.toFixed(1)} GB free for ${data_dir}`,
    ...(free_gb <= 1 && { remedy: 'Free some space, or set DATA_DIR to a larger disk.' }),
  };
}

async function ports({ port, host }: Config): Promise<Finding> {
  const taken = await new Promise<boolean>((done) => {
    const server = createServer();
    server
      .once('error', () => done(true))
      .listen(port, host, () => server.close(() => done(false)));
  });
  if (!taken) return { check: 'port', ok: true, finding: `${host}:${port} is free` };
  const ours = await fetch(`http://${host}:${port}/livez`).then(
    (res) => res.ok,
    () => false,
  );
  if (ours) return { check: 'port', ok: true, finding: `${host}:${port} is served, and alive` };
  return {
    check: 'port',
    ok: false,
    finding: `${host}:${port} is taken by another program`,
    remedy: 'Stop that program, or set PORT to another.',
  };
}

/** A number whose purchase was cut short may be paid for and be nobody's, until somebody asks for it again. */
export async function purchases(client: Pick<Client, 'query'>): Promise<Finding> {
  const { rows } = await client.query(
    "SELECT '+' || phone_number || ' (company ' || company_id || ')' AS number FROM number_lookups WHERE number_id IS NULL AND purchase_tried_at < now() - interval '1 minute' ORDER BY purchase_tried_at LIMIT 20",
  );
  const ok = rows.length === 0;
  return {
    check: 'numbers',
    ok,
    finding: ok
      ? 'no purchase was cut short'
      : `purchases cut short: ${rows.map(({ number }) => number).join(', ')}`,
    ...(!ok && {
      remedy:
        'Finish each: POST /api/v1/phone_numbers with its requested_number; DELETE gives it back then.',
    }),
  };
}

async function databases(config: Config): Promise<Finding[]> {
  let embedded: EmbeddedDatabase | undefined;
  let client: Client | undefined;
  try {
    embedded = config.database_url ? undefined : await startEmbedded({ dataDir: config.data_dir });
    client = new Client({
      connectionString: config.database_url ?? embedded!.url,
      connectionTimeoutMillis: 3_000,
    });
    await client.connect();
    const { rows } = await client.query(
      "SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name",
    );
    const [{ version, name }] = rows;
    const pending = await pendingMigrations(client);
    const { rows: available } = await client.query(
      "SELECT count(*)::int AS n FROM pg_available_extensions WHERE name IN ('pg_trgm', 'btree_gin')",
    );
    return [
      {
        check: 'database',
        ok: version >= 150_000,
        finding: `PostgreSQL ${name}${embedded ? ', run by Trunkline' : ''}`,
        ...(version < 150_000 && { remedy: 'Use PostgreSQL 15 or later.' }),
      },
      {
        check: 'extensions',
        ok: available[0].n === 2,
        finding: 'pg_trgm and btree_gin',
        ...(available[0].n < 2 && {
          remedy: "Install PostgreSQL's contrib package on the database server.",
        }),
      },
      {
        check: 'migrations',
        ok: pending.length === 0,
        finding: pending.length === 0 ? 'all applied' : `pending: ${pending.join(', ')}`,
        ...(pending.length > 0 && {
          remedy: 'Run: npm run --silent cli -- migrate (a start does it too)',
        }),
      },
      ...(pending.length === 0 ? [await purchases(client)] : []),
    ];
  } catch (error) {
    if (error instanceof PreReleaseDatabase) {
      return [{ check: 'migrations', ok: false, finding: error.message }];
    }
    const finding =
      (error as Error).message || (error as { code?: string }).code || 'cannot be reached';
    return [
      {
        check: 'database',
        ok: false,
        finding,
        remedy: config.database_url
          ? 'Check DATABASE_URL: host, port, user, password, and that PostgreSQL is up.'
          : 'See .data/postgres/postgres.log.',
      },
    ];
  } finally {
    await client?.end().catch(() => undefined);
    await embedded?.stop();
  }
}
