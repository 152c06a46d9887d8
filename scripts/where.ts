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

/** The requests of tests: `api('post', 'leads', …)`, or `.post('/api/v1/leads')`. */
function countRequests(text: string, { method, path }: Operation): number {
  const url = String.raw`(?:${BASE_PATH}/)?${buildPathPattern(path)}(?=['"\`?]|\.csv)`;
  const request = new RegExp(String.raw`\b${method}['"]?[,(]\s*['"\`]${url}`, 'gi');
  return text.match(request)?.length ?? 0;
}

/** The tests that send its requests, those of its handler's own folder first. */
function findTests(operation: Operation, handler: SourceLine | undefined): Requests[] {
  const room = handler && dirname(relative('src', handler.file));
  const tests: Requests[] = listFiles('tests/*.test.ts').map((file) => ({
    file,
    count: countRequests(readText(file), operation),
  }));
  const isNear = ({ file }: Requests) => room !== undefined && file.startsWith(`tests/${room}/`);
  return tests
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => Number(isNear(b)) - Number(isNear(a)) || b.count - a.count)
    .slice(0, MAX_TESTS);
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

const HANDLING_FILES = ['src/api/*.ts', 'src/domain/*.ts'];

/** Where operations are handled: properties of what `src/main/handlers.ts` mounts. */
export function findHandlers(ids: readonly string[]): Map<string, SourceLine[]> {
  const handlers = new Map(ids.map((id) => [id, [] as SourceLine[]]));
  for (const file of listFiles(...HANDLING_FILES))
    for (const [index, text] of readText(file).split('\n').entries()) {
      const id = /^ {4,}(\w+)(?::|,$)/.exec(text)?.[1] ?? '';
      handlers.get(id)?.push({ file, line: index + 1 });
    }
  return handlers;
}

export function describeOperation(operation: Operation): string {
  const contractLines = readText('openapi.yaml').split('\n');
  const declared = contractLines.indexOf(`      operationId: ${operation.id}`) + 1;
  const handlers = findHandlers([operation.id]).get(operation.id)!;
  const format = ({ file, line }: SourceLine) => `${file}:${line}`;
  return [
    `${operation.method.toUpperCase()} ${operation.path}: ${operation.id}`,
    `  contract  openapi.yaml:${declared}`,
    ...handlers.map((source) => `  handler   ${format(source)}`),
    ...findTests(operation, handlers[0]).map(
      ({ file, count }) => `  test      ${file} (${count} ${count === 1 ? 'request' : 'requests'})`,
    ),
  ].join('\n');
}

function main(words: readonly string[]): void {
  const operations = words.length > 0 ? findOperations(words) : [];
  for (const operation of operations) process.stdout.write(`${describeOperation(operation)}\n`);
  if (operations.length > 0) return;
  process.stderr.write('Usage: npm run where -- GET /buyers/{id}, an operation of openapi.yaml\n');
  process.exitCode = 1;
}

if (require.main === module) main(process.argv.slice(2).flatMap((word) => word.split(' ')));
