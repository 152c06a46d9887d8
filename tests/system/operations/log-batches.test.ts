import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

// Lines of the log are written in batches. None is lost when the process ends, however it ends.

const ROOT = join(__dirname, '../../..');
const readLines = (end: string): string[] =>
  execFileSync(
    process.execPath,
    [
      ...['--require', './tests/support/typescript.js', '--eval'],
      `const log = require('./src/platform/log').createLog('info');
      for (let n = 0; n < 500; n++) log.info({ n }, 'line');
      ${end}`,
    ],
    { cwd: ROOT, encoding: 'utf8' },
  )
    .split('\n')
    .filter(Boolean);

test.each([
  ['by itself', ''],
  ['by process.exit', 'process.exit(0)'],
  ['after a fatal error', "log.fatal('the last'); process.exit(0)"],
  ['after some of it was written', "setTimeout(() => { log.info('more'); process.exit(0); }, 50)"],
])('a process that ends %s has written every line, in order', (_, end) => {
  const numbers = readLines(end).flatMap((line) => (JSON.parse(line) as { n?: number }).n ?? []);
  expect(numbers).toEqual(Array.from({ length: 500 }, (_, n) => n));
});
