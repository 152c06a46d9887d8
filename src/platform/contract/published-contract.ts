import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import { addExamples } from './complete-contract';
import type { ContractDocument } from './contract-document';

// The contract as servers publish it: complete, so that no generator needs to know our rules.
// Writing YAML takes a second, in which a server would answer no request: the build does it.

/** The file of the build, whether this module is in src/ or in dist/. */
export const PUBLISHED_FILE = join(__dirname, '../../../dist/openapi.yaml');

const buildHead = (document: ContractDocument): string =>
  `# The complete contract, made from openapi.yaml of Trunkline (${createHash('sha1')
    .update(JSON.stringify(document))
    .digest('hex')}).\n`;

/** The complete contract as YAML. */
export const formatContract = (document: ContractDocument): string =>
  buildHead(document) + dump(addExamples(document), { noRefs: true, lineWidth: 100 });

/** The complete contract as YAML; that of the build, if it was made from this document. */
export function readPublished(document: ContractDocument): string {
  const saved = readSaved();
  return saved?.startsWith(buildHead(document)) ? saved : formatContract(document);
}

function readSaved(): string | undefined {
  try {
    return readFileSync(PUBLISHED_FILE, 'utf8');
  } catch {
    // Nothing was built.
    return undefined;
  }
}
