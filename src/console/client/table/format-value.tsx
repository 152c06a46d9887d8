import type { ComponentChild } from 'preact';
import type { FieldContract } from '../../noun-contract';
import { formatTimes } from '../editors/hours';
import { count, day, dayTime, dollars, NOTHING, sentence, yesNo } from '../format';
import { Badge } from '../parts/basics';

/** A value of a record, as its type suggests. */
export function formatValue(
  name: string,
  field: FieldContract | undefined,
  value: unknown,
): ComponentChild {
  if (value === null || value === undefined || value === '') return NOTHING;
  if (typeof value === 'boolean') return value ? <Badge tone="good">yes</Badge> : yesNo(false);
  if (typeof value === 'number') return isMoney(name, field) ? dollars(value) : count(value);
  if (Array.isArray(value)) return formatList(value);
  if (typeof value === 'object') return formatMap(value);
  const text = String(value);
  if (field?.format === 'date-time') return dayTime(text);
  if (field?.format === 'date') return day(text);
  return field?.enum ? sentence(text) : formatTimes([text]);
}

/** The contract gives written amounts a format; columns that are only read are known by name. */
const MONEY_NAMES = /(^|_)(revenue|payout|price|cost|amount|balance|credit|total)(_|$)/;
export const isMoney = (name: string, field: FieldContract | undefined): boolean =>
  field?.format === 'money' || (field?.type === 'number' && MONEY_NAMES.test(name));

const MAX_LISTED = 3;

function formatList(values: readonly unknown[]): string {
  const texts = values.filter((value) => typeof value !== 'object').map(String);
  if (texts.length < values.length) return count(values.length);
  const more = texts.length - MAX_LISTED;
  const shown = texts.slice(0, MAX_LISTED).join(', ') || NOTHING;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

const formatMap = (value: object): string =>
  Object.entries(value)
    .map(([name, part]) => `${name}=${String(part)}`)
    .join(', ') || NOTHING;
