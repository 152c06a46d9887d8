import type { FieldContract, Fields } from '../../noun-contract';
import { localizeTimes } from '../format';
import { fromLocalInput, toLocalInput } from '../zone';

// How the values of the API become those of inputs, and back. Nothing here draws.

/** Inputs by field: texts, choices, or for editors the values themselves. */
export type Values = Readonly<Record<string, unknown>>;

export type Control =
  | 'switch'
  | 'choice'
  | 'number'
  | 'money'
  | 'text'
  | 'long_text'
  | 'time_zone'
  | 'date_time'
  | 'reference'
  | 'references'
  | 'texts'
  | 'choices'
  | 'pairs'
  | 'raw';

/** Longer texts get several lines. */
const LONG_TEXT = 500;

/** The input that suits the type of a field; structured values without an editor are raw. */
export function pickControl(field: FieldContract): Control {
  if (field.reference) return field.type === 'array' ? 'references' : 'reference';
  switch (field.type) {
    case 'boolean':
      return 'switch';
    case 'integer':
    case 'number':
      return field.format === 'money' ? 'money' : 'number';
    case 'array':
      return pickListControl(field);
    case 'object':
      return field.values?.type === 'text' ? 'pairs' : 'raw';
    case 'text':
      return pickTextControl(field);
    case 'any':
      return 'raw';
  }
}

function pickListControl({ items }: FieldContract): Control {
  if (items?.reference) return 'references';
  if (items?.enum) return 'choices';
  return items?.type === 'object' || items?.type === 'array' ? 'raw' : 'texts';
}

function pickTextControl({ enum: choices, format, max_length }: FieldContract): Control {
  if (choices) return 'choice';
  if (format === 'time-zone') return 'time_zone';
  if (format === 'date-time') return 'date_time';
  return (max_length ?? 0) > LONG_TEXT && !format ? 'long_text' : 'text';
}

/** A value of the API as its input shows it. */
export function toInput(field: FieldContract, value: unknown): unknown {
  switch (pickControl(field)) {
    case 'switch':
      return value === true;
    case 'number':
    case 'money':
    case 'text':
    case 'long_text':
    case 'time_zone':
    case 'choice':
    case 'reference':
      return value === null || value === undefined ? '' : String(value);
    case 'date_time':
      return typeof value === 'string' ? toLocalInput(new Date(value)) : '';
    case 'references':
    case 'texts':
    case 'choices':
      return Array.isArray(value) ? value.map(String) : [];
    case 'pairs':
    case 'raw':
      return value ?? null;
  }
}

/** An input as the API takes it. An empty input clears the field. */
export function fromInput(field: FieldContract, input: unknown): unknown {
  const control = pickControl(field);
  if (typeof input === 'string') {
    const text = control === 'long_text' ? input : input.trim();
    if (text === '') return field.nullable || control === 'number' ? null : '';
    if (control === 'number' || control === 'money') return Number(text);
    if (control === 'date_time') return fromLocalInput(text).toISOString();
    return TELEPHONE_FORMATS.has(field.format ?? '') ? readTelephone(text) : text;
  }
  return input;
}

const TELEPHONE_FORMATS: ReadonlySet<string> = new Set(['telephone', 'call-destination']);

/** People write numbers of North America as they speak them; the API takes `+` and digits. */
export function readTelephone(text: string): string {
  if (!/^[+\d\s().-]+$/.test(text)) return text;
  const digits = text.replaceAll(/\D/g, '');
  if (text.startsWith('+')) return `+${digits}`;
  if (/^[2-9]\d{9}$/.test(digits)) return `+1${digits}`;
  return /^1[2-9]\d{9}$/.test(digits) ? `+${digits}` : text;
}

/** A fault of an input that the server need not be asked about; undefined if there is none. */
export function findFault(field: FieldContract, input: unknown): string | undefined {
  const control = pickControl(field);
  const isEmpty = input === '' || input === null || (Array.isArray(input) && input.length === 0);
  if (isEmpty) return field.required ? 'is needed' : undefined;
  if (control === 'number' || control === 'money') return findNumberFault(field, String(input));
  if (Array.isArray(input) && field.max_items !== undefined && input.length > field.max_items)
    return `has at most ${field.max_items} entries`;
  if (typeof input === 'string' && input.length > (field.max_length ?? Infinity))
    return `has at most ${field.max_length} characters`;
  return undefined;
}

