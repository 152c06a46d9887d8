import { existsSync, readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { dirname, join, relative } from 'node:path';
import { pathTable } from '../src/api/request/path-table';
import { BASE_PATH, contract, type Operation } from '../src/platform/contract/contract';

// npm run where -- GET /calls/{id}/decision: where an operation of the contract is declared,
// handled and tested. Values of parameters may be given, such as /calls/5/decision.

const ROOT = join(__dirname, '..');
const MAX_TESTS = 5;

interface SourceLine {
  file: string;
  line: number;
}

const listFiles = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    // A file that was deleted may still be in the index.
    .filter((file) => !file.startsWith('src/generated/') && existsSync(join(ROOT, file)));

const readText = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

interface Requests {
  file: string;
  count: number;
}

/** Matches a path, whatever stands for its parameters. */
const buildPathPattern = (path: string): string =>
  path
    .slice(BASE_PATH.length + 1)
    .replaceAll('.', String.raw`\.`)
    .replace(/\{\w+\}/g, String.raw`(?:\$\{[^}]*\}|[^/'"\`\s]+)`);

const buildUrlPattern = ({ path }: Operation): string =>
  String.raw`(?:${BASE_PATH}/)?${buildPathPattern(path)}(?=['"\`?]|\.csv)`;

/**
 * The requests of tests: `api('post', 'leads', …)`, `.post('/api/v1/leads')`, or
 * `upload('buyer_suppression_files', …)`.
 */
function countRequests(text: string, operation: Operation): number {
  const { method } = operation;
  const verb = method === 'post' ? '(?:post|upload)' : method;
  const request = new RegExp(
    String.raw`\b${verb}['"]?[,(]\s*['"\`]${buildUrlPattern(operation)}`,
    'gi',
  );
  return text.match(request)?.length ?? 0;
}

/** True if a title of the tests begins with the operation: `describe('POST /api/v1/leads: …`. */
function isNamed(text: string, { method, path }: Operation): boolean {
  const start = String.raw`\b(?:describe|test)(?:\.each\([^)]*\))?\(\s*['"\`]`;
  const url = String.raw`/?(?:${BASE_PATH}/)?${buildPathPattern(path)}(?![\w/])`;
  return new RegExp(`${start}${method} ${url}`, 'i').test(text);
}

/** The tests that name it or send its requests, those of its handler's own folder first. */
function findTests(operation: Operation, handler: SourceLine | undefined): Requests[] {
  const room = handler && dirname(relative('src', handler.file));
  const isNear = ({ file }: Requests) => room !== undefined && file.startsWith(`tests/${room}/`);
  return listFiles('tests/*.test.ts')
    .map((file) => {
      const text = readText(file);
      return { file, count: countRequests(text, operation), is_named: isNamed(text, operation) };
    })
    .filter(({ count, is_named }) => count > 0 || is_named)
    .toSorted(
      (a, b) =>
        Number(b.is_named) - Number(a.is_named) ||
        Number(isNear(b)) - Number(isNear(a)) ||
        b.count - a.count,
    );
}

const findPath = pathTable(contract.operations.map(({ path }) => [path, path]));

/** The operations of a path, or those with this method. */
export function findOperations(words: readonly string[]): Operation[] {
  const path = words.at(-1)!.replace(/:(\w+)/g, '{$1}');
  const full = path.startsWith(BASE_PATH) ? path : `${BASE_PATH}/${path.replace(/^\//, '')}`;
  const method = words.length > 1 ? words[0]!.toLowerCase() : undefined;
  return contract.operations.filter(
    (operation) =>
      operation.path === findPath(full)?.value &&
      (method === undefined || operation.method === method),
  );
}

const VERBS = ['new', 'show', 'create', 'update', 'delete'];
const HANDLING_FILES = ['src/api/*.ts', 'src/domain/*.ts'];

const NOUN = /schema: '(\w+)',\s+(?:\w+: '\w+',\s+)*?plural: '(\w+)'/g;

/** The operations that follow from the declarations of nouns in a file (src/api/records/noun.ts). */
function findDeclared(text: string): { id: string; line: number }[] {
  const countLines = (end: number) => text.slice(0, end).split('\n').length;
  const toPascal = (words: string) =>
    words.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const derived = [...text.matchAll(NOUN)].flatMap(({ 1: schema, 2: plural, index }) =>
    [`list${toPascal(plural!)}`, ...VERBS.map((verb) => verb + schema)].map((id) => ({
      id,
      line: countLines(index),
    })),
  );
  const named = [...text.matchAll(/names: \{([^}]*)\}/g)].flatMap(({ 1: names, index }) =>
    [...names!.matchAll(/'(\w+)'/g)].map(([, id]) => ({ id: id!, line: countLines(index) })),
  );
  return [...derived, ...named];
}

