import { setImmediate } from 'node:timers/promises';
import type { Db } from '../db';
import { HttpProblem } from '../../platform/errors';
import {
  internationalReader,
  isAssignable,
  NOT_ASSIGNABLE,
  numberReader,
  reasonFor,
  type NumberReader,
} from './parse-number';
import { READ_COUNTRY } from './queries/companies';

/** A reader of telephone numbers; those without country code are of the company's country. */
export async function loadNumberReader({ sql }: Pick<Db, 'sql'>): Promise<NumberReader> {
  const [company] = await sql(READ_COUNTRY, {});
  return numberReader(company!.country);
}

/**
 * Reads a telephone number in any spelling; undefined when none was sent. Throws 422 on `field` for
 * an impossible number.
 */
export async function callerNumber<T extends string | undefined>(
  db: Db,
  text: T,
  field: string,
): Promise<T extends string ? number : number | undefined> {
  if (text === undefined) return undefined as never;
  const read = internationalReader(text) ?? (await loadNumberReader(db));
  return requirePossible(read(text), text, field) as never;
}

/** Throws 422 on `field` if no number was read from `text`. */
export function requirePossible(number: number | undefined, text: string, field: string): number {
  if (number === undefined)
    throw HttpProblem.field(
      field,
      'invalid_value',
      `${reasonFor(text)}; it must be one such as +13105550123 or (310) 555-0123`,
    );
  return number;
}

/** Throws 422 on `field` for a number that no person can have. */
export function requireAssignable<T extends number | undefined>(number: T, field: string): T {
  if (number !== undefined && !isAssignable(number))
    throw HttpProblem.field(field, 'invalid_value', NOT_ASSIGNABLE);
  return number;
}

export interface CallerIds {
  /** Each once, ascending. */
  numbers: number[];
  /** How many of the entries were telephone numbers. */
  accepted: number;
  rejected: { caller_id: string; reason: string }[];
}

/** Other work runs after these: numbers of some countries take a tenth of a millisecond. */
const ENTRIES_AT_ONCE = 200;

/** Reads many telephone numbers; those that are not possible are listed with their reasons. */
export async function callerNumbers(
  db: Db,
  entries: readonly (string | number)[],
): Promise<CallerIds> {
  const read = await loadNumberReader(db);
  const numbers = new Set<number>();
  const rejected: CallerIds['rejected'] = [];
  for (const [n, entry] of entries.entries()) {
    const callerId = String(entry);
    const number = read(callerId);
    if (number === undefined) rejected.push({ caller_id: callerId, reason: reasonFor(callerId) });
    else numbers.add(number);
    if (n % ENTRIES_AT_ONCE === ENTRIES_AT_ONCE - 1) await setImmediate();
  }
  return {
    numbers: [...numbers].sort((a, b) => a - b),
    accepted: entries.length - rejected.length,
    rejected,
  };
}
