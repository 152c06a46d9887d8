import { HttpProblem } from '../errors';

/** Refuses with 422 tokens that exceed what a lead can hold; throws any other error as it is. */
export function rejectTooLarge(error: unknown): never {
  if (isDataTooLarge(error))
    throw HttpProblem.field(
      'data',
      'limit_exceeded',
      'must not grow beyond 128 kB together with what the lead has already',
    );
  throw error;
}

/**
 * Whether the constraint of the column was violated. In a cell its name has the number of a shard
 * at its end.
 */
const isDataTooLarge = (error: unknown): boolean =>
  /"leads_data_check(?:_\d+)?"/.test((error as { message?: string }).message ?? '');
