import { InvalidArgumentError, type Command } from 'commander';
import { distribute, planDistribution, type Distribution } from '../cells/distribute';
import { listCells, moveCellTo } from '../cells/manage';
import { StartError } from '../start-error';
import { commandConfig, json, print } from './command';

/** `distribute`, `cells list` and `cells move`. */
export function addCellCommands(program: Command): void {
  program
    .command('distribute')
    .description(
      'turn the database, on a Citus cluster, into a distributed one; without --apply it says ' +
        'what it would do',
    )
    .option('--cells <number>', 'cells to make; by default two for each node', count)
    .option('--apply', 'do it: no server and no worker may run meanwhile', false)
    .addOption(json())
    .action(async ({ cells, apply, json: as_json }) => {
      const url = databaseUrl();
      const done = apply
        ? await distribute(url, { cells, progress: { filled: reportFilled } })
        : await planDistribution(url, cells);
      print(rowsOf(done), as_json);
      if (!apply) process.stderr.write('Nothing was changed. Do it with --apply.\n');
    });

  const cells = program.command('cells').description('the cells of a distributed database');
  cells
    .command('list')
    .description('the cells, their nodes, and how many companies they have')
    .addOption(json())
    .action(async (options) => print(await listCells(databaseUrl()), options.json));
  cells
    .command('move')
    .description('move a cell to another node while it is used')
    .argument('<cell>', 'its number', count)
    .argument('<node>', 'HOST:PORT, as the coordinator knows it')
    .addOption(json())
    .action(async (cell, node, options) => {
      print(await moveCellTo(databaseUrl(), cell, node), options.json);
    });
}

function databaseUrl(): string {
  const { database_url } = commandConfig();
  if (database_url === undefined)
    throw new StartError(
      'DATABASE_URL: it must be given, and name the coordinator of the cluster.',
    );
  return database_url;
}

const rowsOf = ({ cells }: Distribution) =>
  cells.map(({ id, companies, records }) => ({
    cell: id,
    companies: companies.length,
    leads_and_calls: records,
  }));

const reportFilled = ({ id }: { id: number }, rows: number): void =>
  void process.stderr.write(`Cell ${id} has its ${rows} rows.\n`);

function count(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text))
    throw new InvalidArgumentError('must be a number from 1 to 999');
  return Number(text);
}
