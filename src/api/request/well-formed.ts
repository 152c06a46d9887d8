import { HttpProblem } from '../../platform/errors';
import { isStorable, toStorable } from '../../platform/storable-text';
import { Faults } from './faults';

/** Nesting of objects and lists; no real request is deeper. */
const MAX_DEPTH = 32;
/** Limit over all lists and objects: the longest lists of the contract have a fifth of it. */
const MAX_VALUES = 50_000;
/** Limit of one object; those of the contract have fewer fields, and so has the data of a lead. */
const MAX_FIELDS = 1_000;

const TOO_MANY_VALUES = `must not have more than ${MAX_VALUES} values`;

export const tooManyValues = (): HttpProblem =>
  HttpProblem.field('body', 'invalid_value', TOO_MANY_VALUES);

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING = new Set([0x5b, 0x7b]);

/**
 * Counts the values of a JSON text before it is parsed: making that many objects takes longer than
 * reading the text.
 */
export function hasTooManyValues(json: Uint8Array): boolean {
  if (json.length <= MAX_VALUES) return false;
  let count = 0;
  let inText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!;
    if (inText && byte === BACKSLASH) at++;
    else if (byte === QUOTE) inText = !inText;
    // A value follows a comma, or is the first of its list or object.
    else if (!inText && (byte === COMMA || OPENING.has(byte)) && ++count > MAX_VALUES) return true;
  }
  return false;
}

const SIXTEEN = 16;
const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** True with sixteen digits in a row: each sixteenth byte is looked at. */
export function hasLongInteger(json: Uint8Array): boolean {
  for (let at = SIXTEEN - 1; at < json.length; at += SIXTEEN) {
    if (!isDigit(json[at])) continue;
    let [first, end] = [at, at + 1];
    while (isDigit(json[first - 1])) first--;
    while (isDigit(json[end])) end++;
    if (end - first >= SIXTEEN) return true;
  }
  return false;
}

const TEXTS_AND_NUMBERS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * Parses JSON. An integer beyond 2^53, such as the id of an ad, becomes the text of its digits: as
 * a number it would be another one.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!/\d{16}/.test(text)) return value;
  const quote = (token: string) =>
    /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;
  return JSON.parse(text.replace(TEXTS_AND_NUMBERS, quote));
}

interface Walk {
  faults: Faults;
  /** Where the walk is: names and indexes. They become text only for a fault. */
  path: (string | number)[];
  values: number;
}

/**
 * Throws 422 for text that PostgreSQL cannot store (U+0000, unpaired surrogates), and for values so
 * many, or so deep, that handling them would hold up other requests.
 */
export function requireWellFormed(value: unknown, requestPart: string): void {
  const walk: Walk = { faults: new Faults(), path: [], values: 0 };
  look(value, walk, requestPart);
  if (walk.values > MAX_VALUES) walk.faults.add(requestPart, TOO_MANY_VALUES);
  const problem = walk.faults.problem();
  if (problem) throw problem;
}

export function areStorable(params: Record<string, string>): boolean {
  return Object.values(params).every(isStorable);
}

function look(value: unknown, walk: Walk, requestPart: string): void {
  if (typeof value === 'string') return check(value, walk, requestPart);
  if (typeof value !== 'object' || value === null) return;
  const { path, faults } = walk;
  if (path.length >= MAX_DEPTH)
    return faults.add(
      formatPath(path, requestPart),
      `must not be nested deeper than ${MAX_DEPTH} levels`,
    );
  const isList = Array.isArray(value);
  const keys = isList ? undefined : Object.keys(value);
  if (keys && keys.length > MAX_FIELDS)
    return faults.add(
      formatPath(path, requestPart),
      `must not have more than ${MAX_FIELDS} fields`,
    );
  const length = keys?.length ?? (value as unknown[]).length;
  for (let at = 0; at < length && walk.values <= MAX_VALUES; at++) {
    const key = keys?.[at] ?? at;
    if (typeof key === 'string') check(key, walk, requestPart);
    walk.values++;
    path.push(key);
    look((value as Record<string | number, unknown>)[key], walk, requestPart);
    path.pop();
  }
}

/**
 * The fields of a request with text that PostgreSQL can store. `data` may be the text of a JSON
 * object, with such characters as escapes. Replacements are reported in `faults`.
 */
export function storableFields(source: unknown, faults: Faults): unknown {
  if (typeof source !== 'object' || source === null || Array.isArray(source)) return source;
  const entries = Object.entries(source).map(([name, value]): [string, unknown] => {
    const repair = { replaced: false };
    const key = storableText(name, repair);
    const plain =
      name === 'data' && typeof value === 'string' ? (parseJsonObject(value) ?? value) : value;
    const storableValue = toStorableValue(plain, repair, 1);
    if (repair.replaced)
      faults.add(key, 'must not have characters that cannot be stored; they were replaced');
    return [key, storableValue];
  });
  return Object.fromEntries(entries);
}

interface Repair {
  replaced: boolean;
}

function toStorableValue(value: unknown, repair: Repair, depth: number): unknown {
  if (typeof value === 'string') return storableText(value, repair);
  // Deeper values are refused later.
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => toStorableValue(item, repair, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      storableText(key, repair),
      toStorableValue(inner, repair, depth + 1),
    ]),
  );
}

function storableText(text: string, repair: Repair): string {
  if (isStorable(text)) return text;
  repair.replaced = true;
  return toStorable(text);
}

/** Undefined for a text that is not JSON, whose value may be null. Throws 422 for too many values. */
export function tryJson(text: string): { value: unknown } | undefined {
  if (text.length > MAX_VALUES && hasTooManyValues(Buffer.from(text))) throw tooManyValues();
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}

/** Undefined for a text that is not the JSON of an object. */
export const parseJsonObject = (text: string): object | undefined =>
  text.trimStart().startsWith('{') ? (tryJson(text)?.value as object | undefined) : undefined;

function check(text: string, { path, faults }: Walk, requestPart: string): void {
  const fault = findTextFault(text);
  if (fault !== undefined) faults.add(formatPath(path, requestPart), fault);
}

const formatPath = (path: (string | number)[], requestPart: string): string =>
  path.join('.') || requestPart;

function findTextFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the character U+0000';
  return text.isWellFormed() ? undefined : 'must be well-formed Unicode';
}

/** Parses JSON in a text of a request; undefined for other texts. */
export function jsonIn(text: string, requestPart: string): unknown {
  const json = tryJson(text);
  if (json) requireWellFormed(json.value, requestPart);
  return json?.value;
}
