/** SQLSTATE of a statement that has taken too long; the driver's timeout has no code. */
const CANCELED = '57014';
const TIMEOUT = /timeout/i;

/** Describes why a rule could not be checked, without internal names: customers read it. */
export function describeFault(error: unknown): string {
  const { code, message = '' } = error as { code?: string; message?: string };
  return code === CANCELED || TIMEOUT.test(message)
    ? 'it took longer than a statement may take'
    : 'it failed inside the service; the log of the service has the reason';
}

/** Percent with one decimal. */
export const toPercent = (part: number, whole: number): number =>
  Math.round((part / whole) * 1000) / 10;

/** Dollars, such as -$1.50. */
export const formatDollars = (dollars: number): string =>
  `${dollars < 0 ? '-' : ''}$${Math.abs(dollars).toFixed(2)}`;

/** A duration in its largest units, such as 2 h 5 min. */
export function formatDuration(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  const [days, hours, rest] = [
    Math.floor(minutes / 1440),
    Math.floor(minutes / 60) % 24,
    minutes % 60,
  ];
  const parts = [days && `${days} d`, hours && `${hours} h`, rest && `${rest} min`].filter(Boolean);
  return parts.length > 0 ? parts.join(' ') : 'less than a minute';
}
