import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const EXAMPLES = join(__dirname, '../../../examples');

/** A file of an example, with other addresses. Each must be there once at least. */
export function readExample(path: string, replaced: Record<string, string>): string {
  let text = readFileSync(join(EXAMPLES, path), 'utf8');
  for (const [former, next] of Object.entries(replaced)) {
    if (!text.includes(former)) throw new Error(`${path} has no ${former}`);
    text = text.replaceAll(former, next);
  }
  return text;
}
