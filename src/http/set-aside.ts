import type { Operation } from '../contract';
import { HttpProblem, type FieldFaults } from '../errors';

type Fields = Record<string, unknown>;

/**
 * The fields of a request that cannot be used, and why. An operation with `x-lenient` goes on
 * without them, and names them in its answer. Faults of required fields refuse the request.
 */
export class SetAside {
  /** Without a prototype: field names come from requests. */
  readonly faults = Object.create(null) as FieldFaults;
  readonly values = Object.create(null) as Fields;

  constructor(private readonly required: ReadonlySet<string>) {}

  static of({ lenient }: Pick<Operation, 'lenient'>): SetAside | undefined {
    return lenient && new SetAside(lenient);
  }

  /**
   * Moves the fields that a problem names out of `fields`. Throws other errors, and a problem of
   * the required fields alone.
   */
  take(error: unknown, fields: Fields, sent: Fields = fields): void {
    if (!(error instanceof HttpProblem) || error.status !== 422) throw error;
    const found = Object.entries(error.faults);
    const isOptional = (field: string) => {
      const name = nameOf(field);
      return !this.required.has(name) && (name in fields || (name in sent && !this.has(name)));
    };
    const refused = found.filter(([field]) => !isOptional(field));
    const problem = HttpProblem.fields(Object.fromEntries(refused));
    if (problem || found.length === 0) throw problem ?? error;
    for (const [field] of found) {
      const name = nameOf(field);
      if (name in fields || name in sent) this.values[name] ??= sent[name] ?? fields[name];
      Reflect.deleteProperty(fields, name);
    }
    this.note(error.faults);
  }

  /** Adds faults of fields that are used nevertheless, in another form. */
  note(faults: FieldFaults): void {
    for (const [field, found] of Object.entries(faults))
      this.faults[nameOf(field)] = [...(this.faults[nameOf(field)] ?? []), ...found];
  }

  private has(name: string): boolean {
    return name in this.values;
  }
}

/** The field of a request that has a fault at any depth. */
const nameOf = (field: string): string => field.split('.')[0]!;
