import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { load } from 'js-yaml';
import { DOCUMENT, replaceRegions } from './document';
import { drive, drivers, copyDriver } from './drivers';
import { Missing, StepFailed } from './execute';
import { generate, GENERATORS, missingOperations, ROOT, type Generator } from './generators';
import { start, type TestServer } from './server';

// npm run test:clients [-- --only go,java] [--file openapi.yaml] [--keep folder] [--no-drive]

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    file: { type: 'string', default: join(ROOT, 'dist/openapi.yaml') },
    keep: { type: 'string' },
    'no-drive': { type: 'boolean', default: false },
    'write-docs': { type: 'boolean', default: false },
    lines: { type: 'string', default: '12' },
  },
});

type Outcome = 'ok' | 'failed' | 'skipped';
interface Row {
  name: string;
  outcome: Outcome;
  /** The steps that were done, or why they were not. */
  text: string;
  faults: Fault[];
  warnings: string[];
  seconds: number;
}

interface Fault {
  title: string;
  lines: string[];
}

let running: Promise<TestServer> | undefined;
const server = (): Promise<TestServer> => (running ??= start());

interface Run {
  file: string;
  folder: string;
  operations: string[];
}

async function tryGenerator(generator: Generator, run: Run): Promise<Row> {
  const started = Date.now();
  const folder = join(run.folder, generator.name);
  const row: Row = {
    name: generator.name,
    outcome: 'ok',
    text: '',
    faults: [],
    warnings: [],
    seconds: 0,
  };
  try {
    row.warnings = await generate(generator, run.file, folder);
    const missing = missingOperations(join(folder, generator.operations), run.operations);
    if (missing.length > 0)
      row.faults.push({ title: `${missing.length} operations are missing`, lines: missing });
    const driver = options['no-drive'] ? undefined : drivers[generator.name];
    if (driver) copyDriver(driver, folder);
    await generator.compile(folder);
    if (driver) await drive(driver, folder, await (await server()).addCompany(generator.name));
    row.text = driver ? 'generated, compiled, used' : 'generated, compiled';
  } catch (error) {
    if (error instanceof Missing) Object.assign(row, { outcome: 'skipped', text: error.message });
    else row.faults.push(toFault(error as Error));
  }
  row.seconds = (Date.now() - started) / 1_000;
  return { ...row, ...verdict(row) };
}

const toFault = (error: Error): Fault => ({
  title: error.message,
  lines: (error instanceof StepFailed ? error.output : (error.stack ?? '')).trim().split('\n'),
});

function verdict({ faults, warnings, outcome, text }: Row): Pick<Row, 'outcome' | 'text'> {
  const titles = faults.map(({ title }) => title);
  if (warnings.length > 0) titles.unshift('the generator warns');
  return titles.length > 0 ? { outcome: 'failed', text: titles.join('; ') } : { outcome, text };
}

/** Two at a time: most of them are one busy process. */
async function tryAll(generators: Generator[], run: Run): Promise<Row[]> {
  const waiting = [...generators];
  const rows: Row[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const row = await tryGenerator(next, run);
      rows.push(row);
      report(row);
    }
  };
  await Promise.all([work(), work()]);
  return rows.sort(
    (a, b) => generators.findIndex(matchesRow(a)) - generators.findIndex(matchesRow(b)),
  );
}

const matchesRow =
  (row: Row) =>
  ({ name }: Generator): boolean =>
    name === row.name;

function report(row: Row): void {
  const parts = [{ title: 'warnings', lines: countLines(row.warnings) }, ...row.faults];
  const text = parts.filter(({ lines }) => lines.length > 0).map(formatFault);
  process.stdout.write(`${formatRow(row)}\n${text.join('')}`);
}

/** The beginning and the end: a compiler says the most at the top, an exception at the bottom. */
function formatFault({ title, lines }: Fault): string {
  const half = Math.max(1, Math.floor(Number(options.lines) / 2));
  const some =
    lines.length <= 2 * half
      ? lines
      : [...lines.slice(0, half), `… ${lines.length - 2 * half} lines …`, ...lines.slice(-half)];
  return `  ${title}:\n${some.map((line) => `    ${line}\n`).join('')}`;
}

/** Each line once, with how often it came. */
function countLines(lines: string[]): string[] {
  const times = new Map<string, number>();
  for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1);
  return [...times]
    .sort((a, b) => b[1] - a[1])
    .map(([line, n]) => (n > 1 ? `${n}× ${line}` : line));
}

const formatRow = ({ name, outcome, text, warnings, seconds }: Row): string =>
  [
    outcome.padEnd(7),
    name.padEnd(21),
    `${String(warnings.length).padStart(4)} warnings`,
    `${seconds.toFixed(1).padStart(5)} s`,
    ` ${text}`,
  ].join(' ');

function selectGenerators(): Generator[] {
  if (options.only === undefined) return GENERATORS;
  const names = options.only.split(',');
  const unknown = names.filter((name) => !GENERATORS.some((generator) => generator.name === name));
  if (unknown.length > 0)
    throw new Error(
      `--only: ${unknown.join(', ')} is not one of ${GENERATORS.map(({ name }) => name).join(', ')}`,
    );
  return GENERATORS.filter(({ name }) => names.includes(name));
}

interface Contract {
  paths: Record<string, Record<string, { operationId?: string }>>;
}

const listOperations = ({ paths }: Contract): string[] =>
  Object.values(paths).flatMap((path) =>
    Object.values(path).flatMap(({ operationId }) => (operationId ? [operationId] : [])),
  );

async function main(): Promise<void> {
  if (options['write-docs'])
    return writeFileSync(DOCUMENT, replaceRegions(readFileSync(DOCUMENT, 'utf8')));
  const file = resolve(options.file);
  const folder = resolve(options.keep ?? mkdtempSync(join(tmpdir(), 'trunkline-clients-')));
  mkdirSync(folder, { recursive: true });
  const contract = load(readFileSync(file, 'utf8')) as Contract;
  writeFileSync(join(folder, 'contract.json'), JSON.stringify(contract));
  // The clients' own imports (openapi-fetch, types of Node) are found here.
  if (!existsSync(join(folder, 'node_modules')))
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const rows = await tryAll(selectGenerators(), {
    file,
    folder,
    operations: listOperations(contract),
  });
  await (await running)?.stop();
  const count = (outcome: Outcome) => rows.filter((row) => row.outcome === outcome).length;
  process.stdout.write(`\n${rows.map(formatRow).join('\n')}\n\n`);
  process.stdout.write(
    `clients: ${count('ok')} passed, ${count('failed')} failed, ${count('skipped')} skipped\n`,
  );
  writeFileSync(join(folder, 'rows.json'), JSON.stringify(rows, null, 2));
  if (options.keep === undefined) rmSync(folder, { recursive: true, force: true });
  process.exitCode = count('failed') === 0 ? 0 : 1;
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
