import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { addConventions, addOtherMethods } from './conventions';
import type { ContractDocument } from './contract-document';
import { addDerivedAnswers } from './derived-answers';
import { addEnvelopes } from './envelopes';
import { mergeParts } from './merge-parts';
import { addStandardAnswers } from './standard-answers';
import { formatContract, PUBLISHED_FILE } from './published-contract';

// Parsing openapi.yaml takes longer than anything else at the start of a program. It is parsed when
// the program is built, and again only if it has changed since.

/** The file of the build, whether this module is in src/ or in dist/. */
const PARSED_FILE = join(__dirname, '../../../dist/contract.json');

interface ParsedContract {
  sha1: string;
  document: ContractDocument;
}

const hashText = (text: string): string => createHash('sha1').update(text).digest('hex');

/**
 * The contract with all that follows from it by rule. Uses the parsed document of the build if it
 * was made of this text.
 */
export function parseContract(text: string): ContractDocument {
  const parsed = readParsed();
  const document =
    parsed?.sha1 === hashText(text) ? parsed.document : (load(text) as ContractDocument);
  if (document.components) {
    addOtherMethods(document);
    addStandardAnswers(document);
    addEnvelopes(document);
    mergeParts(document);
    addConventions(document);
    addDerivedAnswers(document);
  }
  return document;
}

function readParsed(): ParsedContract | undefined {
  try {
    return JSON.parse(readFileSync(PARSED_FILE, 'utf8')) as ParsedContract;
  } catch {
    // Nothing was built.
    return undefined;
  }
}

/** Saves a contract for all later starts, as it is parsed and as it is published. */
function saveContract(text: string): void {
  const parsed: ParsedContract = { sha1: hashText(text), document: load(text) as ContractDocument };
  save(PARSED_FILE, JSON.stringify(parsed));
  save(PUBLISHED_FILE, formatContract(parseContract(text)));
}

/** Renamed into place: programs may read the file now. */
function save(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}

if (require.main === module)
  saveContract(readFileSync(join(__dirname, '../../../openapi.yaml'), 'utf8'));
