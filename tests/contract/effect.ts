// The words of tests/contract/effects.ts.

/**
 * - `label`: the record is found by it (`fulltext` of its list).
 * - `note`: text for people; reading the record returns it.
 * - a code location: the file in which it decides something, and its name there if that differs.
 */
export type Effect = 'label' | 'note' | CodeLocation;
export interface CodeLocation {
  file: string;
  name?: string;
}

export const at = (file: string, name?: string): CodeLocation => ({ file, ...(name && { name }) });

/** The fields of a resource; those of objects within a field with their path. */
export type Effects = Record<string, Effect>;

/** One effect for several fields. */
export const all = (fields: string, effect: Effect): Effects =>
  Object.fromEntries(fields.split(/\s+/).map((field) => [field, effect]));

const METRICS = ['attempt', 'connection', 'buyer_conversion', 'revenue', 'earned_revenue'];
export const limits = (location: CodeLocation, intervals: string, prefix = ''): Effects =>
  Object.fromEntries(
    METRICS.flatMap((metric) =>
      intervals.split(' ').map((interval) => [`${prefix}${metric}_${interval}_limit`, location]),
    ),
  );

export const HOURS = at('src/platform/time/opening-hours.ts');
