/** 404: what does not exist, is deleted, or belongs to another company. The three look the same. */
export const notFound = (): HttpProblem => new HttpProblem(404, 'There is no such record.');

/** Field by field, what is wrong and what is allowed. */
export type FieldErrors = Record<string, string[]>;

/** The one thing a resource throws: an answer that refuses the request. */
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
/** Refuses with 422, naming every field that is wrong; does nothing when there is none. */
export function rejectInvalidData(faults: readonly { field: string; message: string }[]): void {
  const problem = HttpProblem.fields(
    Object.fromEntries(faults.map(({ field, message }) => [field, [message]])),
  );
  if (problem) throw problem;
}
