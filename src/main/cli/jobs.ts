import type { Command } from 'commander';
import type { Row } from '../../data/sql';
import { collectFromParts } from '../../operate/installation/all-parts';
import { parseCompanyId, json, run } from './command';
import { LIST_JOBS } from './queries/operator';

export function addJobCommands(program: Command): void {
  program
    .command('jobs')
    .description(
      'list the kinds of background jobs that wait, run or are tried again, and how old the ' +
        'oldest is',
    )
    .option('--company <id>', 'only those of a company', parseCompanyId)
    .addOption(json())
    .action((options) =>
      run(options.json, async ({ deps }) => {
        const companyId = options.company === undefined ? null : String(options.company);
        return mergeByNode(
          await collectFromParts(deps, ({ sql }) => sql(LIST_JOBS, { company_id: companyId })),
        );
      }),
    );
}

/** Cells on one node of a distributed database share one queue. */
function mergeByNode(jobRows: Row<'cli.list_jobs'>[]): object[] {
  const rows = new Map(jobRows.map((row) => [`${row.node} ${row.kind}`, row]));
  const many = new Set(jobRows.map(({ node }) => node)).size > 1;
  return [...rows.values()].map(({ node, ...row }) => (many ? { node, ...row } : row));
}
