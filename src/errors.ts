/** 404 for what does not exist, is deleted, or belongs to another company: all look the same. */
export const notFound = (): HttpProblem => new HttpProblem(404, 'There is no such record.');

/** By field, what is wrong and what is allowed. */
export type FieldErrors = Record<string, string[]>;

/** An error that is sent as problem details (RFC 9457). Handlers throw no other. */
export class HttpProblem extends Error {
  constructor(
    readonly status: number,
    readonly detail: string,
    readonly errors: FieldErrors = {},
    readonly headers: Record<string, string> = {},
  ) {
    super(detail);
  }

  /** 422 on one field. */
  static field(field: string, message: string): HttpProblem {
    return new HttpProblem(422, `${field} ${message}`, { [field]: [message] });
  }

  /** 422 on several fields; undefined when there are none. */
  static fields(errors: FieldErrors): HttpProblem | undefined {
    const [first] = Object.entries(errors);
    return first && new HttpProblem(422, `${first[0]} ${first[1][0]}`, errors);
  }
}

/** Throws 422 with every field that is wrong, if there is one. */
export function rejectInvalidData(faults: readonly { field: string; message: string }[]): void {
  const problem = HttpProblem.fields(
    Object.fromEntries(faults.map(({ field, message }) => [field, [message]])),
  );
  if (problem) throw problem;
}
