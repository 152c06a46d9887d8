import type { NumberReader } from '../phone/parse-number';
import type { Known, Note } from './context';
import type { SourceRecord } from './reader';

export interface RowContext {
  read: NumberReader;
  known: Known;
  now: Date;
}

const TRUE = new Set<unknown>([true, 1, '1', 'true', 'yes', 'on']);

/** Reads the fields of a record. What cannot be read is left out, and noted. */
export function fieldsOf(record: SourceRecord, { read, known }: RowContext, note: Note) {
  const value = (field: string): unknown => {
    const found = record[field];
    return found === '' ? null : (found ?? null);
  };
  const readAs =
    <T>(what: string, parse: (found: unknown) => T | undefined) =>
    (field: string): T | null => {
      const found = value(field);
      if (found === null) return null;
      const parsed = parse(found);
      if (parsed === undefined) note(field, `left out: ${JSON.stringify(found)} is no ${what}`);
      return parsed ?? null;
    };
  const numeric = readAs('number', (found) => {
    const parsed = typeof found === 'number' ? found : Number(String(found));
    return Number.isFinite(parsed) ? parsed : undefined;
  });
  return {
    text: readAs('text', (found) => (typeof found === 'object' ? undefined : String(found))),
    number: numeric,
    whole: readAs('whole number', (found) =>
      Number.isSafeInteger(Number(found)) ? Number(found) : undefined,
    ),
    flag: (field: string): boolean => TRUE.has(value(field)),
    time: readAs('time', (found) => {
      const at = new Date(String(found));
      return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
    }),
    object: readAs('object', (found) =>
      typeof found === 'object' && !Array.isArray(found) ? (found as object) : undefined,
    ),
    phone: readAs('telephone number', (found) => read(String(found))),
    /** The id of another record, if that is here. */
    reference: (field: string, resource: string): number | null => {
      const found = value(field);
      if (found === null) return null;
      if (known.get(resource)?.has(Number(found))) return Number(found);
      note(field, `left out: ${resource} ${JSON.stringify(found)} is not here`);
      return null;
    },
  };
}

export type FieldReader = ReturnType<typeof fieldsOf>;
