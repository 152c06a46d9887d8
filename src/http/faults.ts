import { countOf, HttpProblem, invalid, MAX_FAULTS, type FieldFaults } from '../errors';

/** The faults of a request while it is read: the first MAX_FAULTS, and how many there are. */
export class Faults {
  /** Without a prototype: field names come from requests. */
  readonly fields = Object.create(null) as FieldFaults;
  count = 0;

  add(field: string, message: string): void {
    this.count++;
    if (this.count <= MAX_FAULTS) (this.fields[field] ??= []).push(...invalid(message));
  }

  /** What is wrong, if anything is. */
  problem(): HttpProblem | undefined {
    return HttpProblem.fields(this.fields, this.count);
  }

  /** The same together with what another check found; where both name a field, these count. */
  with(other: HttpProblem): HttpProblem {
    const repeated = Object.keys(this.fields).filter((field) => Object.hasOwn(other.faults, field));
    const twice = countOf(Object.fromEntries(repeated.map((name) => [name, other.faults[name]!])));
    const faults = { ...other.faults, ...this.fields };
    return HttpProblem.fields(faults, other.fault_count + this.count - twice) ?? other;
  }
}
