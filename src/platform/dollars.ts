/** Rounds to the cent, half away from zero, as PostgreSQL rounds a numeric. */
export function roundToCents(dollars: number): number {
  // Binary fractions are a little off: 1.005 * 100 is less than 100.5.
  const scaled = Number((Math.abs(dollars) * 100).toPrecision(15));
  const rounded = Math.floor(scaled + 0.5) / 100;
  return dollars < 0 && rounded !== 0 ? -rounded : rounded;
}

/** The error that binary fractions may add to an amount, as in 0.1 + 0.2. */
const MAX_NOISE = 1e-8;

/**
 * Rounds an amount that is a whole number of cents except for binary noise; other amounts are
 * returned unchanged, and refused later. So an amount is compared with 0 and with bounds as it will
 * be stored.
 */
export function readDollars(dollars: number): number {
  const rounded = roundToCents(dollars);
  const noise = Math.max(MAX_NOISE, Math.abs(dollars) * 4 * Number.EPSILON);
  return Math.abs(dollars - rounded) <= noise ? rounded : dollars;
}

export const isWholeCents = (dollars: number): boolean => roundToCents(dollars) === dollars;
