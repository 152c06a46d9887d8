/** Percent with one decimal. */
export const percentOf = (part: number, whole: number): number =>
  Math.round((part / whole) * 1000) / 10;

/** Dollars, as people write them. */
export const cents = (dollars: number): string =>
  `${dollars < 0 ? '-' : ''}$${Math.abs(dollars).toFixed(2)}`;

/** A time span in its largest units, such as 2 h 5 min. */
export function spanOf(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  const [days, hours, rest] = [
    Math.floor(minutes / 1440),
    Math.floor(minutes / 60) % 24,
    minutes % 60,
  ];
  const parts = [days && `${days} d`, hours && `${hours} h`, rest && `${rest} min`].filter(Boolean);
  return parts.length > 0 ? parts.join(' ') : 'less than a minute';
}
