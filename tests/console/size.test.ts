import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

// People open the console on telephones and in hotels: its script stays small.

const MAX_BYTES = 150_000;

test('all scripts of the console together have at most 150 kB, compressed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  try {
    const build = ['run', '--silent', 'build:console', '--', `--outdir=${folder}`];
    execFileSync('npm', build, { cwd: join(__dirname, '../..') });
    const sizes = readdirSync(folder)
      .filter((name) => name.endsWith('.js'))
      .map((name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length);
    expect(sizes.length).toBeGreaterThan(5);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_BYTES);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
