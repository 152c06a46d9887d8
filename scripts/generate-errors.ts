import { readFileSync, writeFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import { explainedErrors, type ExplainedError } from '../src/api/reply/error-page';

// Writes the sections of docs/errors.md below the mark, one for each code of the contract.

const FILE = join(__dirname, '../docs/errors.md');
const MARK = '<!-- Made of openapi.yaml by npm run generate:errors. -->';

const formatSection = ({ code, status, cause, cure, example }: ExplainedError): string =>
  [
    `## ${code}`,
    `**${status} ${STATUS_CODES[status]}.** ${cause}`,
    `**What to do.** ${cure}`,
    `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
  ].join('\n\n');

const [intro, rest] = readFileSync(FILE, 'utf8').split(MARK);
if (rest === undefined) throw new Error(`docs/errors.md lacks the line ${MARK}`);
writeFileSync(FILE, `${intro}${MARK}\n\n${explainedErrors().map(formatSection).join('\n\n')}\n`);
