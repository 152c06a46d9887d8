import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

// Runs code samples as a reader does, with credentials of the reader's own.

const ROOT = join(__dirname, '../..');
const call = promisify(execFile);
const NUMBERS = 'phone,name\n(310) 555-0123,Ann\n';

async function bash(folder: string, source: string): Promise<string> {
  writeFileSync(join(folder, 'numbers.csv'), NUMBERS);
  const script = source.replace(/^curl /, 'curl --silent --show-error ');
  return (await call('bash', ['-c', script], { cwd: folder })).stdout;
}

async function typescript(folder: string, source: string): Promise<string> {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const file = join(folder, 'src/sample.ts');
  // Node prints nested objects in short; the test reads them.
  writeFileSync(file, source.replace('error ?? data', 'JSON.stringify(error ?? data)'));
  const loader = join(ROOT, 'node_modules/tsx/dist/loader.mjs');
  return (await call('node', ['--import', loader, file], { cwd: folder })).stdout;
}

/** The output of a sample in which `values` stand in place of its examples. */
export function run(
  label: string,
  source: string,
  values: Record<string, string>,
): Promise<string> {
  const filled = Object.entries(values).reduce(
    (text, [shown, value]) => text.replaceAll(shown, value),
    source,
  );
  const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'sample-'));
  return label.startsWith('curl') ? bash(folder, filled) : typescript(folder, filled);
}
