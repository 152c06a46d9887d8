import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Installation } from '../../operate/installation/open';
import { migrate, findMissingLists, type Counts } from '../../operate/migration/migrate';
import { DEFAULT_PER_PAGE, openSource, type Source } from '../../operate/migration/reader';
import { openReport, type Report } from '../../operate/migration/report';
import { isInterrupted } from '../../operate/migration/history';
import { withTarget } from './migration-target';
import { parseCompanyId, requireCompany, print, withInstallation } from './command';

export interface MoveOptions {
  from?: string;
  key?: string;
  token?: string;
  company?: number;
  since?: Date;
  rate: number;
  perPage: number;
  dryRun?: boolean;
  activate?: boolean;
  report: string;
  json: boolean;
}

const DEFAULT_RATE = 5;

export const addMoveOptions = (command: Command): Command =>
  command
    .option('--from <url>', 'move an account from this service, such as https://host/api/v1')
    .addOption(new Option('--key <public:private>', 'its key pair').env('MIGRATE_KEY'))
    .addOption(new Option('--token <token>', 'or its token').env('MIGRATE_TOKEN'))
    .option('--company <id>', 'the company here', parseCompanyId)
    .option('--since <date>', 'only leads and calls that were created since', date)
    .option('--rate <n>', 'requests a second to it, at most', rate, DEFAULT_RATE)
    .option('--per-page <n>', 'records of a request, at most', parsePerPage, DEFAULT_PER_PAGE)
    .option('--dry-run', 'only say what would happen')
    .option(
      '--activate',
      'leave schedules and webhooks active that are; otherwise they come paused',
    )
    .option('--report <file>', 'where to write what was not moved', 'migration-report.csv');

function rate(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1_000)) throw new InvalidArgumentError('must be from 0.1 to 1000');
  return value;
}

function parsePerPage(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > DEFAULT_PER_PAGE)
    throw new InvalidArgumentError(`must be from 1 to ${DEFAULT_PER_PAGE}`);
  return value;
}

function date(text: string): Date {
  const value = new Date(text);
  if (Number.isNaN(value.getTime()))
    throw new InvalidArgumentError('must be a date, such as 2026-01-31');
  return value;
}

export async function moveAccount(options: MoveOptions & { from: string }): Promise<void> {
  const authorization = buildAuthorization(options);
  const source = openSource({ ...options, authorization });
  const file = resolve(options.report);
  const { counts, lines } = await withInstallation((installation) =>
    moveInto(installation, { source, file, options }),
  );
  const missing = findMissingLists(counts);
  if (options.json)
    print({ resources: counts, not_offered: missing, report: file, report_lines: lines }, true);
  else {
    print(
      Object.entries(counts).map(([resource, count]) => ({ resource, ...count })),
      false,
    );
    if (missing.length > 0)
      process.stderr.write(`The other service does not offer ${missing.join(', ')}.\n`);
    process.stderr.write(`${file} has ${lines} lines about records.\n`);
  }
  if (lines > 0) process.exitCode = 1;
}

interface Move {
  source: Source;
  file: string;
  options: MoveOptions;
}

async function moveInto(
  installation: Installation,
  { source, file, options }: Move,
): Promise<{ counts: Counts; lines: number }> {
  const { deps } = installation;
  const companyId = await requireCompany(installation, options.company);
  const db = deps.tenants.of(companyId);
  const isResumed = existsSync(file) && (await isInterrupted(db, { source, since: options.since }));
  const report: Report = openReport(file, { is_resumed: isResumed });
  try {
    const counts = await withTarget(deps, companyId, (target) =>
      migrate({
        source,
        target,
        db,
        deps,
        existingIds: new Map(),
        dry_run: options.dryRun === true,
        activate: options.activate === true,
        since: options.since,
        report: report.add,
      }),
    );
    return { counts, lines: report.count };
  } finally {
    await report.close();
  }
}

function buildAuthorization({ key, token }: MoveOptions): string {
  if (key !== undefined) return `Basic ${Buffer.from(key).toString('base64')}`;
  if (token !== undefined) return `Token ${token}`;
  throw new Error('Give the credentials of the other service: --key PUBLIC:PRIVATE or --token.');
}
