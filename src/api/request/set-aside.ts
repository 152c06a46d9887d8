import type { Operation } from '../../platform/contract/contract';
import { HttpProblem, type FieldFaults } from '../../platform/errors';

type Fields = Record<string, unknown>;

/**
 * The fields of a request that cannot be used, and why. An operation with `x-lenient` goes on
 * without them, and names them in its answer. Faults of required fields refuse the request.
 */
export class IgnoredFields {
  /** Without a prototype: field names come from requests. */
  readonly faults = Object.create(null) as FieldFaults;
  readonly values = Object.create(null) as Fields;

  constructor(private readonly required: ReadonlySet<string>) {}

  static forOperation({ lenient }: Pick<Operation, 'lenient'>): IgnoredFields | undefined {
    return lenient && new IgnoredFields(lenient);
  }

  /**
   * Moves the fields that a problem names out of `fields`. Throws other errors, and a problem of
   * the required fields alone.
   */
  take(error: unknown, fields: Fields, sentFields: Fields = fields): void {
    if (!(error instanceof HttpProblem) || error.status !== 422) throw error;
    const faultEntries = Object.entries(error.faults);
    const isOptional = (field: string) => {
      const name = toFieldName(field);
      return (
        !this.required.has(name) && (name in fields || (name in sentFields && !this.has(name)))
      );
    };
    const refused = faultEntries.filter(([field]) => !isOptional(field));
    const problem = HttpProblem.fields(Object.fromEntries(refused));
    if (problem || faultEntries.length === 0) throw problem ?? error;
    for (const [field] of faultEntries) {
      const name = toFieldName(field);
      if (name in fields || name in sentFields)
        this.values[name] ??= sentFields[name] ?? fields[name];
      Reflect.deleteProperty(fields, name);
    }
    this.note(error.faults);
  }

  /** Adds faults of fields that are used nevertheless, in another form. */
  note(faults: FieldFaults): void {
    for (const [field, fieldFaults] of Object.entries(faults))
      this.faults[toFieldName(field)] = [
        ...(this.faults[toFieldName(field)] ?? []),
        ...fieldFaults,
      ];
  }

  private has(name: string): boolean {
    return name in this.values;
  }
}

/** The field of a request that has a fault at any depth. */
const toFieldName = (field: string): string => field.split('.')[0]!;
