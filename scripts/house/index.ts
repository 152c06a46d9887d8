import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { circlesIn, mapImports, type Sources } from './imports';
import { countIn, MAX_COLUMNS, type Counts } from './names';
import { Reach, WALKS } from './walks';

// Counts what the rules of names and structure are about, so that a change can say what it has made
// better: `npm run house`. It fails nothing; what must not come back is a rule of lint.

const ROOT = join(__dirname, '../..');
const SMALL_FILE_LINES = 60;
const STOREYS = ['main', 'operate', 'domain', 'api', 'data', 'platform', 'adapters', 'console'];

type Row = readonly [name: string, count: number];

const print = (line: string) => void process.stdout.write(`${line}\n`);

function printRows(rows: readonly Row[]): void {
  for (const [name, count] of rows) print(`${name.padEnd(62)} ${String(count).padStart(6)}`);
}

function filesIn(folder: string, ending: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(ROOT, folder, file))
    .filter((file) => ending.test(file) && !file.includes('/generated/'))
    .filter((file) => statSync(file).isFile());
}

const readSources = (): Sources =>
  new Map(
    filesIn('src', /\.tsx?$/).map((path) => [
      path,
      ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true),
    ]),
  );

const countLines = (text: string): number => text.split('\n').length - 1;

/** Lines by the folder at that depth below src/. */
function sumLines(sources: Sources, folder: string, depth: number): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [path, { text }] of sources) {
    const parts = relative(join(ROOT, 'src'), path).split('/');
    if (!parts.join('/').startsWith(folder)) continue;
    const name = parts[depth]!;
    sums.set(name, (sums.get(name) ?? 0) + countLines(text));
  }
  return sums;
}

function printLines(sources: Sources): void {
  const storeys = sumLines(sources, '', 0);
  print('\nlines by storey');
  printRows(STOREYS.map((storey) => [`  src/${storey}`, storeys.get(storey) ?? 0]));
  printRows([['  sum', [...storeys.values()].reduce((sum, lines) => sum + lines, 0)]]);
  print('\nlines by room of src/domain');
  const rooms = [...sumLines(sources, 'domain/', 1)].toSorted((a, b) => b[1] - a[1]);
  printRows(rooms.map(([room, lines]) => [`  ${room}`, lines]));
}

/** Files with code that the walks of docs/architecture.md can reach. */
function printWalks(sources: Sources): void {
  const reach = new Reach(sources);
  print('\nclosure of the walks, in files (queries/ of domain and below apart)');
  for (const { name, starts } of WALKS) {
    const files = new Set(
      starts.flatMap(([file, start]) => [...reach.findFiles(join(ROOT, 'src', file), start)]),
    );
    const paths = [...files].map((file) => relative(join(ROOT, 'src'), file));
    const count = (storey: string, isQuery = false) =>
      paths.filter(
        (path) => path.startsWith(`${storey}/`) && path.includes('/queries/') === isQuery,
      ).length;
    const lower = ['api', 'data', 'platform'].map(
      (storey) => `${storey} ${count(storey) + count(storey, true)}`,
    );
    const parts = [`domain ${count('domain')}`, `its queries ${count('domain', true)}`, ...lower];
    const text = parts.join(', ');
    print(`  ${name.padEnd(22)} ${text}`);
    if (process.argv.includes('--files')) for (const path of paths.toSorted()) print(`    ${path}`);
  }
}

function main(): void {
  const sources = readSources();
  const counts: Counts = {
    of_functions: 0,
    denied_names: 0,
    snake_case_locals: 0,
    long_lines: 0,
    comments_by_opener: 0,
  };
  for (const source of sources.values()) countIn(source, counts);
  const imports = mapImports(sources);
  const importers = new Map<string, number>();
  for (const targets of imports.values())
    for (const target of targets) importers.set(target, (importers.get(target) ?? 0) + 1);
  const small = [...sources].filter(
    ([path, { text }]) => importers.get(path) === 1 && text.split('\n').length < SMALL_FILE_LINES,
  );
  const circles = circlesIn(imports);
  printRows([
    ['functions named …Of', counts.of_functions],
    ['denied names', counts.denied_names],
    ['snake_case locals and parameters', counts.snake_case_locals],
    [`lines over ${MAX_COLUMNS} columns`, counts.long_lines],
    ['files', sources.size],
    [`files with one importer, under ${SMALL_FILE_LINES} lines`, small.length],
    ['circles of imports, types included', circles.length],
    ['comments that begin with "The same", "What", "Of", "Whether"', counts.comments_by_opener],
    ['bytes of docs', filesIn('docs', /\.md$/).reduce((sum, file) => sum + statSync(file).size, 0)],
    [
      'migrations',
      readdirSync(join(ROOT, 'prisma/migrations')).filter((name) => /^\d/.test(name)).length,
    ],
  ]);
  printLines(sources);
  printWalks(sources);
  if (!process.argv.includes('--files')) return;
  for (const [path] of small) print(`small: ${relative(ROOT, path)}`);
  for (const circle of circles)
    print(`circle: ${circle.map((path) => relative(ROOT, path)).join(' ')}`);
}

main();
