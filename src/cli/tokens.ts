import { InvalidArgumentError, Option, type Command } from 'commander';
import { contract } from '../contract';
import { fromAllParts } from '../installation/all-parts';
import type { Installation } from '../installation/open';
import {
  issueCredentials,
  revokeCredentials,
  rotateCredentials,
} from '../people/issue-credentials';
import { companyId, companyOf, json, run } from './command';
import { FIND_CREDENTIALS, LIST_CREDENTIALS } from './queries/operator';

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
    .option('--company <id>', 'company; not needed where there is only one', companyId)
    .option('--user-email <email>', "makes a user's token instead of a key pair")
    .addOption(new Option('--permission <scope...>', 'what they may do').choices(SCOPES))
    .option('--superuser', 'they may do everything', false)
    .option('--expires-at <time>', 'ISO 8601 time from which they are refused', time)
    .addOption(json())
    .action((options) => run(options.json, (installation) => create(installation, options)));
  key
    .command('list')
    .description('list the credentials of a company, or of all companies')
    .option('--company <id>', 'company', companyId)
    .addOption(json())
    .action((options) =>
      run(options.json, ({ deps }) =>
        fromAllParts(deps, ({ sql }) =>
          sql(LIST_CREDENTIALS, { company_id: options.company ?? null }),
        ),
      ),
    );
  key
    .command('rotate')
    .description('make credentials that may do the same, and let the old ones expire')
    .argument('<public_key>', 'the public key, or the first part of a user token')
    .option('--keep-hours <hours>', 'how long the old ones still work', hours, 24)
    .addOption(json())
    .action((public_key, options) =>
      run(options.json, (installation) => rotate(installation, public_key, options.keepHours)),
    );
  key
    .command('revoke')
    .description('revoke credentials at once')
    .argument('<public_key>', 'the public key, or the first part of a user token')
    .addOption(json())
    .action((public_key, options) =>
      run(options.json, (installation) => revoke(installation, public_key)),
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
  const company_id = await companyOf(installation, options.company);
  const wanted = {
    name: options.name,
    kind: options.userEmail ? ('user_token' as const) : ('key_pair' as const),
    permissions: options.permission ?? [],
    superuser: options.superuser,
    user_email: options.userEmail,
    expires_at: options.expiresAt ?? null,
  };
  const { id, ...issued } = await deps.tenants
    .of(company_id)
    .transaction((db) => issueCredentials(db, wanted, { pepper: deps.pepper, now: deps.clock() }));
  return { company_id: Number(company_id), id: Number(id), ...issued };
}

async function rotate(
  { deps }: Installation,
  public_key: string,
  keep_hours: number,
): Promise<object> {
  const found = await find(deps, public_key);
  const now = deps.clock();
  const old_expires_at = new Date(now.getTime() + keep_hours * HOUR_MS);
  const made = await deps.tenants
    .of(found.company_id)
    .transaction((db) =>
      rotateCredentials(db, found.id, { pepper: deps.pepper, now, old_expires_at }),
    );
  if (!made) throw new Error(`${public_key} is revoked or has expired: make new credentials.`);
  const { id, ...issued } = made;
  return { company_id: Number(found.company_id), id: Number(id), ...issued, replaces: public_key };
}

async function revoke({ deps }: Installation, public_key: string): Promise<object> {
  const found = await find(deps, public_key);
  const revoked = await deps.tenants
    .of(found.company_id)
    .transaction((db) => revokeCredentials(db, found.id, deps.clock()));
  if (!revoked) throw new Error(`${public_key} is already revoked.`);
  return { revoked: public_key };
}

async function find(
  deps: Installation['deps'],
  public_key: string,
): Promise<{ company_id: bigint; id: bigint }> {
  const [found] = await fromAllParts(deps, ({ sql }) => sql(FIND_CREDENTIALS, { public_key }));
  if (!found) throw new Error(`There are no credentials ${public_key}.`);
  return { company_id: BigInt(found.company_id), id: BigInt(found.access_token_id) };
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
