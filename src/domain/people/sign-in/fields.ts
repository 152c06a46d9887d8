import { HttpProblem, fault, type FieldFault, type FieldFaults } from '../../../platform/errors';
import { isMailAddress } from '../../../platform/mail/address';
import { isLonger, isStorable } from '../../../platform/storable-text';

// Bodies of the console's own requests, which the contract does not have. Each field has a reader;
// every field that is wrong or unknown is named.

/** Reads a value that is there, or says what is wrong with it. */
type Reader<T> = (value: unknown) => T | { fault: string };

interface Field<T> {
  read: Reader<T>;
  is_optional: boolean;
}

type Values<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends Field<infer T> ? T : never;
};

const MAX_EMAIL = 255;

const text = (maxLength: number): Field<string> => ({
  is_optional: false,
  read: (value) => {
    if (typeof value !== 'string') return { fault: 'must be a text' };
    if (isLonger(value, maxLength)) return { fault: `must have at most ${maxLength} characters` };
    return isStorable(value) ? value : { fault: 'must have no characters that cannot be stored' };
  },
});

const whole: Field<number> = {
  is_optional: false,
  read: (value) =>
    Number.isSafeInteger(value) && (value as number) > 0
      ? (value as number)
      : { fault: 'must be the id of a record' },
};

const email: Field<string> = {
  is_optional: false,
  read: (value) =>
    typeof value === 'string' && value.length <= MAX_EMAIL && isMailAddress(value.trim())
      ? value.trim().toLowerCase()
      : { fault: 'must be one e-mail address' },
};

const optional = <T>({ read }: Field<T>): Field<T | undefined> => ({ is_optional: true, read });

export const FIELDS = { text, whole, email, optional };

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/** Throws 422 with every fault. */
export function readFields<Fields extends Record<string, Field<unknown>>>(
  body: unknown,
  fields: Fields,
): Values<Fields> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new HttpProblem('malformed_body', 'The body must be a JSON object.');
  const faults: FieldFaults = Object.create(null) as FieldFaults;
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(body))
    if (!Object.hasOwn(fields, name))
      faults[name] = [fault('unknown_field', 'is not a field here')];
  for (const [name, field] of Object.entries(fields)) {
    const value = readField((body as Record<string, unknown>)[name], field);
    if (isFault(value)) faults[name] = [value];
    else values[name] = value;
  }
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
  return values as Values<Fields>;
}

const isFault = (value: unknown): value is FieldFault =>
  typeof value === 'object' && value !== null && 'code' in value;

function readField(value: unknown, { read, is_optional }: Field<unknown>): unknown {
  if (isBlank(value)) return is_optional ? undefined : fault('missing_field', 'must be given');
  const result = read(value);
  return typeof result === 'object' && result !== null && 'fault' in result
    ? fault('invalid_value', String(result.fault))
    : result;
}
