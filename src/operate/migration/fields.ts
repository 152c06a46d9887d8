import { isHttpUrl } from '../../api/request/http-url';
import type { NumberReader } from '../../data/phone/parse-number';
import { parseInstant } from '../../platform/time/zone';
import type { IdsByResource, Note } from './context';
import { MAX_ID, readId } from './ids';
import { isObject, quote } from './page';
import type { SourceRecord } from './reader';

export interface RowContext {
  read: NumberReader;
  existingIds: IdsByResource;
  now: Date;
}

const TRUE = new Set<unknown>([true, 1, '1', 'true', 'yes', 'on']);
/** Limit of an index row. */
const MAX_CHARS = 255;
/** For text that is in no index. */
const MAX_LONG_CHARS = 10_000;
const MAX_PHONE_CHARS = 100;
/** Limit of a column for data or tokens. */
const MAX_OBJECT_BYTES = 131_072;
const MAX_INT = 2_147_483_647;
/** Amounts have two to four decimals, and fourteen digits in all. */
const MAX_AMOUNT = 9_999_999_999;
const NUMERIC = /^-?\d{1,20}(?:\.\d{1,20})?$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const readNumber = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && NUMERIC.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

const readCount = (value: unknown): number | undefined => {
  const count = readNumber(value);
  return Number.isInteger(count) && count! >= 0 && count! <= MAX_INT ? count : undefined;
};

const readAmount = (value: unknown): number | undefined => {
  const amount = readNumber(value);
  return Math.abs(amount ?? NaN) <= MAX_AMOUNT ? amount : undefined;
};

const readText = (maxChars: number) => (value: unknown) => {
  const text = typeof value === 'object' ? undefined : String(value);
  return text !== undefined && text.length <= maxChars ? text : undefined;
};

/** Also undefined for a time without a year of four digits. */
export const readTime = (value: unknown): Date | undefined =>
  typeof value === 'string' ? parseInstant(value) : undefined;

export const readUuid = (value: unknown): string | undefined =>
  typeof value === 'string' && UUID.test(value) ? value.toLowerCase() : undefined;

const readObject = (value: unknown): object | undefined =>
  isObject(value) && countStoredBytes(value) <= MAX_OBJECT_BYTES ? value : undefined;

/** PostgreSQL writes a space after each comma and colon between values. */
function countStoredBytes(value: object): number {
  const text = JSON.stringify(value);
  const separators = text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/[,:]/g)?.length ?? 0;
  return Buffer.byteLength(text) + separators;
}

/** Reads the fields of a record. Unreadable ones are left out and noted. */
export function buildFieldReader(
  record: SourceRecord,
  { read, existingIds }: RowContext,
  note: Note,
) {
  const value = (field: string): unknown => {
    const rawValue = record[field];
    return rawValue === '' ? null : (rawValue ?? null);
  };
  const readAs =
    <T>(what: string, parse: (rawValue: unknown) => T | undefined) =>
    (field: string): T | null => {
      const rawValue = value(field);
      if (rawValue === null) return null;
      const parsed = parse(rawValue);
      if (parsed === undefined) note(field, `left out: ${quote(rawValue)} is no ${what}`);
      return parsed ?? null;
    };
  return {
    text: readAs(`text of at most ${MAX_CHARS} characters`, readText(MAX_CHARS)),
    longText: readAs(`text of at most ${MAX_LONG_CHARS} characters`, readText(MAX_LONG_CHARS)),
    url: readAs('http or https URL', (rawValue) => {
      const url = readText(MAX_LONG_CHARS)(rawValue);
      return url !== undefined && isHttpUrl(url) ? url : undefined;
    }),
    amount: readAs(`number from -${MAX_AMOUNT} to ${MAX_AMOUNT}`, readAmount),
    count: readAs(`whole number from 0 to ${MAX_INT}`, readCount),
    id: readAs(`id from 1 to ${MAX_ID}`, readId),
    uuid: readAs('uuid', readUuid),
    flag: (field: string): boolean => TRUE.has(value(field)),
    time: readAs('time of the years 1000 to 9998', (rawValue) => readTime(rawValue)?.toISOString()),
    object: readAs(`object of at most ${MAX_OBJECT_BYTES} bytes`, readObject),
    phone: readAs('telephone number', (rawValue) => {
      const text = readText(MAX_PHONE_CHARS)(rawValue);
      return text === undefined ? undefined : read(text);
    }),
    /** The id of another record, if that exists here. */
    reference: (field: string, resource: string): number | null => {
      const rawValue = value(field);
      if (rawValue === null) return null;
      const id = readId(rawValue);
      if (id !== undefined && existingIds.get(resource)?.has(id)) return id;
      note(field, `left out: ${resource} ${quote(rawValue)} is not here`);
      return null;
    },
  };
}

export type FieldReader = ReturnType<typeof buildFieldReader>;
