import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Database } from '../../data/client';
import { contract } from '../../platform/contract/contract';
import { collectFromParts } from '../../operate/installation/all-parts';
import type { Installation } from '../../operate/installation/open';
import {
  issueCredentials,
  revokeCredentials,
  rotateCredentials,
} from '../../domain/people/issue-credentials';
import { parseCompanyId, requireCompany, json, run } from './command';

const SCOPES = contract.document.components.schemas.Scope!.enum as string[];

export function addTokenCommands(program: Command): void {
  const key = program
    .command('key')
    .alias('token')
    .description('credentials: key pairs of a company, tokens of its users');
  key
    .command('create')
    .description('make credentials; the secret is shown only this once')
    .requiredOption('--name <name>', 'what the credentials are for')
    .option('--company <id>', 'company; not needed where there is only one', parseCompanyId)
    .option('--user-email <email>', "makes a user's token instead of a key pair")
    .addOption(new Option('--permission <scope...>', 'what they may do').choices(SCOPES))
    .option('--superuser', 'they may do everything', false)
    .option('--expires-at <time>', 'ISO 8601 time from which they are refused', time)
    .addOption(json())
    .action((options) => run(options.json, (installation) => create(installation, options)));
  key
    .command('list')
    .description('list the credentials of a company, or of all companies')
    .option('--company <id>', 'company', parseCompanyId)
    .addOption(json())
    .action((options) =>
      run(options.json, ({ deps }) =>
        collectFromParts(deps, (database) => listCredentials(database, options.company)),
      ),
    );
  key
    .command('rotate')
    .description('make credentials that may do the same, and let the old ones expire')
    .argument('<public_key>', 'the public key, or the first part of a user token')
    .option('--keep-hours <hours>', 'how long the old ones still work', hours, 24)
    .addOption(json())
    .action((publicKey, options) =>
      run(options.json, (installation) => rotate(installation, publicKey, options.keepHours)),
    );
  key
    .command('revoke')
    .description('revoke credentials at once')
    .argument('<public_key>', 'the public key, or the first part of a user token')
    .addOption(json())
    .action((publicKey, options) =>
      run(options.json, (installation) => revoke(installation, publicKey)),
    );
}

interface CreateOptions {
  name: string;
  company?: number;
  userEmail?: string;
  permission?: string[];
  superuser: boolean;
  expiresAt?: Date;
}

async function create(installation: Installation, options: CreateOptions): Promise<object> {
  const { deps } = installation;
  const companyId = await requireCompany(installation, options.company);
  const newCredentials = {
    name: options.name,
    kind: options.userEmail ? ('user_token' as const) : ('key_pair' as const),
    permissions: options.permission ?? [],
    superuser: options.superuser,
    user_email: options.userEmail,
    expires_at: options.expiresAt ?? null,
  };
  const { id, ...issued } = await deps.tenants
    .of(companyId)
    .transaction((db) =>
      issueCredentials(db, newCredentials, { pepper: deps.pepper, now: deps.clock() }),
    );
  return { company_id: Number(companyId), id: Number(id), ...issued };
}

async function listCredentials({ prisma }: Database, companyId?: number): Promise<object[]> {
  const credentials = await prisma.accessToken.findMany({
    where: { deleted_at: null, ...(companyId !== undefined && { company_id: companyId }) },
    orderBy: [{ company_id: 'asc' }, { id: 'asc' }],
    select: {
      company_id: true,
      id: true,
      kind: true,
      name: true,
      public_key: true,
      superuser: true,
      permissions: true,
      expires_at: true,
      user: { select: { email: true } },
    },
  });
  return credentials.map(({ user, ...columns }) => ({
    ...columns,
    company_id: Number(columns.company_id),
    id: Number(columns.id),
    user_email: user?.email ?? null,
  }));
}

async function rotate(
  { deps }: Installation,
  publicKey: string,
  keepHours: number,
): Promise<object> {
  const oldCredentials = await find(deps, publicKey);
  const now = deps.clock();
  const oldExpiresAt = new Date(now.getTime() + keepHours * HOUR_MS);
  const newCredentials = await deps.tenants.of(oldCredentials.company_id).transaction((db) =>
    rotateCredentials(db, oldCredentials.id, {
      pepper: deps.pepper,
      now,
      old_expires_at: oldExpiresAt,
    }),
  );
  if (!newCredentials)
    throw new Error(`${publicKey} is revoked, has expired, or is a session: make new credentials.`);
  const { id, ...issued } = newCredentials;
  return {
    company_id: Number(oldCredentials.company_id),
    id: Number(id),
    ...issued,
    replaces: publicKey,
  };
}

async function revoke({ deps }: Installation, publicKey: string): Promise<object> {
  const credentials = await find(deps, publicKey);
  const revoked = await deps.tenants
    .of(credentials.company_id)
    .transaction((db) => revokeCredentials(db, credentials.id, deps.clock()));
  if (!revoked) throw new Error(`${publicKey} is already revoked.`);
  return { revoked: publicKey };
}

async function find(
  deps: Installation['deps'],
  publicKey: string,
): Promise<{ company_id: bigint; id: bigint }> {
  const [lookup] = await collectFromParts(deps, ({ prisma }) =>
    prisma.credentialLookup.findMany({ where: { public_key: publicKey } }),
  );
  if (!lookup) throw new Error(`There are no credentials ${publicKey}.`);
  return { company_id: lookup.company_id, id: lookup.access_token_id };
}

const HOUR_MS = 3_600_000;
const MAX_HOURS = 24 * 366;

function hours(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > MAX_HOURS)
    throw new InvalidArgumentError(`must be a whole number from 0 to ${MAX_HOURS}`);
  return number;
}

function time(text: string): Date {
  const parsed = new Date(text);
  if (Number.isNaN(parsed.getTime()))
    throw new InvalidArgumentError('must be an ISO 8601 time, such as 2027-01-31T00:00:00Z');
  return parsed;
}
