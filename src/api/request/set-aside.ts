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

  static forOperation({
    lenient,
    rows,
  }: Pick<Operation, 'lenient' | 'rows'>): IgnoredFields | undefined {
    if (rows !== undefined) return new IgnoredRows(rows);
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

/**
 * The entries of a list that cannot be used, and why: an operation with `x-rows` goes on with the
 * others. Faults elsewhere refuse the request.
 */
export class IgnoredRows extends IgnoredFields {
  /** By the index of the entry as it was sent. */
  readonly faultsByRow = new Map<number, FieldFaults>();
  /** The entries as they were sent. */
  sentRows: readonly unknown[] = [];
  /** The indexes of those that are left. */
  private indexes: readonly number[] | undefined;

  constructor(private readonly list: string) {
    super(new Set());
  }

  override take(error: unknown, fields: Fields): void {
    const rows = fields[this.list];
    if (!(error instanceof HttpProblem) || error.status !== 422 || !Array.isArray(rows))
      throw error;
    const indexes = this.indexes ?? rows.map((_, index) => index);
    if (!this.indexes) this.sentRows = rows;
    const wrong = new Set<number>();
    for (const [field, faults] of Object.entries(error.faults)) {
      const [list, position, ...name] = field.split('.');
      const index = list === this.list ? indexes[Number(position)] : undefined;
      if (index === undefined) throw error;
      const faultsOfRow = this.faultsByRow.get(index) ?? (Object.create(null) as FieldFaults);
      faultsOfRow[name.join('.') || this.list] = faults;
      this.faultsByRow.set(index, faultsOfRow);
      wrong.add(index);
    }
    if (wrong.size === 0) throw error;
    fields[this.list] = rows.filter((_, position) => !wrong.has(indexes[position]!));
    this.indexes = indexes.filter((index) => !wrong.has(index));
  }

  /** The index that an entry had before others were taken away. */
  findIndex(position: number): number {
    return this.indexes ? this.indexes[position]! : position;
  }
}

/** The field of a request that has a fault at any depth. */
const toFieldName = (field: string): string => field.split('.')[0]!;
