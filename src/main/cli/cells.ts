import { InvalidArgumentError, type Command } from 'commander';
import {
  cancelDistribution,
  distribute,
  planDistribution,
  type Distribution,
} from '../../operate/cells/distribute';
import { addCellOn, isolate, listCells, moveCellTo, rebalance } from '../../operate/cells/manage';
import { StartError } from '../../platform/start-error';
import { commandConfig, json, print } from './command';

export function addCellCommands(program: Command): void {
  addDistribute(program);
  const cells = program.command('cells').description('the cells of a distributed database');
  addChanges(cells);
  cells
    .command('list')
    .description('the cells, their nodes, and how many companies they have')
    .addOption(json())
    .action(async (options) => print(await listCells(databaseUrl()), options.json));
  cells
    .command('rebalance')
    .description(
      'move cells so that all nodes have about as many bytes; without --apply it says which',
    )
    .option('--apply', 'do it, while the cells are used', false)
    .addOption(json())
    .action(async ({ apply, json: asJson }) => {
      const moved = ({ cell, to }: { cell: number; to: string }) =>
        void process.stderr.write(`Cell ${cell} is on ${to} now.\n`);
      print(await rebalance(databaseUrl(), { apply, moved }), asJson);
      if (!apply) process.stderr.write(UNCHANGED);
    });
}

const UNCHANGED = 'Nothing was changed. Do it with --apply.\n';

function addDistribute(program: Command): void {
  program
    .command('distribute')
    .description(
      'turn the database, on a Citus cluster, into a distributed one; without --apply it says ' +
        'what it would do',
    )
    .option('--cells <number>', 'cells to make; by default two for each node', count)
    .option('--apply', 'do it: no server and no worker may run meanwhile', false)
    .option('--cancel', 'undo a distribution that is not complete', false)
    .addOption(json())
    .action(async ({ cells, apply, cancel, json: asJson }) => {
      const url = databaseUrl();
      if (cancel) {
        await cancelDistribution(url);
        process.stderr.write('The database is as it was before.\n');
        return;
      }
      const done = apply
        ? await distribute(url, { cells, progress: { filled: reportFilled } })
        : await planDistribution(url, cells);
      print(toRows(done), asJson);
      if (!apply) process.stderr.write(UNCHANGED);
    });
}

function addChanges(cells: Command): void {
  const NODE = 'HOST:PORT, as the coordinator knows it';
  const ON = [`--node <node>`, `${NODE}; by default the one with the fewest cells`] as const;
  cells
    .command('add')
    .description('make an empty cell, such as on a node that is new')
    .option(...ON)
    .addOption(json())
    .action(async ({ node, json: asJson }) => print(await addCellOn(databaseUrl(), node), asJson));
  cells
    .command('move')
    .description('move a cell to another node while it is used')
    .argument('<cell>', 'its number', count)
    .argument('<node>', NODE)
    .addOption(json())
    .action(async (cell, node, options) => {
      print(await moveCellTo(databaseUrl(), cell, node), options.json);
    });
  cells
    .command('isolate')
    .description('give a company a cell of its own; its requests are refused meanwhile')
    .argument('<company>', 'its id')
    .option(...ON)
    .addOption(json())
    .action(async (company, { node, json: asJson }) => {
      print(await isolate(databaseUrl(), company, node), asJson);
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

const toRows = ({ cells }: Distribution) =>
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
