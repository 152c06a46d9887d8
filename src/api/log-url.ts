import { contract, facets, type Operation, type Schema } from '../platform/contract/contract';
import { ianaName } from '../platform/time/zone';
import { OTHER_PATHS } from './reply/other-paths';

// URLs in the log. A value is shown only if it is one of a closed list, or has a form that cannot
// be personal: the request log has many readers, and is kept for long.

type ValueRule = (value: string) => boolean;

const MASK = '***';
/** Nine digits may be a social security number, ten a telephone number. */
const SHORT_NUMBER = /^-?\d{1,8}$/;
const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const BOOLEAN = /^(true|false|yes|no|on|off|1|0)$/i;
const TIME = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?( ?(Z|[+-]\d\d:?\d\d))?)?$/i;
const ANY_UUID = '00000000-0000-4000-8000-000000000000';

const isId: ValueRule = (value) => /^\d{1,8}$/.test(value) || UUID.test(value);

/** A schema with all that it refers to and consists of. */
function listParts(schema: Schema): Schema[] {
  const plain = contract.resolve(schema);
  const parts = [...(plain.allOf ?? []), ...(plain.oneOf ?? []), ...(plain.anyOf ?? [])];
  return [plain, ...parts.flatMap(listParts)];
}

const isReference = ({ pattern, format, 'x-reference': target }: Schema): boolean =>
  target !== undefined ||
  format === 'uuid' ||
  (pattern !== undefined && new RegExp(pattern).test(ANY_UUID));

/** Shows no value of a schema, unless the schema says which values are possible. */
function buildRule(schema: Schema): ValueRule {
  const parts = listParts(schema);
  const words = new Set(
    parts
      .flatMap((part) => part.enum ?? [])
      .flatMap((word) => (word === null ? [] : String(word).toLowerCase())),
  );
  const { types, formats } = facets(schema);
  const isNumber = types.has('integer') || types.has('number');
  const rules: ValueRule[] = [
    (value) => words.has(value.toLowerCase()),
    ...(types.has('boolean') ? [(value: string) => BOOLEAN.test(value)] : []),
    ...(isNumber ? [(value: string) => SHORT_NUMBER.test(value)] : []),
    ...(parts.some(isReference) ? [isId] : []),
    ...(formats.has('date-time') ? [(value: string) => TIME.test(value)] : []),
    ...(formats.has('time-zone') ? [(value: string) => ianaName(value) !== undefined] : []),
    ...parts.flatMap(({ items }) => (items ? [allowEach(buildRule(items))] : [])),
  ];
  return (value) => rules.some((rule) => rule(value));
}

const allowEach =
  (shown: ValueRule): ValueRule =>
  (value) =>
    value.split(',').every((part) => shown(part.trim()));

const FIELDS = new Set(
  Object.values(contract.document.components.schemas).flatMap(({ properties }) =>
    Object.keys(properties ?? {}),
  ),
);

/** The contract declares lists of fields as plain text. */
const COLUMNS = allowEach((value) => FIELDS.has(value));

/** Rules by parameter name, cached by operation. */
const cached = new WeakMap<Operation, Map<string, ValueRule>>();

function findParameterRules(operation: Operation): Map<string, ValueRule> {
  const cachedRules = cached.get(operation);
  if (cachedRules) return cachedRules;
  const shown = new Map<string, ValueRule>();
  for (const parameter of operation.parameters) {
    if (parameter.in === 'header') continue;
    const { name, schema } = parameter;
    shown.set(`${parameter.in} ${name}`, name === 'columns' ? COLUMNS : buildRule(schema));
  }
  if ((operation.merged || operation.method === 'put') && operation.body)
    for (const [field, schema] of Object.entries(facets(operation.body).properties))
      shown.set(field, buildRule(schema));
  cached.set(operation, shown);
  return shown;
}

