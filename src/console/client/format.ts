const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const WHOLE_DOLLARS = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
});
const PERCENT = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });
const TIME = new Intl.DateTimeFormat('en-US', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const DAY_TIME = new Intl.DateTimeFormat('en-US', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** Stands for a missing value. */
export const NOTHING = '–';
type Maybe<T> = T | null | undefined;
const formatOrNothing =
  <T>(format: (value: T) => string) =>
  (value: Maybe<T>): string =>
    value === null || value === undefined ? NOTHING : format(value);

export const count = formatOrNothing((n: number) => COUNT.format(n));
export const dollars = formatOrNothing((n: number) => DOLLARS.format(n));
/** For axes. */
export const wholeDollars = formatOrNothing((n: number) => WHOLE_DOLLARS.format(n));
export const percent = formatOrNothing((n: number) => PERCENT.format(n));
/** In the zone of the browser. */
export const time = formatOrNothing((at: string) => TIME.format(new Date(at)));
export const dayTime = formatOrNothing((at: string) => DAY_TIME.format(new Date(at)));
export const text = formatOrNothing((value: string | number) => String(value));

const two = (n: number): string => String(Math.floor(n)).padStart(2, '0');

/** 95 as `1:35`, an hour as `1:00:00`. */
export const duration = formatOrNothing((seconds: number) => {
  const minutes = Math.floor(seconds / 60);
  const rest = two(seconds % 60);
  return minutes < 60
    ? `${minutes}:${rest}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
});

/** `no_answer` as `no answer`. */
export const words = formatOrNothing((name: string | number) => String(name).replaceAll('_', ' '));

/** A date for `<input type="datetime-local">`, in the zone of the browser. */
export function localInput(at: Date): string {
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
