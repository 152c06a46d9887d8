import type { Command } from 'commander';
import { loadConfig } from '../config';
import { fromAllParts } from '../installation/all-parts';
import { issueCredentials, revokeCredentials } from '../people/issue-credentials';
import { json, print, withInstallation } from './command';
import { importFile } from './import-file';
import { progressOnTerminal } from './progress';
import { COMPANY_OF_LIST } from './queries/operator';

const DAY_MS = 86_400_000;

interface ImportOptions {
  unblock: boolean;
  column?: string;
  url?: string;
  key?: string;
  json: boolean;
}

/** `import`. */
export function addImportCommand(program: Command): void {
  program
    .command('import')
    .description('put the numbers of a CSV file on a suppression list, through the running service')
    .argument('<list_id>', 'id or uuid of the suppression list')
    .argument('<file>', 'the CSV file, plain or gzip')
    .option('--unblock', 'take the numbers off the list instead', false)
    .option('--column <name>', 'column with the numbers; needed where several look like numbers')
    .option('--url <url>', 'where the service listens, if not on this machine')
    .option(
      '--key <public:private>',
      'a key pair to use; without it, one is made for the import and revoked afterwards',
    )
    .addOption(json())
    .action(runImport);
}

async function runImport(list: string, file: string, options: ImportOptions): Promise<void> {
  const { port } = loadConfig();
  const work = (key: string) =>
    importFile({
      url: (options.url ?? `http://127.0.0.1:${port}`).replace(/(?<!\/)\/+$/, ''),
      authorization: `Basic ${Buffer.from(key).toString('base64')}`,
      list,
      file,
      apply_block_or_unblock: options.unblock ? 'unblock' : 'block',
      caller_id_column_name: options.column,
      progress: progressOnTerminal(process.stderr),
    });
  const record = options.key ? await work(options.key) : await withKeyFor(list, work);
  const { id, status, total_count, import_count, rejected_count, error_message } = record;
  const { added_count, removed_count } = record;
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
}

/** Runs the work with a key pair that may import into a list, and revokes it afterwards. */
function withKeyFor<T>(list: string, work: (key: string) => Promise<T>): Promise<T> {
  return withInstallation(async ({ deps }) => {
    const { tenants, pepper, clock } = deps;
    const [found] = await fromAllParts(deps, ({ sql }) => sql(COMPANY_OF_LIST, { list }));
    if (!found) throw new Error(`There is no suppression list ${list}.`);
    const db = tenants.of(BigInt(found.company_id));
    const wanted = {
      name: `Import into list ${list}`,
      kind: 'key_pair' as const,
      permissions: ['buyer_suppression_files:create', 'buyer_suppression_files:read'],
      superuser: false,
      expires_at: new Date(clock().getTime() + DAY_MS),
    };
    const { id, public_key, private_key } = await db.transaction((tx) =>
      issueCredentials(tx, wanted, { pepper, now: clock() }),
    );
    return Promise.race([work(`${public_key}:${private_key}`), interrupted()]).finally(() =>
      db.transaction((tx) => revokeCredentials(tx, id, clock())),
    );
  });
}

/**
 * Rejects on Ctrl-C. Under npm that arrives twice, so the listener stays: the second must not end
 * the process before the key is revoked.
 */
const interrupted = () =>
  new Promise<never>((_, fail) => {
    process.on('SIGINT', () =>
      fail(new Error('Stopped waiting. What was uploaded is imported all the same.')),
    );
  });
