import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { ContractDocument } from './contract-document';

// Parsing openapi.yaml takes longer than anything else at the start of a program. It is parsed when
// the program is built, and again only if it has changed since.

/** The file of the build, whether this module is in src/ or in dist/. */
const PARSED = join(__dirname, '../dist/contract.json');

interface Parsed {
  sha1: string;
  document: ContractDocument;
}

const sha1Of = (text: string): string => createHash('sha1').update(text).digest('hex');

/** Uses the parsed document of the build if it was made of this text. */
export function parseContract(text: string): ContractDocument {
  const parsed = readParsed();
  return parsed?.sha1 === sha1Of(text) ? parsed.document : (load(text) as ContractDocument);
}

function readParsed(): Parsed | undefined {
  try {
    return JSON.parse(readFileSync(PARSED, 'utf8')) as Parsed;
  } catch {
    // Nothing was built.
    return undefined;
  }
}

/** Saves a parsed contract for all later starts. Renamed into place: programs may read it now. */
function keepParsed(text: string): void {
  const draft = `${PARSED}.${process.pid}`;
  const parsed: Parsed = { sha1: sha1Of(text), document: load(text) as ContractDocument };
  writeFileSync(draft, JSON.stringify(parsed));
  renameSync(draft, PARSED);
}

if (require.main === module) keepParsed(readFileSync(join(__dirname, '../openapi.yaml'), 'utf8'));
