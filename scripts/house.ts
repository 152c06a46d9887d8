import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { nameless, openers } from './plain-words.json';

// Counts what the rules of names and structure are about, so that a change can say what it has made
// better: `npm run house`. It fails nothing; what must not come back is a rule of lint.

const ROOT = join(__dirname, '..');
const MAX_COLUMNS = 100;
const SMALL_FILE_LINES = 60;

/** Those that lint refuses, and words that a property of the contract may have. */
const DENIED = new Set([
  ...nameless,
  ...['stored', 'written', 'other', 'others', 'own', 'again', 'seen', 'kept', 'named'],
]);
const OPENER = new RegExp(String.raw`^[/*\s]*(${openers.join('|')})\b`);

interface Counts {
  of_functions: number;
  denied_names: number;
  snake_case_locals: number;
  long_lines: number;
  comments_by_opener: number;
}

function filesIn(folder: string, ending: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(ROOT, folder, file))
    .filter((file) => ending.test(file) && !file.includes('/generated/'))
    .filter((file) => statSync(file).isFile());
}

function countIn(file: ts.SourceFile, counts: Counts): void {
  // Taken from a row or a body, a value keeps the name that it has there.
  const declare = (name: ts.BindingName | undefined, isFunction: boolean, keeps = false): void => {
    if (!name) return;
    if (!ts.isIdentifier(name)) {
      for (const element of name.elements)
        if (!ts.isOmittedExpression(element))
          declare(element.name, false, ts.isObjectBindingPattern(name) && !element.propertyName);
      return;
    }
    const { text } = name;
    if (isFunction && /[a-z]Of$/.test(text)) counts.of_functions++;
    if (DENIED.has(text)) counts.denied_names++;
    if (!keeps && /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/.test(text)) counts.snake_case_locals++;
  };
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node)) {
      const { initializer } = node;
      const isFunction =
        initializer !== undefined &&
        (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer));
      declare(node.name, isFunction);
    } else if (ts.isParameter(node)) declare(node.name, false);
    else if (ts.isFunctionDeclaration(node)) declare(node.name, true);
    ts.forEachChild(node, visit);
  };
  visit(file);
  const lines = file.text.split('\n');
  counts.long_lines += lines.filter((line) => line.length > MAX_COLUMNS).length;
  counts.comments_by_opener += listComments(lines).filter((comment) => OPENER.test(comment)).length;
}

/** The first line of each comment. */
function listComments(lines: readonly string[]): string[] {
  const isLineComment = (line: string | undefined) => line?.trimStart().startsWith('//') ?? false;
  return lines.flatMap((line, index) => {
    const text = line.trim();
    if (text === '/**') return [`/** ${lines[index + 1]?.trim().replace(/^\* ?/, '') ?? ''}`];
    if (text.startsWith('/*')) return [text];
    return text.startsWith('//') && !isLineComment(lines[index - 1]) ? [text] : [];
  });
}

/** By file, the files that it imports, types included. */
function mapImports(sources: ReadonlyMap<string, ts.SourceFile>): Map<string, Set<string>> {
  const imports = new Map<string, Set<string>>();
  for (const [path, { statements }] of sources) {
    const targets = statements.flatMap((statement) =>
      (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) &&
      statement.moduleSpecifier &&
      ts.isStringLiteral(statement.moduleSpecifier)
        ? [statement.moduleSpecifier.text]
        : [],
    );
    const resolved = targets
      .filter((target) => target.startsWith('.'))
      .map((target) => resolve(dirname(path), target))
      .map((target) => [`${target}.ts`, `${target}.tsx`, join(target, 'index.ts')])
      .flatMap((candidates) => candidates.filter((candidate) => sources.has(candidate)));
    imports.set(path, new Set(resolved));
  }
  return imports;
}

/** Groups of files that import each other (Tarjan). */
function circlesIn(imports: ReadonlyMap<string, Set<string>>): string[][] {
  const circles: string[][] = [];
  const numbers = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): void => {
    numbers.set(file, numbers.size);
    lowest.set(file, numbers.get(file)!);
    stack.push(file);
    for (const target of imports.get(file) ?? []) {
      if (!numbers.has(target)) visit(target);
      if (stack.includes(target))
        lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!));
    }
    if (lowest.get(file) !== numbers.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) circles.push(circle);
  };
  for (const file of imports.keys()) if (!numbers.has(file)) visit(file);
  return circles;
}

function main(): void {
  const sources = new Map(
    filesIn('src', /\.tsx?$/).map((path) => [
      path,
      ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true),
    ]),
  );
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
  const docs = filesIn('docs', /\.md$/).reduce((sum, file) => sum + statSync(file).size, 0);
  const rows: [string, number][] = [
    ['functions named …Of', counts.of_functions],
    ['denied names', counts.denied_names],
    ['snake_case locals and parameters', counts.snake_case_locals],
    [`lines over ${MAX_COLUMNS} columns`, counts.long_lines],
    ['files', sources.size],
    [`files with one importer, under ${SMALL_FILE_LINES} lines`, small.length],
    ['circles of imports, types included', circles.length],
    ['comments that begin with "The same", "What", "Of", "Whether"', counts.comments_by_opener],
    ['bytes of docs', docs],
    [
      'migrations',
      readdirSync(join(ROOT, 'prisma/migrations')).filter((name) => /^\d/.test(name)).length,
    ],
  ];
  for (const [name, count] of rows) process.stdout.write(`${name.padEnd(62)} ${count}\n`);
  if (!process.argv.includes('--files')) return;
  for (const [path] of small) process.stdout.write(`small: ${relative(ROOT, path)}\n`);
  for (const circle of circles)
    process.stdout.write(`circle: ${circle.map((path) => relative(ROOT, path)).join(' ')}\n`);
}

main();
