import type { Command } from 'commander';
import type { Row } from '../db/sql';
import { fromAllParts } from '../installation/all-parts';
import { companyId, json, run } from './command';
import { LIST_JOBS } from './queries/jobs';

export function addJobCommands(program: Command): void {
  program
    .command('jobs')
    .description(
      'list the kinds of background jobs that wait, run or are tried again, and how old the ' +
        'oldest is',
    )
    .option('--company <id>', 'only those of a company', companyId)
    .addOption(json())
    .action((options) =>
      run(options.json, async ({ deps }) => {
        const company_id = options.company === undefined ? null : String(options.company);
        return ofEachNode(await fromAllParts(deps, ({ sql }) => sql(LIST_JOBS, { company_id })));
      }),
    );
}

/** Cells on one node of a distributed database share one queue. */
function ofEachNode(found: Row<'cli.list_jobs'>[]): object[] {
  const rows = new Map(found.map((row) => [`${row.node} ${row.kind}`, row]));
  const many = new Set(found.map(({ node }) => node)).size > 1;
  return [...rows.values()].map(({ node, ...row }) => (many ? { node, ...row } : row));
}
