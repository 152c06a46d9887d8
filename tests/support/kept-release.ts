import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Client } from 'pg';
import { from } from 'pg-copy-streams';
import { finished } from 'node:stream/promises';
import { withClient } from '../../src/data/postgres/with-client';
import { emptyDatabase } from './world';

// An installation of an earlier release: its database, its stored files, and how that release
// answered. `npm run keep-release` makes the files in tests/releases/.

export interface KeptCompany {
  name: string;
  auth: string;
  /** How the release answered, by path and query. */
  answers: Record<string, object>;
}

export interface KeptRelease {
  version: string;
  /** The time of the answers. */
  at: string;
  pepper: string;
  migrations: string[];
  companies: KeptCompany[];
  /** The content of STORAGE_DIR in base64. */
  files: Record<string, string>;
}

export const findReleaseFile = (version: string, name: string): string =>
  join(__dirname, '../releases', version, name);

const unzip = (version: string, name: string): string =>
  gunzipSync(readFileSync(findReleaseFile(version, name))).toString();

export const readRelease = (version: string): KeptRelease =>
  JSON.parse(unzip(version, 'answers.json.gz')) as KeptRelease;

/** Restores the database of a release as it was, its functions included, and returns its URL. */
export async function restoreDatabase(version: string): Promise<string> {
  const url = await emptyDatabase();
  const script = unzip(version, 'database.sql.gz');
  await withClient(new Client({ connectionString: url }), async (client) => {
    for (const part of splitCopies(script))
      if (part.rows === undefined) await client.query(part.text);
      else {
        const sink = client.query(from(part.text));
        sink.end(part.rows);
        await finished(sink);
      }
  });
  return url;
}

interface ScriptPart {
  text: string;
  /** The rows that a COPY takes. */
  rows?: string;
}

/** Splits a script for psql at its COPY commands, which have their rows in the script. */
function* splitCopies(script: string): Generator<ScriptPart> {
  let end = 0;
  for (const match of script.matchAll(/^(COPY .+ FROM stdin);\n([^]*?)^\\\.\n/gm)) {
    yield { text: script.slice(end, match.index) };
    yield { text: match[1]!, rows: match[2]! };
    end = match.index + match[0].length;
  }
  yield { text: script.slice(end) };
}

/** Writes the stored files of a release into a folder. */
export function restoreFiles({ files }: KeptRelease, folder: string): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.from(content, 'base64'));
  }
}
