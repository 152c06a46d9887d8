import { setImmediate } from 'node:timers/promises';
import type { Db } from '../db';
import { isWithheld } from '../../platform/carriers/twilio-words';
import { HttpProblem } from '../../platform/errors';
import {
  internationalReader,
  isAssignable,
  NOT_ASSIGNABLE,
  numberReader,
  reasonFor,
  type NumberReader,
} from './parse-number';
import { holdsSeveral } from './number-text';
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

/** Throws 422 on `field` for a text with more than one number, of which none may be lost. */
export function requireNotSeveral(text: string, field: string): void {
  if (holdsSeveral(text)) requirePossible(undefined, text, field);
}

/** Throws 422 on `field` for a number that no person can have. */
export function requireAssignable<T extends number | undefined>(number: T, field: string): T {
  if (number !== undefined && !isAssignable(number))
    throw HttpProblem.field(field, 'invalid_value', NOT_ASSIGNABLE);
  return number;
}

/** Fewer are a short code or an extension. */
const MIN_CALLER_DIGITS = 7;

/** With its country code, and perhaps without the plus. */
const LONG_NUMBER = /^\d{11,15}$/;

export interface ReportedCaller {
  /** Null for a caller without a number, or who withholds it. */
  number: number | null;
  /** The text that is no number. */
  tokens: { caller_raw?: string };
}

/** The caller or sender as a carrier reports it: anything, for which nothing is refused. */
export async function readReportedCaller(db: Db, text = ''): Promise<ReportedCaller> {
  const digits = text.replace(/\D/g, '').length;
  const isNumber = digits >= MIN_CALLER_DIGITS && !isWithheld(text);
  const read = isNumber ? await loadNumberReader(db) : undefined;
  const number =
    read?.(text) ?? (LONG_NUMBER.test(text.trim()) ? read?.(`+${text.trim()}`) : undefined);
  if (number !== undefined) return { number, tokens: {} };
  return { number: null, tokens: text.trim() ? { caller_raw: text.trim() } : {} };
}

export interface CallerIds {
  /** Each once, ascending. */
  numbers: number[];
  /** How many telephone numbers the entries held: one may hold several. */
  accepted: number;
  rejected: { caller_id: string; reason: string }[];
}

/** Other work runs after these: numbers of some countries take a tenth of a millisecond. */
const CHARS_AT_ONCE = 3_000;

/** Reads many telephone numbers; those that are not possible are listed with their reasons. */
export async function callerNumbers(
  db: Db,
  entries: readonly (string | number)[],
): Promise<CallerIds> {
  const read = await loadNumberReader(db);
  const numbers = new Set<number>();
  const rejected: CallerIds['rejected'] = [];
  let [accepted, chars] = [0, 0];
  for (const entry of entries) {
    const callerId = String(entry);
    const held = [read.several(callerId) ?? []].flat();
    if (held.length === 0) rejected.push({ caller_id: callerId, reason: reasonFor(callerId) });
    accepted += held.length;
    for (const number of held) numbers.add(number);
    chars += callerId.length;
    if (chars < CHARS_AT_ONCE) continue;
    chars = 0;
    await setImmediate();
  }
  return { numbers: [...numbers].sort((a, b) => a - b), accepted, rejected };
}