function decodeText(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** One parameter of a query string. The name of one that is unknown may itself be personal. */
function maskParameter(part: string, parameters: Map<string, ValueRule>): string {
  const at = part.indexOf('=');
  const decodedName = decodeText(at < 0 ? part : part.slice(0, at)) ?? '';
  const [, name = '', rest = ''] = /^([^[\]]*)((?:[[\]].*)?)$/s.exec(decodedName) ?? [];
  const shown = parameters.get(`query ${name}`) ?? parameters.get(name);
  if (!shown) return MASK;
  if (at < 0) return name;
  const raw = part.slice(at + 1);
  const value = decodeText(raw);
  // "ids[]" and "ids[0]" are spellings of a list; what else is in brackets came from the sender.
  const isPlain = /^(\[\d{0,3}\])?$/.test(rest);
  const mayShow = isPlain && value !== undefined && (value === '' || shown(value));
  return `${name}${isPlain ? rest : `[${MASK}]`}=${mayShow ? raw : MASK}`;
}

/** Words of the contract's paths, and of the server's own pages. */
const WORDS = new Set([
  ...contract.operations
    .flatMap(({ path }) => path.split('/'))
    .filter((word) => !word.startsWith('{')),
  ...Object.values(contract.document.components.schemas).flatMap(
    (schema) => schema['x-collection'] ?? [],
  ),
  ...['docs', 'reference', 'openapi.yaml', 'openapi.json', 'livez', 'readyz', 'metrics'],
  ...['console', 'session', 'sessions', 'company', 'password', 'owner', 'show', 'invitation'],
  ...[
    'sign-in',
    'link',
    'open',
    'oidc',
    'callback',
    'code',
    'second-factor',
    'confirm',
    'recovery-codes',
  ],
  'invitations',
  'confirmations',
  ...OTHER_PATHS.flatMap(({ alias }) => alias.split('/')),
]);

const PARAMETERS = new Set(
  contract.operations.flatMap(({ parameters }) => parameters.map(({ name }) => name)),
);

/** A name of the contract is not personal data. */
export const isContractWord: ValueRule = (text) =>
  WORDS.has(text) || FIELDS.has(text) || PARAMETERS.has(text);

/** For a request without an operation, or before its operation is known. */
const maskOtherPath = (path: string): string =>
  path
    .split('/')
    .map((segment) => (WORDS.has(segment) || isId(segment) ? segment : MASK))
    .join('/');

function maskPath(path: string, operation: Operation): string {
  // A path without parameters says nothing that the contract does not.
  if (path === operation.path && !path.includes('{')) return path;
  const [, bare = path, ending = ''] = /^(.*?)((?:\.json|\.csv)?\/?)$/s.exec(path) ?? [];
  const segments = bare.split('/');
  const template = operation.path.split('/');
  if (segments.length !== template.length) return maskOtherPath(path);
  const parameters = findParameterRules(operation);
  const buildMaskedUrl = template.map((word, index) => {
    const segment = segments[index]!;
    const name = /^\{(\w+)\}$/.exec(word)?.[1];
    if (name === undefined) return WORDS.has(segment) ? segment : MASK;
    const isIdentifier = (name === 'id' || name === 'uuid') && isId(segment);
    const shown = parameters.get(`path ${name}`);
    return isIdentifier || WORDS.has(segment) || shown?.(segment) ? segment : MASK;
  });
  return buildMaskedUrl.join('/') + ending;
}

const NO_PARAMETERS = new Map<string, ValueRule>();

/** URLs without masked parts, by operation: most are requested again. */
const unmasked = new WeakMap<Operation, Set<string>>();
/** Limit for one operation. */
const MAX_UNMASKED = 200;
const MAX_CHARS = 500;

/**
 * A URL for the log. The values of its parameters are masked, but for those that the contract
 * knows to be no personal data: words of closed lists, booleans, short numbers, ids, times, time
 * zones and names of columns.
 */
export function maskUrl(url: string, operation?: Operation): string {
  if (!operation) return buildMaskedUrl(url);
  let unmaskedUrls = unmasked.get(operation);
  if (unmaskedUrls?.has(url)) return url;
  const text = buildMaskedUrl(url, operation);
  if (text !== url || url.length > MAX_CHARS || operation.path.includes('{')) return text;
  if (!unmaskedUrls || unmaskedUrls.size >= MAX_UNMASKED)
    unmasked.set(operation, (unmaskedUrls = new Set()));
  unmaskedUrls.add(url);
  return text;
}

function buildMaskedUrl(url: string, operation?: Operation): string {
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  const shown = operation ? maskPath(path, operation) : maskOtherPath(path);
  if (at < 0) return shown;
  const parameters = operation ? findParameterRules(operation) : NO_PARAMETERS;
  const parts = url.slice(at + 1).split('&');
  const query = new Set(parts.map((part) => maskParameter(part, parameters)));
  return `${shown}?${[...query].join('&')}`;
}
