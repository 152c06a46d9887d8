import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// docs/sdk.md shows a part of each program: the lines between `region docs` and `endregion`. Before
// each block a comment names the program.

export const DOCUMENT = join(__dirname, '../../../docs/sdk.md');
const BLOCK = /(<!-- (tests\/clients\/drivers\/\S+) -->\n\n```\w+\n)[\s\S]*?(?=^```$)/gm;

/** The programs that the document shows, in its order. */
export const listShownPrograms = (markdown: string): string[] =>
  [...markdown.matchAll(BLOCK)].map((match) => match[2]!);

/** The document with the regions as the programs have them now. */
export const replaceRegions = (markdown: string): string =>
  markdown.replace(
    BLOCK,
    (_, head: string, program: string) => `${head}${readRegion(program).join('\n')}\n`,
  );

/** The lines of a program that the document shows, without their common indentation. */
export function readRegion(program: string): string[] {
  const lines = readFileSync(join(__dirname, '../../..', program), 'utf8').split('\n');
  const first = lines.findIndex((line) => /^\s*(\/\/|#) ?#?region docs$/.test(line));
  const end = lines.findIndex((line) => /^\s*(\/\/|#) ?#?endregion$/.test(line));
  const shown = lines.slice(first + 1, end);
  const indent = /^\s*/.exec(lines[first] ?? '')![0];
  return shown.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
}
