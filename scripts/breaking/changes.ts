import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const REDOCLY = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');

/** The fields of the report of `redocly diff --format=json` that are read here. */
export interface Report {
  infoVersions: { base: string; revision: string };
  changes: Change[];
}
interface Change {
  /** JSON pointer in the contract, with references followed. */
  path: string;
  kind: 'added' | 'removed' | 'modified';
  verdicts: { impact: 'major' | 'minor' | 'patch'; message: string }[];
}

export function compare(base: string, revision: string): Report {
  const folder = mkdtempSync(join(tmpdir(), 'contract-diff-'));
  const output = join(folder, 'report.json');
  const config = `--config=${join(ROOT, 'redocly.diff.yaml')}`;
  const options = [config, '--format=json', '--fail-on=none', `--output=${output}`];
  try {
    execFileSync(process.execPath, [REDOCLY, 'diff', base, revision, ...options], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
    return JSON.parse(readFileSync(output, 'utf8')) as Report;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Redocly treats a field that an open object loses as harmless, since it may still be sent. Here it
 * would become a token.
 */
const REQUEST_FIELD = /\/requestBody\/content\/.*\/properties\/([^/]+)$/;

function listMessages({ path, kind, verdicts }: Change): string[] {
  const messages = verdicts
    .filter(({ impact }) => impact === 'major')
    .map(({ message }) => message);
  const [, field] = REQUEST_FIELD.exec(path) ?? [];
  const isRemovedField = kind === 'removed' && field !== undefined && messages.length === 0;
  return isRemovedField ? [`Field \`${field}\` of the request was removed.`] : messages;
}

/** Returns `GET /buyers/{id}` for a path within that operation, else the pointer. */
function formatOperation(path: string): string {
  const [, inUrl, method] = /^#\/paths\/([^/]+)\/(\w+)/.exec(path) ?? [];
  if (inUrl === undefined || method === undefined) return path;
  return `${method.toUpperCase()} ${inUrl.replaceAll('~1', '/').replaceAll('~0', '~')}`;
}

export const breakingChanges = ({ changes }: Report): string[] => [
  ...new Set(
    changes.flatMap((change) =>
      listMessages(change).map((message) => `${formatOperation(change.path)}: ${message}`),
    ),
  ),
];

const parseMajor = (version: string): number => Number(version.split('.')[0]);

export const isMajor = ({ infoVersions: { base, revision } }: Report): boolean =>
  parseMajor(revision) > parseMajor(base);
