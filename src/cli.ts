import { existsSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { Client } from 'pg';
import { ConfigError, loadConfig, type Config } from './config';
import { contract } from './contract';
import { pendingMigrations } from './db/migrate';
import { startEmbedded, type EmbeddedDatabase } from './db/embedded';
import { createDemo } from './demo';
import { openInstallation, type Installation } from './installation';
import { createCompany, type NewCompany } from './workflows/create-company';
import { issueCredentials, revokeCredentials } from './workflows/issue-credentials';

const SCOPES = contract.document.components.schemas.Scope!.enum as string[];
const program = new Command('trunkline').description("The operator's commands. With --json each prints one JSON document.").showHelpAfterError();

/** Runs an operator's command on the installation and prints what it answers: for people, or as JSON. */
async function run(json: boolean, work: (installation: Installation) => Promise<object>): Promise<void> {
  const config = loadConfig();
  const installation = await openInstallation({ ...config, log_level: 'silent' }, 'command');
  try {
    print(await work(installation), json);
  } finally {
    await installation.close();
  }
}

function print(result: object, json: boolean): void {
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : lines(result));
}

function lines(result: object): string {
  if (Array.isArray(result)) return result.length === 0 ? 'none\n' : result.map((row: object) => lines(row)).join('\n');
  return Object.entries(result)
    .map(([key, value]) => `${key.padEnd(14)} ${Array.isArray(value) ? value.join(', ') : String(value)}\n`)
    .join('');
}

const shown = ({ company_id, credentials: { public_key, private_key } }: NewCompany) => ({ company_id: Number(company_id), public_key, private_key });

const json = () => new Option('--json', 'print JSON').default(false);

program
  .command('migrate')
  .description('bring the database up to this version')
  .addOption(json())
  .action((options) => run(options.json, async ({ migrated }) => ({ applied: migrated })));

program
  .command('seed')
  .description('make another demo company with a small believable world')
  .option('--name <name>', 'name of the company', 'Demo Company')
  .addOption(json())
  .action((options) => run(options.json, async ({ deps }) => shown(await createDemo(deps, options.name))));

const company = program.command('company').description('companies');
company
  .command('create')
  .description('make a company and its first key pair, which may do everything')
  .requiredOption('--name <name>', 'name of the company')
  .addOption(json())
  .action((options) => run(options.json, async ({ deps }) => shown(await createCompany(options.name, deps))));

const token = program.command('token').description('credentials: key pairs of a company, tokens of its users');
token
  .command('create')
  .description('make credentials; the secret is shown this once')
  .requiredOption('--name <name>', 'what the credentials are for')
  .option('--company <id>', 'company; may be left out where there is only one', wholeNumber)
  .option('--user-email <email>', "makes a user's token instead of a key pair")
  .addOption(new Option('--permission <scope...>', 'what they may do').choices(SCOPES))
  .option('--superuser', 'they may do everything', false)
  .option('--expires-at <time>', 'ISO 8601 time from which on they are refused')
  .addOption(json())
  .action((options) => {
    const expires_at = options.expiresAt === undefined ? null : new Date(options.expiresAt);
    if (expires_at && Number.isNaN(expires_at.getTime())) program.error(`--expires-at must be an ISO 8601 time, such as 2027-01-31T00:00:00Z`);
    return run(options.json, async ({ deps }) => {
      const company_id = await companyOf(deps.database.pool, options.company);
      const kind = options.userEmail ? ('user_token' as const) : ('key_pair' as const);
      const wanted = {
        name: options.name,
        kind,
        permissions: options.permission ?? [],
        superuser: options.superuser,
        user_email: options.userEmail,
        expires_at,
      };
      const { id, ...issued } = await deps.tenants.of(company_id).transaction((db) => issueCredentials(db, wanted, { pepper: deps.pepper, now: deps.clock() }));
      return { company_id: Number(company_id), id: Number(id), ...issued };
    });
  });

token
  .command('list')
  .description('list the credentials of a company, or of all')
  .option('--company <id>', 'company', wholeNumber)
  .addOption(json())
  .action((options) =>
    run(options.json, async ({ deps }) => {
      const { rows } = await deps.database.pool.query(
        `SELECT a.company_id::int, a.id::int, a.kind, a.name, a.public_key, a.superuser, a.permissions, a.expires_at, u.email AS user_email
         FROM access_tokens a LEFT JOIN users u ON u.company_id = a.company_id AND u.id = a.user_id
         WHERE a.deleted_at IS NULL AND ($1::bigint IS NULL OR a.company_id = $1) ORDER BY a.company_id, a.id`,
        [options.company ?? null],
      );
      return rows;
    }),
  );