function findNumberFault({ type, minimum, maximum }: FieldContract, text: string) {
  const number = Number(text);
  if (!Number.isFinite(number)) return 'is a number';
  if (type === 'integer' && !Number.isInteger(number)) return 'is a whole number';
  if (minimum !== undefined && number < minimum) return `is at least ${minimum}`;
  if (maximum !== undefined && number > maximum) return `is at most ${maximum}`;
  return undefined;
}

/** All inputs of a form, of a record or of the defaults of a new one. */
export const toInputs = (fields: Fields, record: Values, reads: Reads = {}): Values =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      toInput(field, record[reads[name] ?? name]),
    ]),
  );

/** The names under which fields are read, where they are written under others. */
export type Reads = Readonly<Record<string, string>>;

/** Order of keys in objects does not matter; that of lists does. */
export const isEqual = (first: unknown, second: unknown): boolean =>
  toComparable(first) === toComparable(second);

const toComparable = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** The fields whose inputs differ. */
export const listChanges = (base: Values, inputs: Values): string[] =>
  Object.keys(inputs).filter((name) => !isEqual(base[name], inputs[name]));

/** The body of a request with these fields. */
export const toBody = (
  fields: Fields,
  inputs: Values,
  names: readonly string[],
): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, fromInput(fields[name]!, inputs[name])]));

/** A field that two people changed: both saw `base`. */
export interface Conflict {
  name: string;
  base: unknown;
  mine: unknown;
  theirs: unknown;
}

/** Somebody else was faster: what they changed, and where both did. */
export interface Clash {
  theirs: readonly Conflict[];
  conflicts: readonly Conflict[];
}

interface Merge {
  /** The latest record with the changes that only I made. */
  inputs: Values;
  /** Only the other changed these. */
  theirs: Conflict[];
  /** Both did, and differently. */
  conflicts: Conflict[];
}

/** Puts my changes on a record that somebody else has changed since I read it. */
export function mergeChanges(base: Values, mine: Values, latest: Values): Merge {
  const describe = (name: string): Conflict => ({
    name,
    base: base[name],
    mine: mine[name],
    theirs: latest[name],
  });
  const changedByMe = new Set(listChanges(base, mine));
  const changedByThem = listChanges(base, latest);
  const conflicts = changedByThem
    .filter((name) => changedByMe.has(name) && !isEqual(mine[name], latest[name]))
    .map(describe);
  return {
    inputs: {
      ...latest,
      ...Object.fromEntries([...changedByMe].map((name) => [name, mine[name]])),
    },
    theirs: changedByThem.filter((name) => !changedByMe.has(name)).map(describe),
    conflicts,
  };
}

/** People choose from the list of the form; programs read that of the API. */
const toFormWords = (fault: string): string =>
  localizeTimes(
    fault
      .replace(/^must be a time zone of \/api\/.*/, 'is unknown: choose a time zone of the list')
      .replace(/ for a rule of kind \w+$/, ' for such a rule'),
  );

/** The faults of an answer by field: `hours[0].times` belongs to `hours`. */
export function groupFaults(
  errors: Readonly<Record<string, readonly string[]>>,
  fields: Fields,
): { byField: Record<string, string[]>; others: string[] } {
  const byField: Record<string, string[]> = {};
  const others: string[] = [];
  for (const [path, faults] of Object.entries(errors)) {
    const name = /^[^.[]+/.exec(path)?.[0] ?? path;
    const inside = path.slice(name.length).replace(/^\./, '');
    const texts = faults
      .map(toFormWords)
      .map((fault) => (inside === '' ? fault : `${inside} ${fault}`));
    if (name in fields) (byField[name] ??= []).push(...texts);
    else others.push(...texts.map((text) => `${name.replaceAll('_', ' ')} ${text}`));
  }
  return { byField, others };
}
