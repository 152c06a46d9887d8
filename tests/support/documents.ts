import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A command block of a document, and the output that the document shows for it. */
export interface Block {
  /** File and line, for messages. */
  location: string;
  commands: string;
  /** Absent: the block must succeed, and its output is not compared. */
  output?: Output;
}

interface Output {
  language: string;
  text: string;
}

const FENCE = /^( *)```(\w*)\n([\s\S]*?)^ *```$/gm;
const SHOWN = ['', 'json', 'jsonc', 'csv', 'text'];

/** Command blocks are fenced as `bash`; a block of output directly after one is its output. */
export function parseBlocks(name: string, markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const { 1: indent = '', 2: language = '', 3: body = '', index } of markdown.matchAll(
    FENCE,
  )) {
    const text = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    if (language === 'bash') {
      const location = `${name}:${markdown.slice(0, index).split('\n').length}`;
      open = { location, commands: text };
      blocks.push(open);
    } else if (open && SHOWN.includes(language)) {
      open.output = { language, text };
      open = undefined;
    }
  }
  return blocks;
}

/** A block that changes nothing: a reader who looks too early looks again. */
export const isLook = ({ commands }: Block): boolean =>
  !/(^|\s)(-d|-F|-X|-T|--json|--data\S*)\s|np[mx] |node -e/m.test(commands);

const MASKS: [RegExp, string][] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uuid>'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, '<time>'],
  [/\b(pk|ut|whsec)_[\w+/=…]+/g, '<key>'],
  [/\b[0-9a-f]{32,64}\b/g, '<digest>'],
  [/\b(127\.0\.0\.1|localhost):\d+/g, '<address>'],
  [/("(?:\w+_)?id"): ?\d+/g, '$1:<id>'],
  [/("(?:\w+_)?ids"): ?\[[\d, ]+\]/g, '$1:<ids>'],
  [/(\/api\/v1\/\w+)\/\d+/g, '$1/<id>'],
];

const maskText = (text: string): string =>
  MASKS.reduce((result, [pattern, mask]) => result.replace(pattern, mask), text);

const isId = (key: string): boolean => /^(\w+_)?ids?$/.test(key);

function maskValue(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value === 'number') return isId(key) ? '<id>' : value;
  if (Array.isArray(value)) return value.map((item) => maskValue(item, key));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, maskValue(member, name)]),
  );
}

const REST = '…';

/** JSON in which a comment `// …` or `/* … *\/` stands for members that are not shown. */
const parseShown = (text: string): unknown =>
  JSON.parse(
    text
      .replace(/,?(\s*)(\/\/ …|\/\* … \*\/)/g, `,$1"${REST}": 0,`)
      // Commas before a closing bracket.
      .replace(/,(\s*[}\]])/g, '$1'),
  );

/** Takes out of a value what the document does not show. */
function selectShown(value: unknown, shown: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(shown)) {
    return value.map((item, n) => selectShown(item, shown[n]));
  }
  if (!isRecord(value) || !isRecord(shown)) return value;
  const names = Object.keys(value).filter((name) => !(REST in shown) || name in shown);
  const rest = REST in shown ? { [REST]: 0 } : {};
  return {
    ...rest,
    ...Object.fromEntries(names.map((name) => [name, selectShown(value[name], shown[name])])),
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const normalizeLines = (text: string): string =>
  maskText(text)
    .split('\n')
    .map((line) => line.replace(/[ ─]+/g, ' ').trim())
    .join('\n')
    .trim();

/** The printed and the shown output, both with ids, times and keys masked. */
export function maskBoth(
  printed: string,
  { language, text }: Output,
): { actual: unknown; shown: unknown } {
  if (!language.startsWith('json'))
    return { actual: normalizeLines(printed), shown: normalizeLines(text) };
  const shown = parseShown(text);
  return { actual: maskValue(selectShown(parseOutput(printed), shown)), shown: maskValue(shown) };
}

function parseOutput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The document with the printed output of a block in place of the shown one; jsonc is left. */
export function replaceOutput(
  markdown: string,
  { commands, output }: Block,
  printed: string,
): string {
  if (!output || output.language === 'jsonc') return markdown;
  const value =
    output.language === 'json' ? JSON.stringify(parseOutput(printed), null, 2) : printed;
  const shown = (text: string) => `\`\`\`${output.language}\n${text.trimEnd()}\n\`\`\``;
  const from = markdown.indexOf(commands);
  const rest = markdown.slice(from).replace(shown(output.text), () => shown(value));
  return markdown.slice(0, from) + rest;
}

export interface BlockResult {
  output: string;
  errors: string;
  /** True if any command of the block failed, not only the last. */
  failed: boolean;
}

export interface Shell {
  run(commands: string): Promise<BlockResult>;
  close(): void;
}

/** One bash for all blocks, so that what one sets is there for the next. */
export function openShell(cwd: string, environment: Record<string, string>): Shell {
  const env = { PATH: process.env.PATH, HOME: cwd, ...environment } as NodeJS.ProcessEnv;
  const child = spawn('bash', ['--noprofile', '--norc'], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const texts = { output: '', errors: '' };
  child.stdout.on('data', (chunk: Buffer) => (texts.output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (texts.errors += chunk.toString()));
  child.stdin.write("set -E -o pipefail; trap 'failed=1' ERR\n");
  const script = join(cwd, '.block.sh');
  return {
    run: async (commands) => {
      Object.assign(texts, { output: '', errors: '' });
      writeFileSync(script, commands);
      child.stdin.write(`failed=0; . ${script} </dev/null; printf '\\0%s\\0' $failed\n`);
      while (!/\0\d\0$/.test(texts.output)) {
        if (child.exitCode !== null)
          throw new Error(`bash ended with ${child.exitCode}: ${texts.errors}`);
        await new Promise((done) => setTimeout(done, 10));
      }
      const [output = '', failed] = texts.output.split('\0');
      return { output, errors: texts.errors, failed: failed !== '0' };
    },
    close: () => void child.kill(),
  };
}