token
  .command('revoke')
  .description('revoke credentials at once')
  .argument('<public_key>', 'the public key, or the first part of a user token')
  .addOption(json())
  .action((public_key, options) =>
    run(options.json, async ({ deps }) => {
      const { rows } = await deps.database.pool.query('SELECT company_id, access_token_id FROM credential_lookups WHERE public_key = $1', [public_key]);
      if (!rows[0]) throw new Error(`No credentials are called ${public_key}.`);
      const revoked = await deps.tenants
        .of(BigInt(rows[0].company_id))
        .transaction((db) => revokeCredentials(db, BigInt(rows[0].access_token_id), deps.clock()));
      if (!revoked) throw new Error(`${public_key} is revoked already.`);
      return { revoked: public_key };
    }),
  );

program
  .command('doctor')
  .description('look for what is wrong, and say how to mend it')
  .addOption(json())
  .action(async (options) => {
    const findings = await examine();
    if (options.json) print(findings, true);
    else
      process.stdout.write(
        findings
          .map(({ check, ok, finding, remedy }) => `${ok ? 'ok   ' : 'WRONG'} ${check.padEnd(14)} ${finding}${remedy ? `\n      ${remedy}` : ''}\n`)
          .join(''),
      );
    process.exitCode = findings.every(({ ok }) => ok) ? 0 : 1;
  });

interface Finding {
  check: string;
  ok: boolean;
  finding: string;
  remedy?: string;
}

async function examine(): Promise<Finding[]> {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((finding) => ({ check: 'configuration', ok: false, finding, remedy: 'Set it as .env.example explains.' }));
  }
  return [{ check: 'configuration', ok: true, finding: 'every variable is usable' }, disk(config), await ports(config), ...(await databases(config))];
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
    server.once('error', () => done(true)).listen(port, host, () => server.close(() => done(false)));
  });
  if (!taken) return { check: 'port', ok: true, finding: `${host}:${port} is free` };
  const ours = await fetch(`http://${host}:${port}/livez`).then((res) => res.ok, () => false); // prettier-ignore
  if (ours) return { check: 'port', ok: true, finding: `${host}:${port} is served, and alive` };
  return { check: 'port', ok: false, finding: `${host}:${port} is taken by another program`, remedy: 'Stop that program, or set PORT to another.' };
}

async function databases(config: Config): Promise<Finding[]> {
  let embedded: EmbeddedDatabase | undefined;
  let client: Client | undefined;
  try {
    embedded = config.database_url ? undefined : await startEmbedded({ dataDir: config.data_dir });
    client = new Client({ connectionString: config.database_url ?? embedded!.url, connectionTimeoutMillis: 3_000 });
    await client.connect();
    const { rows } = await client.query("SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name");
    const [{ version, name }] = rows;
    const pending = await pendingMigrations(client);
    const { rows: available } = await client.query("SELECT count(*)::int AS n FROM pg_available_extensions WHERE name IN ('pg_trgm', 'btree_gin')");
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
        ...(available[0].n < 2 && { remedy: "Install PostgreSQL's contrib package on the database server." }),
      },
      {
        check: 'migrations',
        ok: pending.length === 0,
        finding: pending.length === 0 ? 'all applied' : `pending: ${pending.join(', ')}`,
        ...(pending.length > 0 && { remedy: 'Run: npm run --silent cli -- migrate (a start does it too)' }),
      },
    ];
  } catch (error) {
    const finding = (error as Error).message || (error as { code?: string }).code || 'cannot be reached';
    return [
      {
        check: 'database',
        ok: false,
        finding,
        remedy: config.database_url ? 'Check DATABASE_URL: host, port, user, password, and that PostgreSQL is up.' : 'See .data/postgres/postgres.log.',
      },
    ];
  } finally {
    await client?.end().catch(() => undefined);
    await embedded?.stop();
  }
}

async function companyOf(pool: Installation['deps']['database']['pool'], id: number | undefined): Promise<bigint> {
  const { rows } = await pool.query('SELECT id FROM companies WHERE $1::bigint IS NULL OR id = $1 ORDER BY id LIMIT 2', [id ?? null]);
  if (rows.length === 0) throw new Error(id === undefined ? 'There is no company yet: company create --name NAME' : `There is no company ${id}.`);
  if (rows.length > 1) throw new Error('There are several companies: say which with --company ID.');
  return BigInt(rows[0].id);
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) program.error(`must be the number of a company, not "${text}"`);
  return Number(text);
}

program.parseAsync().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
