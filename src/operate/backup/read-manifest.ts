import { StartError } from '../../platform/start-error';
import { refuseEntry, type Entry } from './archive';
import { FORMAT, MANIFEST, PEPPER, TOTALS, type Manifest, type Totals } from './manifest';

// Reads the entries of an archive other than rows and files. They may have been written by anyone:
// they are read up to a limit, and every value must have the shape that a backup gives it.

/** More than any installation needs: its manifest has 100 kB. */
const MAX_JSON_BYTES = 16_777_216;
const MAX_PEPPER_BYTES = 4_096;
const MIN_PEPPER_LENGTH = 32;

const VERSION = /^\d[\w.+-]{0,63}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const MIGRATION = /^\d{14}_\w{1,200}$/;

type Json = Record<string, unknown>;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown, shape: RegExp): value is string =>
  typeof value === 'string' && shape.test(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isRecordWhere = (value: unknown, is: (member: unknown) => boolean): boolean =>
  isRecord(value) && Object.values(value).every(is);
const isListWhere = (value: unknown, is: (member: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(is);

/** The last value of a sequence: ids are JSON numbers. */
const isLastValue = (value: unknown): boolean =>
  isText(value, /^[1-9]\d{0,15}$/) && Number.isSafeInteger(Number(value));

const isManifest = (value: unknown): value is Manifest =>
  isRecord(value) &&
  isText(value.version, VERSION) &&
  isText(value.taken_at, INSTANT) &&
  isListWhere(value.migrations, (name) => isText(name, MIGRATION)) &&
  isRecordWhere(value.columns, (list) => typeof list === 'string') &&
  isRecordWhere(value.sequences, isLastValue);

const isTotals = (value: unknown): value is Totals =>
  isRecord(value) &&
  isRecordWhere(value.rows, isCount) &&
  isCount(value.files) &&
  isListWhere(value.missing_files, (key) => typeof key === 'string');

/** Throws StartError unless this version can read the archive. */
export async function readManifest(entry: Entry | undefined, file: string): Promise<Manifest> {
  if (entry?.name !== MANIFEST) throw new StartError(`${file} is no backup of Trunkline.`);
  const manifest = await readJson(entry, file);
  if (isRecord(manifest) && isText(manifest.version, VERSION) && manifest.format !== FORMAT)
    throw new StartError(
      `${file} was made by Trunkline ${manifest.version}, in a format that this version does not ` +
        'know: restore it with that version.',
    );
  if (!isManifest(manifest)) throw refuseEntry(file, MANIFEST, 'is not what a backup writes there');
  return manifest;
}

export async function readTotals(entry: Entry, file: string): Promise<Totals> {
  const totals = await readJson(entry, file);
  if (!isTotals(totals)) throw refuseEntry(file, TOTALS, 'is not what a backup writes there');
  return totals;
}

export async function readPepper(entry: Entry, file: string): Promise<string> {
  const pepper = await readText(entry, file, MAX_PEPPER_BYTES);
  if (pepper.length < MIN_PEPPER_LENGTH || /\p{Cc}/u.test(pepper))
    throw refuseEntry(file, PEPPER, 'is no pepper');
  return pepper;
}

async function readJson(entry: Entry, file: string): Promise<unknown> {
  const text = await readText(entry, file, MAX_JSON_BYTES);
  try {
    return JSON.parse(text);
  } catch {
    throw refuseEntry(file, entry.name, 'is no JSON');
  }
}

async function readText(entry: Entry, file: string, maxBytes: number): Promise<string> {
  if (entry.bytes > maxBytes) throw refuseEntry(file, entry.name, `has ${entry.bytes} bytes`);
  const pieces: Buffer[] = [];
  for await (const piece of entry.stream as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}
