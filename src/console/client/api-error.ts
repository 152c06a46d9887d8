import type { components } from '../../generated/openapi';
import { localizeTimes, sentence } from './format';

export type Problem = components['schemas']['Problem'];

/** An answer of the API that is not a success. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly problem: Problem | undefined,
  ) {
    super(problem?.detail ?? `The server answered ${status}.`);
  }

  /** The record was changed since it was read. */
  get isOutdated(): boolean {
    return this.status === 412;
  }
}

export interface ProblemText {
  /** Missing where the faults of the fields say all of it. */
  message: string | undefined;
  faults: readonly (readonly [field: string, text: string])[];
}

/** The text of an error, in which nothing stands twice. */
export function describeProblem(error: unknown): ProblemText {
  if (!(error instanceof ApiError)) return { message: toMessage(error), faults: [] };
  if (error.isOutdated)
    return {
      message: 'Somebody else has changed this since you opened it. Nothing was saved.',
      faults: [],
    };
  const { message, problem } = error;
  const fields = Object.entries(problem?.errors ?? {});
  const isRepeated = fields.length > 0 && fields.flat(2).every((text) => message.includes(text));
  return {
    message: isRepeated ? undefined : localizeTimes(message),
    faults: fields.map(([field, texts]) => [sentence(field), localizeTimes(texts.join(', '))]),
  };
}

function toMessage(error: unknown): string {
  if (error instanceof TypeError) return 'The server cannot be reached.';
  return error instanceof Error ? error.message : String(error);
}