/**
 * Where operations are handled: properties of what `src/main/handlers.ts` mounts, else the
 * declaration of their noun.
 */
export function findHandlers(ids: readonly string[]): Map<string, SourceLine[]> {
  const handlers = new Map(ids.map((id) => [id, [] as SourceLine[]]));
  const declared: { id: string; source: SourceLine }[] = [];
  for (const file of listFiles(...HANDLING_FILES)) {
    const text = readText(file);
    for (const [index, line] of text.split('\n').entries()) {
      const id = /^ {4,}(\w+)(?::|,$)/.exec(line)?.[1] ?? '';
      handlers.get(id)?.push({ file, line: index + 1 });
    }
    for (const { id, line } of findDeclared(text)) declared.push({ id, source: { file, line } });
  }
  for (const { id, source } of declared)
    if (handlers.get(id)?.length === 0) handlers.get(id)!.push(source);
  return handlers;
}

/** The operations of which a path has the most words of these, for one that does not exist. */
export function findSimilar(words: readonly string[]): Operation[] {
  const listParts = (path: string) =>
    path
      .toLowerCase()
      .split(/[^a-z]+/)
      .filter(Boolean);
  const searched = new Set(words.flatMap(listParts));
  const score = ({ path, method }: Operation) =>
    new Set([method, ...listParts(path)].filter((part) => searched.has(part))).size;
  const best = Math.max(...contract.operations.map(score));
  return best === 0 ? [] : contract.operations.filter((operation) => score(operation) === best);
}

function formatTest({ file, count }: Requests): string {
  const requests = `${count} ${count === 1 ? 'request' : 'requests'}`;
  return `  test      ${file} (${count === 0 ? 'by its title' : requests})`;
}

export function describeOperation(operation: Operation): string {
  const contractLines = readText('openapi.yaml').split('\n');
  const [declared = 0] = [operation.id, operation.id.replace(/By[A-Z][a-z]+$/, '')]
    .map((id) => contractLines.indexOf(`      operationId: ${id}`) + 1)
    .filter(Boolean);
  const handlers = findHandlers([operation.id]).get(operation.id)!;
  const format = ({ file, line }: SourceLine) => `${file}:${line}`;
  const tests = findTests(operation, handlers[0]);
  const left = tests.length - MAX_TESTS;
  return [
    `${operation.method.toUpperCase()} ${operation.path}: ${operation.id}`,
    `  contract  openapi.yaml:${declared}`,
    ...handlers.map((source) => `  handler   ${format(source)}`),
    ...tests.slice(0, MAX_TESTS).map(formatTest),
    ...(left > 0 ? [`            and ${left} more`] : []),
  ].join('\n');
}

function main(words: readonly string[]): void {
  const operations = words.length > 0 ? findOperations(words) : [];
  for (const operation of operations) process.stdout.write(`${describeOperation(operation)}\n`);
  if (operations.length > 0) return;
  const similar = findSimilar(words).map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  process.stderr.write(
    words.length === 0 || similar.length === 0
      ? 'Usage: npm run where -- GET /buyers/{id}, an operation of openapi.yaml\n'
      : `openapi.yaml has no such operation. Similar: ${similar.slice(0, MAX_TESTS).join(', ')}\n`,
  );
  process.exitCode = 1;
}

if (require.main === module) main(process.argv.slice(2).flatMap((word) => word.split(' ')));
