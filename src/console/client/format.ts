import { currentZone, toDay } from './zone';

const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const SHORT_DOLLARS = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 0,
});
const PERCENT = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });
const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const SHAPES = {
  time: { ...CLOCK, second: '2-digit' },
  dayTime: { month: 'short', day: 'numeric', ...CLOCK },
  weekTime: { weekday: 'short', ...CLOCK },
  dateTime: { year: 'numeric', month: 'short', day: 'numeric', ...CLOCK },
  day: { year: 'numeric', month: 'short', day: 'numeric' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** Making a format takes longer than using it a thousand times. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

function formatIn(shape: keyof typeof SHAPES, at: Date, timeZone = currentZone()): string {
  const key = `${shape} ${timeZone}`;
  let format = FORMATS.get(key);
  if (!format)
    FORMATS.set(key, (format = new Intl.DateTimeFormat('en-US', { ...SHAPES[shape], timeZone })));
  return format.format(at);
}

/** Stands for a missing value. */
export const NOTHING = '–';
type Maybe<T> = T | null | undefined;
const formatOrNothing =
  <T>(format: (value: T) => string) =>
  (value: Maybe<T>): string =>
    value === null || value === undefined ? NOTHING : format(value);

export const count = formatOrNothing((n: number) => COUNT.format(n));
export const dollars = formatOrNothing((n: number) => DOLLARS.format(n));
/** For axes: $20, $0.5. */
export const shortDollars = formatOrNothing((n: number) => SHORT_DOLLARS.format(n));
export const percent = formatOrNothing((n: number) => PERCENT.format(n));
/** In the zone of the console, as all that follow. */
export const time = formatOrNothing((at: string) => formatIn('time', new Date(at)));
/** The year is said where it is not the present one. */
export const dayTime = formatOrNothing((at: string) => {
  const date = new Date(at);
  const isThisYear = toDay(date).slice(0, 4) === toDay(new Date()).slice(0, 4);
  return formatIn(isThisYear ? 'dayTime' : 'dateTime', date);
});
const WEEK_MS = 7 * 86_400_000;
/** A time to come, by the day of the week where that is plain: `Mon 09:00`. */
export const comingTime = (at: string, now = Date.now()): string =>
  Date.parse(at) - now < WEEK_MS ? formatIn('weekTime', new Date(at)) : dayTime(at);

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;

const countWords = (n: number, name: string): string => `${n} ${name}${n === 1 ? '' : 's'} ago`;

/** `5 minutes ago`; from a day on, the time itself. */
export const ago = formatOrNothing((at: string): string => {
  const minutes = Math.floor((Date.now() - Date.parse(at)) / MINUTE_MS);
  if (minutes >= DAY_MINUTES) return dayTime(at);
  if (minutes >= HOUR_MINUTES) return countWords(Math.floor(minutes / HOUR_MINUTES), 'hour');
  return minutes < 2 ? 'just now' : countWords(minutes, 'minute');
});
const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)/g;

/** A text of the API with the times in it as all others; a try that was announced may be over. */
export const localizeTimes = (message: string, now = Date.now()): string =>
  message
    .replace(/\btried again at (\S+)/, (whole, at: string) =>
      Date.parse(at) > now ? `next try at ${at}` : whole,
    )
    .replace(ISO_TIME, (at) => dayTime(at));

/** A date without a time is the same day everywhere. */
export const day = formatOrNothing((at: string) =>
  at.length === 10 ? formatIn('day', new Date(at), 'UTC') : formatIn('day', new Date(at)),
);
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

/** 95 as `0:01:35`, which spreadsheets read as a length of time. */
export const clockDuration = (seconds: number): string => {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 3_600)}:${two((whole / 60) % 60)}:${two(whole % 60)}`;
};

export const yesNo = (is: boolean): string => (is ? 'yes' : 'no');

/** `no_answer` as `no answer`. */
export const words = formatOrNothing((name: string | number) => String(name).replaceAll('_', ' '));

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `no_answer` as `No answer`. */
export const sentence = (name: string): string => capitalize(name.replaceAll('_', ' '));
