import { contract, facets, type Facets, type Operation } from '../../platform/contract/contract';
import {
  countFaults,
  fault,
  HttpProblem,
  invalid,
  MAX_FAULTS,
  notFound,
  type FieldFault,
  type FieldFaults,
} from '../../platform/errors';
import { suggestionFor } from '../records/suggestion';
import { FORMATS } from './formats';

/** An error of express-openapi-validator. */
export interface ValidatorError {
  /** Pointer to the faulty value, such as /body/name. */
  path: string;
  message: string;
  errorCode?: string;
}

/**
 * The faults of a request, by field: those found while it is read, and those of the validator. Of
 * each the first MAX_FAULTS are kept, and all are counted.
 */
export class Faults {
  /** Without a prototype: field names come from requests. */
  readonly fields = Object.create(null) as FieldFaults;
  count = 0;
  private readonly validated = Object.create(null) as FieldFaults;
  private validatedCount = 0;
  /** Lists that the validator does not see, because one of their items has a fault. */
  private readonly withheld = new Set<string>();
  private isRefused = false;

  add(field: string, message: string): void {
    this.count++;
    if (this.count <= MAX_FAULTS) (this.fields[field] ??= []).push(...invalid(message));
  }

  withhold(field: string): void {
    this.withheld.add(field);
  }

  /** Throws 404 for a fault in the path, where the operation may answer so. */
  addErrors(errors: readonly ValidatorError[], operation: Operation): void {
    if (errors.some(({ path }) => path.startsWith('/params/')) && operation.responses['404'])
      throw notFound();
    this.isRefused = errors.length > 0;
    for (const error of errors)
      if (this.validatedCount < MAX_FAULTS) this.addError(error, operation);
      else this.validatedCount += Number(!REPEATING_KEYWORDS.has(readKeyword(error)));
  }

  private addError(error: ValidatorError, operation: Operation): void {
    const wrong = findUnknownName(error, operation) ?? toFault(error, operation);
    if (!wrong) return;
    const fieldFaults = (this.validated[toField(error.path)] ??= []);
    if (fieldFaults.some(({ message }) => message === wrong.message)) return;
    fieldFaults.push(wrong);
    this.validatedCount++;
  }

  /** Undefined without faults. Where reading found a fault, the validator's do not count. */
  problem(): HttpProblem | undefined {
    if (!this.isRefused) return HttpProblem.fields(this.fields, this.count);
    const validated = Object.fromEntries(
      Object.entries(this.validated).filter(
        ([field]) => !(field in this.fields) && !this.withheld.has(field),
      ),
    );
    const twice = countFaults(this.validated) - countFaults(validated);
    const count = this.count + this.validatedCount - twice;
    return (
      HttpProblem.fields({ ...validated, ...this.fields }, count) ??
      new HttpProblem('invalid_value', 'The request does not match the contract.')
    );
  }
}

/** "/body/business_hours_schedule/0/schedule" → "business_hours_schedule.0.schedule" */
function toField(path: string): string {
  const [, requestPart, ...names] = path.split('/');
  const field = names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
  return field || requestPart || 'body';
}

/** "must match exactly one schema" and the like only repeat what the errors inside them say. */
const REPEATING_KEYWORDS = new Set(['oneOf', 'anyOf', 'allOf', 'if']);
const UNKNOWN_FIELD = new Set(['unevaluatedProperties', 'additionalProperties']);

const readKeyword = ({ errorCode = '' }: ValidatorError): string => errorCode.split('.')[0]!;

/** The fault of a parameter or field that the operation does not have; undefined for others. */
function findUnknownName(error: ValidatorError, operation: Operation): FieldFault | undefined {
  const { path, message } = error;
  const inQuery = message.startsWith('Unknown query parameter');
  if (!inQuery && !UNKNOWN_FIELD.has(readKeyword(error))) return undefined;
  if (!inQuery && isFile(path, operation)) return fault('invalid_file', AS_FILE);
  const name = toField(path).split('.').at(-1)!;
  const hint = suggestionFor(name, listSiblingNames(path, operation));
  return inQuery
    ? fault('unknown_parameter', `is not a parameter of this operation${hint}`)
    : fault('unknown_field', `is not a field of this operation${hint}`);
}

/** The names that are allowed next to an unknown one. */
function listSiblingNames(path: string, operation: Operation): string[] {
  const [, requestPart, ...steps] = path.split('/');
  if (requestPart === 'query')
    return operation.parameters.flatMap(({ in: at, name }) => (at === 'query' ? name : []));
  if (steps.length > 1)
    return Object.keys(facetsAt(path.slice(0, path.lastIndexOf('/')), operation)?.properties ?? {});
  return operation.body ? Object.keys(facets(operation.body).properties) : [];
}

/** The fault in words; undefined for an error that only repeats others. */
function toFault(error: ValidatorError, operation: Operation): FieldFault | undefined {
  const { path, message } = error;
  const keyword = readKeyword(error);
  if (message.startsWith('Empty value')) return fault('invalid_value', 'must not be empty');
  if (keyword === 'required')
    return fault('missing_field', path === '/body' ? 'must be sent' : 'must be given');
  if (REPEATING_KEYWORDS.has(keyword)) return undefined;
  const format = /must match format "(.+)"/.exec(message)?.[1];
  if (format && FORMATS[format]) return fault('invalid_value', FORMATS[format].allowed);
  return fault(
    'invalid_value',
    keyword === 'type' ? `must be ${typeWords(facetsAt(path, operation), message)}` : message,
  );
}

const AS_FILE = 'must be sent as a file, in a body of multipart/form-data';
const isFile = (path: string, operation: Operation): boolean =>
  operation.multipart !== undefined && toField(path) in facets(operation.multipart).properties;

const TYPE_WORDS: Record<string, string> = {
  null: 'blank',
  integer: 'an integer',
  array: 'an array',
  object: 'an object',
};

function typeWords(allowedFacets: Facets | undefined, message: string): string {
  const words = [...(allowedFacets?.types ?? [])].map((type) => TYPE_WORDS[type] ?? `a ${type}`);
  return words.length > 0 ? words.join(' or ') : message.replace(/^must be /, '');
}

function facetsAt(path: string, operation: Operation): Facets | undefined {
  const [, requestPart, first, ...rest] = path.split('/');
  if (!first) return undefined;
  const start = requestPart === 'body' ? bodySchema(operation, first) : parameter(operation, first);
  let at = start && facets(contract.resolve(start));
  for (const step of rest) {
    const next = /^\d+$/.test(step) ? at?.items : at?.properties[step];
    at = next && facets(next);
  }
  return at;
}

const bodySchema = ({ body }: Operation, field: string) => body && facets(body).properties[field];

const parameter = ({ parameters }: Operation, called: string) =>
  parameters.find(({ name }) => name === called)?.schema;
