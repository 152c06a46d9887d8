import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseContract } from '../src/platform/contract/parse-contract';
import { formatContract } from '../src/platform/contract/published-contract';
import { breakingChanges, compare, isMajor } from './breaking/changes';
import { dropGained } from './breaking/open-lists';

// Fails when openapi.yaml breaks clients of the last release (the newest tag v* before HEAD), or of
// the contract at a given git revision (`check-breaking.ts origin/main`), unless the major version
// of info.version is higher.

const ROOT = join(__dirname, '..');

const git = (...args: string[]): string | undefined => {
  const { status, stdout } = spawnSync('git', args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return status === 0 ? stdout : undefined;
};

const release =
  process.argv[2] ?? git('describe', '--tags', '--abbrev=0', '--match=v[0-9]*')?.trim();
const released = release && git('show', `${release}:openapi.yaml`);

if (released) check(release, released);
else {
  const reason =
    git('rev-parse', '--is-shallow-repository')?.trim() === 'true'
      ? 'this clone is shallow, and has no tag v* (git fetch --unshallow --tags)'
      : 'there is no tag v* of a release';
  process.stdout.write(`Breaking changes: not checked, as ${reason}.\n`);
}

function check(name: string, text: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'released-'));
  const [base, revision] = [join(folder, 'base.yaml'), join(folder, 'openapi.yaml')];
  const released = parseContract(text);
  const current = parseContract(readFileSync(join(ROOT, 'openapi.yaml'), 'utf8'));
  dropGained(current, released);
  writeFileSync(base, formatContract(released));
  writeFileSync(revision, formatContract(current));
  const report = compare(base, revision);
  rmSync(folder, { recursive: true });
  const messages = breakingChanges(report);
  if (messages.length === 0 || isMajor(report)) return;
  const { revision: version } = report.infoVersions;
  process.stderr.write(
    `${messages.join('\n')}\nThese changes since ${name} break clients: ` +
      `info.version ${version} must become the next major version.\n`,
  );
  process.exitCode = 1;
}
