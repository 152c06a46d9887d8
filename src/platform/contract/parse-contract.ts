import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { ContractDocument } from './contract-document';

// Parsing openapi.yaml takes longer than anything else at the start of a program. It is parsed when
// the program is built, and again only if it has changed since.

/** The file of the build, whether this module is in src/ or in dist/. */
const PARSED_FILE = join(__dirname, '../../../dist/contract.json');

interface ParsedContract {
  sha1: string;
  document: ContractDocument;
}

const hashText = (text: string): string => createHash('sha1').update(text).digest('hex');

/** Uses the parsed document of the build if it was made of this text. */
export function parseContract(text: string): ContractDocument {
  const parsed = readParsed();
  return parsed?.sha1 === hashText(text) ? parsed.document : (load(text) as ContractDocument);
}

function readParsed(): ParsedContract | undefined {
  try {
    return JSON.parse(readFileSync(PARSED_FILE, 'utf8')) as ParsedContract;
  } catch {
    // Nothing was built.
    return undefined;
  }
}

/** Saves a parsed contract for all later starts. Renamed into place: programs may read it now. */
function saveParsed(text: string): void {
  const draft = `${PARSED_FILE}.${process.pid}`;
  const parsed: ParsedContract = { sha1: hashText(text), document: load(text) as ContractDocument };
  writeFileSync(draft, JSON.stringify(parsed));
  renameSync(draft, PARSED_FILE);
}

if (require.main === module)
  saveParsed(readFileSync(join(__dirname, '../../../openapi.yaml'), 'utf8'));
