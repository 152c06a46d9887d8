import type { components } from '../../generated/openapi';

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
