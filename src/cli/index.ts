import { Command, Option } from 'commander';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { numberFacts } from '../carriers/number-facts';
import { loadConfig } from '../config';
import { contract } from '../contract';
import { createDemo } from '../installation/demo';
import { examine } from './doctor';
import { importFile } from './import';
import { openInstallation, type Installation } from '../installation/open';
import { addNumber } from '../numbers/add-number';
import { createCompany, type NewCompany } from '../installation/create-company';
import { progressOnTerminal } from './progress';
import { issueCredentials, revokeCredentials } from '../people/issue-credentials';

const DAY_MS = 86_400_000;
const SCOPES = contract.document.components.schemas.Scope!.enum as string[];
const program = new Command('trunkline')
  .description("The operator's commands. With --json each prints one JSON document.")
  .showHelpAfterError();

/** Runs an operator's command on the installation and prints what it answers: for people, or as JSON. */
async function run(
  json: boolean,
  work: (installation: Installation) => Promise<object>,
): Promise<void> {
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
  if (Array.isArray(result))
    return result.length === 0 ? 'none\n' : result.map((row: object) => lines(row)).join('\n');
  return Object.entries(result)
    .map(
      ([key, value]) =>
        `${key.padEnd(14)} ${Array.isArray(value) ? value.join(', ') : String(value)}\n`,
    )
    .join('');
}

const shown = ({ company_id, credentials: { public_key, private_key } }: NewCompany) => ({
  company_id: Number(company_id),
  public_key,
  private_key,
});

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
  .action((options) =>
    run(options.json, async ({ deps }) => shown(await createDemo(deps, options.name))),
  );

const company = program.command('company').description('companies');
company
  .command('create')
  .description('make a company and its first key pair, which may do everything')
  .requiredOption('--name <name>', 'name of the company')
  .option(
    '--country <country>',
    'two letters: telephone numbers without country code are read as numbers of this country',
    country,
    'US',
  )
  .addOption(json())
  .action((options) =>
    run(options.json, async ({ deps }) =>
      shown(await createCompany(options.name, deps, { country: options.country })),
    ),
  );

const token = program
  .command('token')
  .description('credentials: key pairs of a company, tokens of its users');
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
    if (expires_at && Number.isNaN(expires_at.getTime()))
      program.error(`--expires-at must be an ISO 8601 time, such as 2027-01-31T00:00:00Z`);
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
      const { id, ...issued } = await deps.tenants
        .of(company_id)
        .transaction((db) =>
          issueCredentials(db, wanted, { pepper: deps.pepper, now: deps.clock() }),
        );
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
      const { rows } = await deps.database.pool.query(
        'SELECT company_id, access_token_id FROM credential_lookups WHERE public_key = $1',
        [public_key],
      );
      if (!rows[0]) throw new Error(`No credentials are called ${public_key}.`);
      const revoked = await deps.tenants
        .of(BigInt(rows[0].company_id))
        .transaction((db) => revokeCredentials(db, BigInt(rows[0].access_token_id), deps.clock()));
      if (!revoked) throw new Error(`${public_key} is revoked already.`);
      return { revoked: public_key };
    }),
  );

program
  .command('number')
  .description('numbers of a company: leads are called and texted from them')
  .command('add')
  .description(
    "make a number that the carrier has sold already the company's own; what comes in for it is sent to /api/v1/telephony",
  )
  .argument('<phone_number>', '+ and digits')
  .option('--company <id>', 'company; may be left out where there is only one', wholeNumber)
  .addOption(json())
  .action((phone_number, options) => {
    const parsed = parsePhoneNumberFromString(phone_number);
    if (!parsed?.isPossible())
      return program.error(
        `must be a telephone number such as +12135550123, not "${phone_number}"`,
      );
    return run(options.json, async ({ deps }) => {
      const db = deps.tenants.of(await companyOf(deps.database.pool, options.company));
      const facts = {
        phone_number: parsed.number,
        country: parsed.country ?? 'US',
        toll_free: parsed.getType() === 'TOLL_FREE',
      };
      const number = {
        ...facts,
        ...numberFacts(parsed.number),
        carrier: deps.carrier.name,
        carrier_number_id: null,
      };
      const id = await db.transaction((tx) => addNumber(tx, number, deps.clock()));
      return {
        company_id: Number(db.company_id),
        id: Number(id),
        phone_number: number.phone_number,
      };
    });
  });

