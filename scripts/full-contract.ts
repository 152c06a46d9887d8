import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseContract } from '../src/platform/contract/parse-contract';
import { formatContract } from '../src/platform/contract/published-contract';

// Writes the complete contract, as servers publish it, for tools that know only OpenAPI:
// `full-contract.ts [target [source]]`.

const ROOT = join(__dirname, '..');

/** Makes the complete contract from a text such as that of openapi.yaml. */
export const toFullContract = (text: string): string => formatContract(parseContract(text));

if (require.main === module) {
  const [target = join(ROOT, 'dist/openapi.yaml'), source = join(ROOT, 'openapi.yaml')] =
    process.argv.slice(2);
  const text = toFullContract(readFileSync(source, 'utf8'));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}
