import { cutText } from '../storable-text';
import { takeOnly, unwrapForm } from './form-software';

const NAME = /^[a-z0-9_]{1,100}$/;

export const LIMITS = { tokens: 200, bytes: 65_536, depth: 5 } as const;

export type Data = Record<string, unknown>;

/** Common names of contact fields; of several that are filled, the first counts. */
const FOREIGN: Record<string, readonly string[]> = {
  caller_id: [
    'caller_id',
    'phone',
    'phone_number',
    'phonenumber',
    'mobile',
    'mobile_phone',
    'mobile_number',
    'cell',
    'cell_phone',
    'cellphone',
    'telephone',
    'tel',
    'primary_phone',
    'home_phone',
    'work_phone',
    'contact_number',
    'contact_phone',
    'caller_number',
    'callerid',
    'day_phone',
    'evening_phone',
    'phone1',
    'phone_1',
  ],
  email: [
    'email',
    'email_address',
    'emailaddress',
    'e_mail',
    'mail',
    'contact_email',
    'work_email',
  ],
  first_name: ['first_name', 'firstname', 'fname', 'given_name', 'givenname', 'first'],
  last_name: ['last_name', 'lastname', 'lname', 'surname', 'family_name', 'familyname', 'last'],
  full_name: ['full_name', 'fullname', 'contact_name'],
  zip: ['zip', 'zip_code', 'zipcode', 'postal_code', 'postalcode', 'postcode', 'zip_postal_code'],
  state: ['state', 'state_province', 'province', 'region', 'state_code'],
  city: ['city', 'town', 'locality'],
  address: ['address', 'address1', 'address_1', 'address_line_1', 'street', 'street_address'],
};

/** Tokens that may hold a ZIP code; of several that are filled, the first counts. */
export const ZIP_TOKENS = ['zip_postal_code', 'zip', 'zip_code', 'postal_code'] as const;

/** Tokens that every lead has, blank or not. */
export const CONTACT_FIELDS: ReadonlySet<string> = new Set(Object.keys(FOREIGN));

/**
 * The token name of a key: `firstName`, `First Name` and `first-name` are first_name. Undefined
 * when no name can be made of it.
 */
export function tokenName(key: string): string | undefined {
  if (NAME.test(key)) return key;
  const name = plain(key);
  return NAME.test(name) ? name : undefined;
}

const plain = (key: string): string =>
  key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
    // The lookbehind keeps this linear for a run of underscores inside a name.
    .replace(/^_+|(?<!_)_+$/g, '');

export interface DataFault {
  field: string;
  message: string;
}

/**
 * The tokens of a submission. `loose` are its keys that are not parameters; those of `data`
 * replace them. Keys become token names.
 */
export function buildTokens(loose: Data, data: Data): { tokens: Data; faults: DataFault[] } {
  const faults: DataFault[] = [];
  const tokens: Data = Object.create(null) as Data;
  for (const [key, value] of [...namesLast(loose), ...namesLast(data)]) {
    const name = tokenName(key);
    if (!name)
      faults.push({
        field: cutText(key, 100) || 'data',
        message: 'must be a name of letters, digits and underscores, at most 100 of them',
      });
    else tokens[name] = value;
  }
  if (Object.keys(tokens).length > LIMITS.tokens)
    faults.push({ field: 'data', message: `must have at most ${LIMITS.tokens} tokens` });
  const deep = Object.entries(tokens).find(([, value]) => isDeeper(value, LIMITS.depth));
  // Too deep a nesting would make JSON.stringify overflow the stack.
  if (deep)
    faults.push({
      field: deep[0],
      message: `must not be nested deeper than ${LIMITS.depth} levels`,
    });
  else if (Buffer.byteLength(JSON.stringify(tokens)) > LIMITS.bytes)
    faults.push({ field: 'data', message: `must be at most ${LIMITS.bytes} bytes as JSON` });
  return { tokens, faults };
}

/**
 * Like `buildTokens`, but refuses nothing: a key without a possible name gets one, which the faults
 * report. `limitTokens` then applies the limits.
 */
export function buildTokensLeniently(
  loose: Data,
  data: Data,
): { tokens: Data; faults: DataFault[] } {
  const faults: DataFault[] = [];
  const tokens: Data = Object.create(null) as Data;
  for (const [key, value] of [...namesLast(loose), ...namesLast(data)]) {
    const name = tokenName(key) ?? newName(key, tokens);
    tokens[name] = value;
    if (tokenName(key) === undefined)
      faults.push({
        field: cutText(key, 100) || 'data',
        message: `is not a name of letters, digits and underscores: kept as the token ${name}`,
      });
  }
  return { tokens, faults };
}

