import { contract, type Schemas } from './contract/contract';

/** A stable identifier of an error. The contract declares each, with its status. */
export type ErrorCode = Schemas['ErrorCode'];

/** Messages by field: each says what is wrong and what is allowed. */
export type FieldErrors = Record<string, string[]>;

export interface FieldFault {
  code: ErrorCode;
  message: string;
}
export type FieldFaults = Record<string, FieldFault[]>;

export const ERROR_CODES = contract.document.components.schemas.ErrorCode!['x-codes']!;

/** Limit of the faults in one answer, which also has their total count. */
export const MAX_FAULTS = 100;

interface Details {
  faults?: FieldFaults;
  /** How many faults there are, where `faults` does not have all. */
  fault_count?: number | undefined;
  headers?: Record<string, string>;
}

/** An error that is sent as problem details (RFC 9457). Handlers throw no other. */
export class HttpProblem extends Error {
  readonly status: number;
  /** At most MAX_FAULTS. */
  readonly faults: FieldFaults;
  /** Their count before the limit. */
  readonly fault_count: number;
  readonly headers: Record<string, string>;

  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    { faults = {}, fault_count, headers = {} }: Details = {},
  ) {
    super(detail);
    this.status = ERROR_CODES[code]!.status;
    this.faults = limitFaults(faults);
    this.fault_count = fault_count ?? countFaults(faults);
    this.headers = headers;
  }

  static field(field: string, code: ErrorCode, message: string): HttpProblem {
    return new HttpProblem(code, `${field} ${message}`, {
      faults: { [field]: [{ code, message }] },
    });
  }

  /** Undefined without faults. The first field gives code and detail. */
  static fields(faults: FieldFaults, faultCount?: number): HttpProblem | undefined {
    const [first] = Object.entries(faults);
    const [field, [fault]] = first ?? ['', []];
    return (
      fault &&
      new HttpProblem(fault.code, `${field} ${fault.message}`, { faults, fault_count: faultCount })
    );
  }
}

/** The messages of faults alone. */
export const toErrors = (faults: FieldFaults): FieldErrors =>
  Object.fromEntries(
    Object.entries(faults).map(([field, list]) => [field, list.map(({ message }) => message)]),
  );

export const countFaults = (faults: FieldFaults): number =>
  Object.values(faults).reduce((sum, fieldFaults) => sum + fieldFaults.length, 0);

function limitFaults(faults: FieldFaults): FieldFaults {
  if (countFaults(faults) <= MAX_FAULTS) return faults;
  let left = MAX_FAULTS;
  const first = Object.entries(faults).flatMap(([field, fieldFaults]) => {
    const includedFaults = fieldFaults.slice(0, left);
    left -= includedFaults.length;
    return includedFaults.length > 0 ? [[field, includedFaults] as const] : [];
  });
  return Object.fromEntries(first);
}

/** 404 for what does not exist, is deleted, or belongs to another company: all look the same. */
export const notFound = (): HttpProblem => new HttpProblem('not_found', 'There is no such record.');

export const staleChecksum = (): HttpProblem =>
  new HttpProblem(
    'stale_checksum',
    'The record has changed since the checksum in If-Match was read. Read the record again.',
  );

/** Lead tokens are unique over all companies. */
export const leadTokenTaken = (): HttpProblem =>
  HttpProblem.field('lead_token', 'taken', 'is not available; choose another');

/** Throws 422 with every field that is wrong, if there is one. */
export function rejectInvalidData(
  faults: readonly { field: string; message: string; code?: ErrorCode }[],
): void {
  const problem = HttpProblem.fields(
    Object.fromEntries(
      faults.map(({ field, message, code = 'invalid_value' }) => [field, [{ code, message }]]),
    ),
  );
  if (problem) throw problem;
}

export const fault = (code: ErrorCode, message: string): FieldFault => ({ code, message });

export const invalid = (message: string): FieldFault[] => [fault('invalid_value', message)];
