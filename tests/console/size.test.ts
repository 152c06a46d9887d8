import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PreparedAnswer } from '../../src/api/docs/prepared';

// People open the console on telephones and in hotels: its script stays small.

const MAX_BYTES = 150_000;

test('all scripts of the console together have at most 150 kB, as browsers get them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  try {
    const build = ['run', '--silent', 'build:console', '--', `--outdir=${folder}`];
    execFileSync('npm', build, { cwd: join(__dirname, '../..') });
    const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(5);
    const sizes = await Promise.all(
      scripts.map(async (name) => {
        const script = new PreparedAnswer('text/javascript', readFileSync(join(folder, name)));
        return (await script.compress('br')).length;
      }),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_BYTES);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