program
  .command('import')
  .description('put the numbers of a CSV file on a suppression list, through the running service')
  .argument('<list_id>', 'number or uuid of the suppression list')
  .argument('<file>', 'the CSV file, plain or gzip')
  .option('--unblock', 'take the numbers off the list instead', false)
  .option(
    '--column <name>',
    'column that holds the numbers; may be left out where only one looks like it',
  )
  .option('--url <url>', 'where the service listens, if not here')
  .option(
    '--key <public:private>',
    'a key pair to use; without it, one is made for the import and revoked after it',
  )
  .addOption(json())
  .action(async (list, file, options) => {
    const { port } = loadConfig();
    const wanted = {
      url: (options.url ?? `http://127.0.0.1:${port}`).replace(/\/+$/, ''),
      list,
      file,
      apply_block_or_unblock: options.unblock ? ('unblock' as const) : ('block' as const),
      caller_id_column_name: options.column,
      progress: progressOnTerminal(process.stderr),
    };
    const work = (key: string) =>
      importFile({ ...wanted, authorization: `Basic ${Buffer.from(key).toString('base64')}` });
    const imported = options.key ? await work(options.key) : await withKeyFor(list, work);
    const {
      id,
      status,
      total_count,
      import_count,
      rejected_count,
      added_count,
      removed_count,
      error_message,
    } = imported;
    print(
      {
        id,
        status,
        total_count,
        import_count,
        rejected_count,
        added_count,
        removed_count,
        ...(error_message && { error_message }),
      },
      options.json,
    );
    process.exitCode = status === 'succeeded' ? 0 : 1;
  });

/** Runs the work with a key pair that may do imports for the company of a list, and is revoked after it. */
async function withKeyFor<T>(list: string, work: (key: string) => Promise<T>): Promise<T> {
  const installation = await openInstallation({ ...loadConfig(), log_level: 'silent' }, 'command');
  const { tenants, database, pepper, clock } = installation.deps;
  try {
    const { rows } = await database.pool.query(
      'SELECT company_id FROM buyer_suppressions WHERE $1 IN (id::text, uuid::text) AND deleted_at IS NULL',
      [list],
    );
    if (!rows[0]) throw new Error(`There is no suppression list ${list}.`);
    const db = tenants.of(BigInt(rows[0].company_id));
    const permissions = ['buyer_suppression_files:create', 'buyer_suppression_files:read'];
    const expires_at = new Date(clock().getTime() + DAY_MS);
    const wanted = {
      name: `Import into list ${list}`,
      kind: 'key_pair' as const,
      permissions,
      superuser: false,
      expires_at,
    };
    const { id, public_key, private_key } = await db.transaction((tx) =>
      issueCredentials(tx, wanted, { pepper, now: clock() }),
    );
    // Ctrl-C under npm arrives twice: the second must not end the process before the key is revoked.
    const stopped = new Promise<never>((_, fail) => {
      process.on('SIGINT', () =>
        fail(new Error('Stopped looking; what was uploaded is imported all the same.')),
      );
    });
    return await Promise.race([work(`${public_key}:${private_key}`), stopped]).finally(() =>
      db.transaction((tx) => revokeCredentials(tx, id, clock())),
    );
  } finally {
    await installation.close();
  }
}

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
          .map(
            ({ check, ok, finding, remedy }) =>
              `${ok ? 'ok   ' : 'WRONG'} ${check.padEnd(14)} ${finding}${remedy ? `\n      ${remedy}` : ''}\n`,
          )
          .join(''),
      );
    process.exitCode = findings.every(({ ok }) => ok) ? 0 : 1;
  });

async function companyOf(
  pool: Installation['deps']['database']['pool'],
  id: number | undefined,
): Promise<bigint> {
  const { rows } = await pool.query(
    'SELECT id FROM companies WHERE $1::bigint IS NULL OR id = $1 ORDER BY id LIMIT 2',
    [id ?? null],
  );
  if (rows.length === 0)
    throw new Error(
      id === undefined
        ? 'There is no company yet: company create --name NAME'
        : `There is no company ${id}.`,
    );
  if (rows.length > 1) throw new Error('There are several companies: say which with --company ID.');
  return BigInt(rows[0].id);
}

function country(text: string): string {
  if (!/^[A-Za-z]{2}$/.test(text))
    program.error(`must be the two letters of a country, such as US, not "${text}"`);
  return text.toUpperCase();
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    program.error(`must be the number of a company, not "${text}"`);
  return Number(text);
}

program.parseAsync().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
