import { HttpProblem } from '../../platform/errors';

/** Throws 422 for tokens that exceed the limit of a lead; rethrows any other error unchanged. */
export function rejectTooLarge(error: unknown): never {
  if (isDataTooLarge(error))
    throw HttpProblem.field(
      'data',
      'limit_exceeded',
      'must not grow beyond 128 kB together with what the lead has already',
    );
  throw error;
}

/** In a cell, the name of the constraint ends with the number of a shard. */
const isDataTooLarge = (error: unknown): boolean =>
  /"leads_data_check(?:_\d+)?"/.test((error as { message?: string }).message ?? '');