/** The beginning of a name that is too long; a number where there are no letters to use. */
function newName(key: string, usedNames: Data): string {
  const short = cutText(plain(key), 100);
  if (NAME.test(short) && !(short in usedNames)) return short;
  for (let n = 1; ; n++) if (!(`token_${n}` in usedNames)) return `token_${n}`;
}

/**
 * Keeps tokens within the limits of one lead: too deep a value becomes the text of its JSON, and
 * tokens beyond the limits are left out. The faults report both.
 */
export function limitTokens(tokens: Data): { tokens: Data; faults: DataFault[] } {
  const faults: DataFault[] = [];
  const fittingTokens: Data = Object.create(null) as Data;
  let [count, bytes] = [0, 1];
  for (const [name, inputValue] of Object.entries(tokens)) {
    const deep = isDeeper(inputValue, LIMITS.depth);
    const value = deep ? JSON.stringify(inputValue) : inputValue;
    const length = Buffer.byteLength(`${JSON.stringify(name)}:${JSON.stringify(value)},`);
    if (count >= LIMITS.tokens || bytes + length > LIMITS.bytes) {
      faults.push({ field: name, message: `is left out: ${LIMITS_IN_WORDS}` });
      continue;
    }
    [count, bytes] = [count + 1, bytes + length];
    fittingTokens[name] = value;
    if (deep)
      faults.push({
        field: name,
        message: `is nested deeper than ${LIMITS.depth} levels: kept as the text of its JSON`,
      });
  }
  return { tokens: fittingTokens, faults };
}

const LIMITS_IN_WORDS =
  `a submission has at most ${LIMITS.tokens} tokens, ` +
  `and ${LIMITS.bytes} bytes of them as JSON`;

/** Keys that are names already come later, so that they replace converted ones. */
function namesLast(data: Data): [string, unknown][] {
  return Object.entries(data).toSorted(([a], [b]) => Number(NAME.test(a)) - Number(NAME.test(b)));
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/**
 * Flattens data of any shape: nested fields are lifted, lists of name and value become fields, and
 * contact fields get the names they have here, such as `caller_id` and `email`. A filled field of
 * that name is not overwritten. Of two fields of one name the less nested one keeps it; the other
 * gets the names of its parents as a prefix.
 */
export function flattenData(data: Data): Data {
  const fields: Data = Object.create(null) as Data;
  lift(unwrapForm(data), fields);
  for (const [name, aliases] of Object.entries(FOREIGN)) {
    const filledAlias = aliases.find((alias) => isFilled(fields[alias]));
    if (filledAlias) fields[name] = takeOnly(fields[filledAlias]);
  }
  return fields;
}

const isFilled = (value: unknown) =>
  value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === '');

interface NestedData {
  value: Data;
  /** Names of its parents, the outermost first. */
  path: readonly string[];
}

/** Level by level: less nested fields come first. */
function lift(data: Data, fields: Data): void {
  let level: NestedData[] = [{ value: data, path: [] }];
  for (let depth = 0; level.length > 0; depth++) {
    const next: NestedData[] = [];
    for (const { value, path } of level) {
      for (const [key, inner] of Object.entries(value)) {
        const name = tokenName(key);
        if (!name) continue;
        const nested = depth < LIMITS.depth ? findNested(inner, path, name) : undefined;
        if (nested) next.push(nested);
        else placeField(inner, path, name, fields);
      }
    }
    level = next;
  }
}

function findNested(value: unknown, path: readonly string[], name: string): NestedData | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return { value: value as Data, path: [...path, name] };
  const pairs = toPairs(value);
  return pairs && { value: pairs, path };
}

function placeField(value: unknown, path: readonly string[], name: string, fields: Data): void {
  if (!isFilled(value)) {
    if (!(name in fields)) fields[name] = value;
    return;
  }
  const free = isFilled(fields[name]) ? tokenName([...path, name].join('_')) : name;
  if (free && !isFilled(fields[free])) fields[free] = value;
}

const CONTENTS = ['value', 'values', 'string_value'];

/** The object of a list such as `[{ name: 'email', values: ['a@b.c'] }]`, else undefined. */
function toPairs(list: readonly unknown[]): Data | undefined {
  const pairs = list.map((entry) => {
    const { name, key, field, column_id, column_name, ...rest } = (
      typeof entry === 'object' && entry !== null ? entry : {}
    ) as Data;
    const label = name ?? key ?? field ?? column_id ?? column_name;
    const { value, values, string_value } = rest;
    const content = value ?? (Array.isArray(values) ? values[0] : values) ?? string_value ?? null;
    return typeof label === 'string' && CONTENTS.some((content) => content in rest)
      ? ([label, content] as const)
      : undefined;
  });
  return list.length > 0 && pairs.every((pair) => pair !== undefined)
    ? Object.fromEntries(pairs)
    : undefined;
}
