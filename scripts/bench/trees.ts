import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SourceTree } from './runs';

const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28 }).trim();

export function build(folder: string): void {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, stdio: 'inherit' });
}

/**
 * Checks a commit out into its own folder and builds it there. It gets the benches of this tree, so
 * that both trees are measured in the same way, unless these import files that have moved since.
 */
export function openTree(rev: string): SourceTree & { remove(): void } {
  const commit = git('rev-parse', '--verify', `${rev}^{commit}`);
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-bench-'));
  const remove = () => {
    rmSync(folder, { recursive: true, force: true });
    git('worktree', 'prune');
  };
  try {
    // Its database may run under another account, which must be able to enter this folder.
    chmodSync(folder, 0o711);
    git('worktree', 'add', '--quiet', '--detach', '--force', folder, commit);
    chmodSync(folder, 0o711);
    install(folder);
    if (hasImportsOfBenches(folder)) {
      rmSync(join(folder, 'scripts/bench'), { recursive: true, force: true });
      cpSync('scripts/bench', join(folder, 'scripts/bench'), { recursive: true });
    }
    const run = (script: string) =>
      execFileSync('npm', ['run', '--silent', script], { cwd: folder, stdio: 'inherit' });
    run('generate:prisma');
    run('build');
  } catch (error) {
    remove();
    throw error;
  }
  return { name: `${rev} (${commit.slice(0, 9)})`, folder, remove };
}

/** Shares the packages of this tree when the lock files are equal, else installs them. */
function install(folder: string): void {
  const lock = (of: string) => readFileSync(join(of, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock('.'))
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  else
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: 'inherit',
    });
}

/** True if a folder has all written files of `src` that the benches of this tree import. */
function hasImportsOfBenches(folder: string): boolean {
  const texts = listBenches().map((file) => readFileSync(join('scripts/bench', file), 'utf8'));
  const paths = texts.flatMap((text) => [
    ...text.matchAll(/'\.\.\/\.\.\/(src\/(?!generated)[^']+)'/g),
  ]);
  return paths.every(([, path]) => existsSync(join(folder, `${path}.ts`)));
}

const listBenches = () => readdirSync('scripts/bench').filter((name) => name.endsWith('.ts'));
