import express, {
  type Application,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { middleware } from 'express-openapi-validator';
import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import {
  BASE_PATH,
  contract,
  facets,
  type ContractDocument,
  type Operation,
  type Parameter,
  acceptedContent,
  listPlacedOperations,
  type Schema,
} from '../../platform/contract/contract';
import { isWholeCents } from '../../platform/dollars';
import { isMailAddress, parseMailbox } from '../../platform/mail/address';
import { parseRange } from '../../platform/time/opening-hours';
import { ianaName } from '../../platform/time/zone';
import { isHttpUrl } from './http-url';
import { buildExcerpt, readResourceName } from './excerpt';
import type { OpenApiMetadata } from './express';
import { OPERATORS, parseFilter, parsePair, splitPairs } from '../../platform/tokens/filters';
import { PATTERN_LIMITS } from '../../platform/tokens/patterns';

interface Format {
  type: 'string' | 'number';
  validate: (value: never) => boolean;
  /** The allowed values, for the error. */
  allowed: string;
}

/** sip:user@host, with a port and parameters. */
const SIP = new RegExp(
  "^sips?:[A-Za-z0-9_.!~*'()&=+$,;?/%-]{1,100}" +
    '@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,200}[A-Za-z0-9])?' +
    '(?::\\d{1,5})?(?:;[A-Za-z0-9_.=-]{1,50}){0,5}$',
);

/** The validator also checks the format of texts that are too long; no valid text is longer. */
const MAX_LENGTH = 5_000;

export function isCallDestination(value: string): boolean {
  if (value.startsWith('sip')) return SIP.test(value);
  return (
    /^\+[1-9]\d{6,14}$/.test(value) && parsePhoneNumberFromString(value)?.isPossible() === true
  );
}

/** The formats of the contract that JSON Schema does not know. */
export const FORMATS: Record<string, Format> = {
  money: {
    type: 'number',
    validate: isWholeCents,
    allowed: 'must be dollars in steps of 0.01',
  },
  'time-zone': {
    type: 'string',
    validate: (value: string) => ianaName(value) !== undefined,
    allowed: 'must be a time zone of /api/v1/collections/time_zone',
  },
  'call-destination': {
    type: 'string',
    validate: isCallDestination,
    allowed:
      'must be a possible telephone number as + and digits, such as +13105550123,' +
      ' or a SIP address such as sip:desk@example.com',
  },
  country: {
    type: 'string',
    validate: isSupportedCountry,
    allowed: 'must be the two capital letters of a country, such as US',
  },
  // Parsed by the operation, whose reply says for each text why it is not a number.
  telephone: { type: 'string', validate: () => true, allowed: 'must be a telephone number' },
  'token-pair': {
    type: 'string',
    validate: (value: string) => parsePair(value) !== undefined,
    allowed: 'must be key:value, the key of lowercase letters, digits and underscores',
  },
  'token-pairs': {
    type: 'string',
    validate: (value: string) => splitPairs(value).every((pair) => parsePair(pair) !== undefined),
    allowed:
      'must be key:value pairs separated by commas,' +
      ' the keys of lowercase letters, digits and underscores',
  },
  'token-filter': {
    type: 'string',
    validate: (value: string) => parseFilter(value) !== undefined,
    allowed: `must be ${OPERATORS}. A regular expression is ${PATTERN_LIMITS}`,
  },
  'time-range': {
    type: 'string',
    validate: (value: string) => parseRange(value) !== undefined,
    allowed: 'must be HH:MM..HH:MM, from 00:00 to 23:59',
  },
  'date-time': {
    type: 'string',
    validate: (value: string) => !Number.isNaN(Date.parse(value)),
    allowed: 'must be a date-time',
  },
  email: {
    type: 'string',
    validate: isMailAddress,
    allowed: 'must be one e-mail address',
  },
  mailbox: {
    type: 'string',
    validate: (value: string) => parseMailbox(value) !== undefined,
    allowed: 'must be one e-mail address, such as desk@example.com or Desk <desk@example.com>',
  },
  // URLs that this service requests are checked further, by code that knows the allowed networks.
  // Carriers send a blank text for none.
  'http-url': {
    type: 'string',
    validate: (value: string) => value === '' || isHttpUrl(value),
    allowed: 'must be an http or https URL',
  },
};

const limitLength = (validate: Format['validate']) => (value: never) =>
  (typeof value !== 'string' || (value as string).length <= MAX_LENGTH) && validate(value);

type Step = RequestHandler & { name: string };

/** Checks a request, already in the contract's types; throws the validator's error. */
export type Validator = (operation: Operation, req: Request, res: Response) => Promise<void>;

let shared: Validator | undefined;

/** It depends on the contract alone: all applications of a process have the same. */
export const validate: Validator = (operation, req, res) =>
  (shared ??= createValidator())(operation, req, res);

/**
 * Runs express-openapi-validator one step at a time; it is created for each resource at the first
 * request. Its route lookup compiles every path again at each request, so it runs once for each
 * operation and its result is kept; src/api/auth/authenticator.ts replaces its security step.
 */
function createValidator(): Validator {
  const app = express().enable('case sensitive routing');
  const document = requestDocument(contract.document);
  const stepsByResource = new Map<string, Steps>();
  const preparedChecks = new WeakMap<Operation, PreparedCheck>();
  const prepare = async (operation: Operation): Promise<PreparedCheck> => {
    const resource = readResourceName(operation.path.slice(BASE_PATH.length));
    let steps = stepsByResource.get(resource);
    if (!steps) stepsByResource.set(resource, (steps = stepsFor(buildExcerpt(document, resource))));
    const metadata = await lookUp(steps.lookup, operation, app);
    const checked = { check: steps.check, metadata, buildMetadata: withoutAbsent(metadata) };
    preparedChecks.set(operation, checked);
    return checked;
  };
  return async (operation, req, res) => {
    const checked = preparedChecks.get(operation) ?? (await prepare(operation));
    // The validator caches compiled schemas by the whole Content-Type, with its parameters: only
    // the media type may reach it.
    const { headers } = req;
    if (headers['content-type'] !== undefined) {
      if (operation.body) headers['content-type'] = headers['content-type'].split(';')[0];
      else delete headers['content-type'];
    }
    const isPlainGet = req.method === 'GET' && !operation.body;
    // The validator compiles the parameters that the first request has: that one gets all of them.
    const metadata =
      isPlainGet && checked.is_compiled ? checked.buildMetadata(req) : checked.metadata;
    req.openapi = { ...metadata, pathParams: { ...req.params } as Record<string, string> };
    await run(checked.check, req, res);
    if (isPlainGet) checked.is_compiled = true;
  };
}

interface PreparedCheck {
  check: Step;
  metadata: OpenApiMetadata;
  buildMetadata: (req: Request) => OpenApiMetadata;
  /** The validator has compiled the operation for GET without a body. */
  is_compiled?: boolean;
}

/**
 * Creates the metadata of an operation for one request: without the query parameters that the
 * request does not have. The validator spends time on each parameter that it is given, and a list
 * has thirty. Its compiled schema still checks all of them.
 */
function withoutAbsent(metadata: OpenApiMetadata): (req: Request) => OpenApiMetadata {
  const { parameters = [] } = metadata.schema as { parameters?: Parameter[] };
  const namedParameters = parameters.map((parameter) => {
    const resolved = contract.resolve(parameter);
    return { parameter, name: isSimple(resolved) ? resolved.name : undefined };
  });
  return (req) => {
    const present = namedParameters.filter(
      ({ name }) => name === undefined || name in req.query || req.originalUrl.includes(name),
    );
    const { schema } = metadata;
    const presentParameters = present.map(({ parameter }) => parameter);
    return { ...metadata, schema: { ...schema, parameters: presentParameters } };
  };
}

/** True for a parameter that is in the query string under its own name alone. */
function isSimple({ in: requestPart, schema }: Parameter): boolean {
  if (requestPart !== 'query' || !schema) return false;
  const { types, properties } = facets(schema);
  return !types.has('object') && Object.keys(properties).length === 0;
}

/** `lookup` finds the operation of a request; `check` validates the request. */
type Steps = Record<'lookup' | 'check', Step>;

function stepsFor(document: ContractDocument): Steps {
  const steps = middleware({
    apiSpec: document as never,
    validateRequests: { allErrors: true, coerceTypes: false },
    validateResponses: false,
    validateSecurity: false,
    validateApiSpec: false,
    fileUploader: false,
    formats: Object.fromEntries(
      Object.entries(FORMATS).map(([name, { type, validate }]) => [
        name,
        { type, validate: limitLength(validate) },
      ]),
    ) as never,
  }) as Step[];
  const lookup = steps.find(({ name }) => name === 'metadataMiddleware')!;
  const check = steps.find(({ name }) => name === 'requestMiddleware')!;
  return { lookup, check };
}

async function lookUp(
  lookup: Step,
  { method, path }: Operation,
  app: Application,
): Promise<OpenApiMetadata> {
  const url = path.replace(/\{\w+\}/g, '1');
  const probe = {
    method: method.toUpperCase(),
    originalUrl: url,
    url,
    path: url,
    baseUrl: '',
    app,
    params: {},
  } as unknown as Request;
  await run(lookup, probe, {} as Response);
  return probe.openapi as OpenApiMetadata;
}

function run(step: RequestHandler, req: Request, res: Response): Promise<void> {
  return new Promise((done, fail) =>
    step(req, res, (error?: unknown) => (error ? fail(error) : done())),
  );
}

/**
 * The contract against which requests are checked: with the media types of x-also-accepts, with the
 * query string of x-fields as a body, and with other extensions as the keywords they stand for.
 */
function requestDocument(document: ContractDocument): ContractDocument {
  const copy = structuredClone(document);
  for (const { operation } of listPlacedOperations(copy.paths)) {
    const content = acceptedContent(operation);
    const fields = operation['x-fields'];
    if (operation.requestBody) operation.requestBody.content = content;
    if (!fields) continue;
    operation.parameters = operation.parameters?.filter(
      (parameter) => contract.resolve(parameter).in !== 'query',
    );
    // A GET has all its fields in the query string.
    operation.requestBody ??= { content: { 'application/json': { schema: fields } } };
  }
  for (const parameter of Object.values(copy.components.parameters)) {
    const omitted = parameter['x-default'];
    if (omitted !== undefined) Object.assign(parameter.schema, { default: omitted });
  }
  useKeywords(copy);
  return copy;
}

function useKeywords(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const schema = node as Schema & { default?: unknown };
  const { 'x-format': format, 'x-values': values, 'x-also-fields': fields } = schema;
  if (format !== undefined) schema.format = format;
  if (values !== undefined) schema.additionalProperties = values;
  if (fields !== undefined) schema.properties = { ...fields, ...schema.properties };
  if (schema['x-accepts']?.includes('null')) allowNull(schema);
  // Only an id may still be a text: an object that was sent as pairs is an object by now.
  if (schema['x-accepts']?.includes('string') && [schema.type].flat().includes('integer'))
    schema.type = [schema.type ?? [], 'string'].flat();
  if (schema['x-list'] !== undefined) {
    delete schema.type;
    schema.$ref = schema['x-list'].$ref!;
  }
  Object.values(node).forEach(useKeywords);
}

function allowNull(schema: Schema): void {
  schema.type = [schema.type ?? [], 'null'].flat();
  if (schema.enum) schema.enum = [...schema.enum, null];
}
