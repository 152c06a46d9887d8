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

/** Whether the constraint of the column was violated. */
const isDataTooLarge = (error: unknown): boolean =>
  (error as { message?: string }).message?.includes('"leads_data_check"') ?? false;
