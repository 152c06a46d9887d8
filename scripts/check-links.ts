import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

// Fails when a Markdown file links to a file or heading that does not exist, or when it names in
// backticks, or a comment of the code in plain text, a file that does not exist.

const ROOT = join(__dirname, '..');
const LINK = /\[[^[\]]*\]\(([^)\s]+)\)/g;
const SOURCE = /`((?:src|tests|scripts|docs|prisma|\.github)\/[\w./-]*\w\/?|(?:src|docs)\/)`/g;
const HEADING = /^#{1,6} +(\S.*)$/gm;
const CODE = /^( *)```[\s\S]*?^\1```$/gm;

const withoutCode = (markdown: string): string =>
  markdown.replace(CODE, (block) => block.replace(/[^\n]/g, ' '));

/** The anchors that GitHub generates for the headings of a file. */
function listAnchors(file: string): Set<string> {
  const anchorCounts = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(readFileSync(file, 'utf8')).matchAll(HEADING)) {
    const text = heading.replace(/\[([^[\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = text
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-');
    const times = anchorCounts.get(anchor) ?? 0;
    anchorCounts.set(anchor, times + 1);
    anchors.add(times === 0 ? anchor : `${anchor}-${times}`);
  }
  return anchors;
}

function linkFault(file: string, target: string): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return undefined;
  const [path = '', anchor] = decodeURIComponent(target).split('#');
  const linked = path === '' ? file : join(dirname(file), path);
  if (!existsSync(linked)) return `there is no ${relative(ROOT, linked)}`;
  if (anchor === undefined || statSync(linked).isDirectory()) return undefined;
  return listAnchors(linked).has(anchor) ? undefined : `${target} names no heading`;
}

const sourceFault = (path: string): string | undefined =>
  existsSync(join(ROOT, path)) ? undefined : `there is no ${path}`;

function listFaults(file: string): string[] {
  const text = withoutCode(readFileSync(join(ROOT, file), 'utf8'));
  const references = [
    ...[...text.matchAll(LINK)].map((match) => ({
      match,
      check: () => linkFault(join(ROOT, file), match[1]!),
    })),
    ...[...text.matchAll(SOURCE)].map((match) => ({ match, check: () => sourceFault(match[1]!) })),
  ];
  return references.flatMap(({ match, check }) => {
    const fault = check();
    const line = text.slice(0, match.index).split('\n').length;
    return fault === undefined ? [] : [`${file}:${line}: ${fault}`];
  });
}

const COMMENT = /^\s*(?:\/\/|\/?\*|--)(.*)$/;
const NAMED_FILE =
  /(?<![\w/.<-])((?:src|tests|scripts|docs|prisma)\/[\w./-]*\w|[\w-]+(?:\/[\w.-]+)*\.(?:ts|tsx|sql|md))\b/g;

/** A comment may name a file from the root, from src/, or from the folder in which it stands. */
function commentFaults(file: string): string[] {
  const folders = [ROOT, join(ROOT, 'src'), dirname(join(ROOT, file))];
  return readFileSync(join(ROOT, file), 'utf8')
    .split('\n')
    .flatMap((text, index) => {
      const names = [...(COMMENT.exec(text)?.[1] ?? '').matchAll(NAMED_FILE)].map(
        (name) => name[1]!,
      );
      return names
        .filter((name) => !folders.some((folder) => existsSync(join(folder, name))))
        .map((name) => `${file}:${index + 1}: there is no ${name}`);
    });
}

const list = (...args: string[]) =>
  execFileSync('git', ['ls-files', ...args], { cwd: ROOT, encoding: 'utf8' });
const filesLike = (...patterns: string[]) =>
  list('--cached', '--others', '--exclude-standard', ...patterns)
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(ROOT, file)));
const documents = filesLike('*.md');
const code = filesLike('*.ts', '*.tsx', '*.js', '*.sql', '*.prisma');
const faults = [...documents.flatMap(listFaults), ...code.flatMap(commentFaults)];
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.stdout.write(
  faults.length === 0
    ? `links: all of ${documents.length} documents and the comments of ${code.length} files ` +
        'lead somewhere\n'
    : '',
);
process.exitCode = faults.length === 0 ? 0 : 1;
