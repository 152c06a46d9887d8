import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Returns the folder of the `node` binary of another version, such as 24 or 24.9.0. The npm
 * registry has each binary as a package, which is kept in .bench.
 */
export function nodeFolder(version: string): { folder: string; version: string } {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const prefix = resolve('.bench', `node-${version}`);
  const binary = resolve(prefix, 'node_modules', name, 'bin/node');
  if (!existsSync(binary))
    execFileSync(
      'npm',
      [
        ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'],
        ['--prefix', prefix, `${name}@${version}`],
      ].flat(),
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
  const exact = execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim();
  return { folder: dirname(binary), version: exact };
}
