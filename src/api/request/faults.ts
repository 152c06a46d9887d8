import {
  countFaults,
  HttpProblem,
  invalid,
  MAX_FAULTS,
  type FieldFaults,
} from '../../platform/errors';

/** The faults of a request while it is read: the first MAX_FAULTS, and how many there are. */
export class Faults {
  /** Without a prototype: field names come from requests. */
  readonly fields = Object.create(null) as FieldFaults;
  count = 0;
  /** Lists that no other check reads, because one of their items has a fault here. */
  private readonly withheld = new Set<string>();

  add(field: string, message: string): void {
    this.count++;
    if (this.count <= MAX_FAULTS) (this.fields[field] ??= []).push(...invalid(message));
  }

  withhold(field: string): void {
    this.withheld.add(field);
  }

  /** Undefined without faults. */
  problem(): HttpProblem | undefined {
    return HttpProblem.fields(this.fields, this.count);
  }

  /** Combines these faults with those of another check; where both name a field, these count. */
  with(otherProblem: HttpProblem): HttpProblem {
    const isOurs = (field: string) => field in this.fields || this.withheld.has(field);
    const otherFaults = Object.entries(otherProblem.faults);
    const twice = Object.fromEntries(otherFaults.filter(([field]) => isOurs(field)));
    const theirs = Object.fromEntries(otherFaults.filter(([field]) => !isOurs(field)));
    const count = otherProblem.fault_count - countFaults(twice) + this.count;
    return HttpProblem.fields({ ...theirs, ...this.fields }, count) ?? otherProblem;
  }
}
