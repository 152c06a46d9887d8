import { contract, facets, type Facets, type Operation } from '../contract';
import { HttpProblem, notFound, type FieldErrors } from '../errors';
import { FORMATS } from './validate';

/** An error of express-openapi-validator. */
export interface ValidatorError {
  /** Where it is, such as /body/name. */
  path: string;
  message: string;
  errorCode?: string;
}

/** The problem for what the validator found: 404 for the path, otherwise 422 on each field. */
export function validationProblem(
  found: readonly ValidatorError[],
  operation?: Operation,
): HttpProblem {
  if (found.some(({ path }) => path.startsWith('/params/'))) return notFound();
  const errors: FieldErrors = Object.create(null);
  for (const error of found) {
    const message = messageOf(error, operation);
    if (message === undefined) continue;
    const field = (errors[fieldOf(error.path)] ??= []);
    if (!field.includes(message)) field.push(message);
  }
  return (
    HttpProblem.fields(errors) ?? new HttpProblem(422, 'The request does not match the contract.')
  );
}

/** "/body/business_hours_schedule/0/schedule" → "business_hours_schedule.0.schedule" */
function fieldOf(path: string): string {
  const [, place, ...names] = path.split('/');
  const field = names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
  return field || place || 'body';
}

/** "must match exactly one schema" and the like only repeat what the errors inside them say. */
const REPEATING = new Set(['oneOf', 'anyOf', 'allOf', 'if']);
const UNKNOWN_FIELD = new Set(['unevaluatedProperties', 'additionalProperties']);

/** What is allowed, in words; undefined for an error that only repeats others. */
function messageOf(
  { path, message, errorCode = '' }: ValidatorError,
  operation?: Operation,
): string | undefined {
  const keyword = errorCode.split('.')[0]!;
  if (message.startsWith('Unknown query parameter')) return 'is not a parameter of this operation';
  if (message.startsWith('Empty value')) return 'must not be empty';
  if (UNKNOWN_FIELD.has(keyword))
    return isFile(path, operation) ? AS_FILE : 'is not a field of this operation';
  if (keyword === 'required') return path === '/body' ? 'must be sent' : 'must be given';
  if (REPEATING.has(keyword)) return undefined;
  const format = /must match format "(.+)"/.exec(message)?.[1];
  if (format && FORMATS[format]) return FORMATS[format].allowed;
  if (keyword === 'type') return `must be ${typeWords(facetsAt(path, operation), message)}`;
  return message;
}

const AS_FILE = 'must be sent as a file, in a body of multipart/form-data';
const isFile = (path: string, operation?: Operation): boolean =>
  operation?.multipart !== undefined && fieldOf(path) in facets(operation.multipart).properties;

const TYPE_WORDS: Record<string, string> = {
  null: 'blank',
  integer: 'an integer',
  array: 'an array',
  object: 'an object',
};

function typeWords(found: Facets | undefined, message: string): string {
  const words = [...(found?.types ?? [])].map((type) => TYPE_WORDS[type] ?? `a ${type}`);
  return words.length > 0 ? words.join(' or ') : message.replace(/^must be /, '');
}

/** The facets of the schema at a path of the validator. */
function facetsAt(path: string, operation?: Operation): Facets | undefined {
  const [, place, first, ...rest] = path.split('/');
  if (!operation || !first) return undefined;
  const start = place === 'body' ? bodySchema(operation, first) : parameter(operation, first);
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
