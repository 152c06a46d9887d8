import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addExamples } from './complete-contract';
import {
  collectComponents,
  listPlacedOperations,
  METHODS,
  readRefName,
  type Content,
  type ContractDocument,
  type CredentialKind,
  type FieldPermission,
  type LeadTokenPower,
  type Method,
  type OperationId,
  type Parameter,
  type RawOperation,
  type Schema,
  type Schemas,
} from './contract-document';
import { parseContract } from './parse-contract';

export { collectComponents, listPlacedOperations, METHODS, readRefName };
export type {
  ContractDocument,
  CredentialKind,
  FieldPermission,
  LeadTokenPower,
  Method,
  OperationId,
  Parameter,
  Schema,
  Schemas,
};

const SCHEMES: Record<string, CredentialKind> = {
  leadToken: 'lead_token',
  invitationToken: 'invitation_token',
  confirmationToken: 'confirmation_token',
  carrierSignature: 'carrier_signature',
};

/** Browsers of any origin may call it and post forms to it: its token is public. */
export const isOpen = ({
  credentials,
  by_lead_token,
}: Pick<Operation, 'credentials' | 'by_lead_token'>): boolean =>
  credentials === 'lead_token' || credentials === 'webhook_token' || by_lead_token !== undefined;

/** One operation of the contract, with its references resolved. */
export interface Operation {
  id: OperationId;
  method: Method;
  /** With the base path, parameters in braces: /api/v1/buyers/{id} */
  path: string;
  credentials: CredentialKind;
  /** Permission the caller needs; absent: any valid credentials. */
  scope: string | undefined;
  /** Permission that a lead token needs. */
  power: LeadTokenPower | undefined;
  /** A GET that changes something: HEAD must not run it. */
  effect: boolean;
  /** Only for callers who see all records of the company. */
  unlimited: boolean;
  company_wide: boolean;
  /** Names of the parameter and fields with records that others may use too. */
  shared: readonly string[];
  acts_later: boolean;
  /** Not in the change log: another log has it. */
  unlogged: boolean;
  own_transactions: boolean;
  /** Decides where a call goes: database connections are reserved for it. */
  routes: boolean;
  /** Only these fields can refuse a request: other wrong fields become warnings. */
  lenient: ReadonlySet<string> | undefined;
  /** A list whose wrong entries are refused one by one, and not the request. */
  rows: string | undefined;
  /** The operation that takes a request with a lead token. */
  by_lead_token: OperationId | undefined;
  /** Its names of fields are accepted in other spellings. */
  foreign_names: boolean;
  /** Field of a carrier's request that has the company's own number. */
  own_number: string | undefined;
  parameters: Parameter[];
  body: Schema | undefined;
  /** The fields of the body may be in the query string too. */
  merged: boolean;
  multipart: Schema | undefined;
  /** A file may be the body itself, without a form. */
  takes_bare_file: boolean;
  media_types: string[];
  status: number;
  responses: Record<string, { content?: Record<string, unknown>; $ref?: string }>;
  csv: boolean;
}

export const BASE_PATH = '/api/v1';

/** Matches the URLs of a path of the contract, below BASE_PATH. */
export const buildPathPattern = (path: string): RegExp =>
  new RegExp(`^${path.slice(BASE_PATH.length).replace(/\{\w+\}/g, '[^/]+')}/?$`);
export const CONTRACT_FILE = join(__dirname, '../../../openapi.yaml');

export interface Contract {
  text: string;
  document: ContractDocument;
  operations: Operation[];
  resolve<T extends { $ref?: string }>(node: T): T;
}

export function readContract(file = CONTRACT_FILE): Contract {
  const text = readFileSync(file, 'utf8');
  const document = parseContract(text);
  const resolve = <T extends { $ref?: string }>(node: T): T => {
    if (!node.$ref) return node;
    const { $ref, ...siblings } = node;
    const target = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document) as T;
    return { ...resolve(target), ...siblings };
  };
  const operations = listPlacedOperations(document.paths).map(({ path, item, ...placed }) =>
    describe({ ...placed, path: BASE_PATH + path, shared: item.parameters ?? [], resolve }),
  );
  return { text, document, operations, resolve };
}

interface OperationSource {
  method: Method;
  path: string;
  operation: RawOperation;
  shared: Parameter[];
  resolve: Contract['resolve'];
}

function describe({ method, path, operation, shared, resolve }: OperationSource): Operation {
  const status = Object.keys(operation.responses).find((code) => code.startsWith('2')) ?? '200';
  const content = acceptedContent(operation);
  const fields = operation['x-fields'];
  const parameters = [...shared, ...(operation.parameters ?? [])].map(resolve);
  return {
    id: operation.operationId,
    method,
    path,
    credentials:
      operation['x-credentials'] ??
      SCHEMES[Object.keys(operation.security?.[0] ?? {})[0] ?? ''] ??
      'account',
    scope: operation['x-scope'],
    power: operation['x-lead-token-permission'],
    effect: operation['x-effect'] === true,
    unlimited: operation['x-unlimited'] === true,
    company_wide: operation['x-company-wide'] === true,
    shared: operation['x-shared'] ?? [],
    acts_later: operation['x-acts-later'] === true,
    unlogged: operation['x-unlogged'] === true,
    own_transactions: operation['x-own-transactions'] === true,
    routes: operation['x-routes'] === true,
    lenient: operation['x-lenient'] && new Set(operation['x-lenient']),
    rows: operation['x-rows'],
    own_number: operation['x-own-number'],
    by_lead_token: operation['x-by-lead-token'],
    foreign_names: operation['x-foreign-names'] === true,
    // With x-fields the query string is read as a body.
    parameters: fields ? parameters.filter((parameter) => parameter.in !== 'query') : parameters,
    body:
      (content['application/json'] ?? content['application/x-www-form-urlencoded'])?.schema ??
      fields,
    merged: fields !== undefined,
    multipart: content['multipart/form-data']?.schema,
    takes_bare_file: Object.entries(content).some(
      ([type, { schema }]) => type !== 'multipart/form-data' && resolve(schema).format === 'binary',
    ),
    media_types: Object.keys(content),
    status: Number(status),
    responses: operation.responses,
    csv: parameters.some(({ name }) => name === 'format'),
  };
}

/**
 * The bodies that an operation accepts: those declared, those of x-also-accepts, and where JSON and
 * forms are accepted, forms of the other encoding too, without files.
 */
export function acceptedContent({ requestBody }: Pick<RawOperation, 'requestBody'>): Content {
  const stated: Content = { ...requestBody?.content, ...requestBody?.['x-also-accepts'] };
  const form = stated['application/x-www-form-urlencoded'];
  const both = form && stated['application/json'] && !stated['multipart/form-data'];
  return both ? { ...stated, 'multipart/form-data': { schema: form.schema } } : stated;
}

export interface Maxima {
  length: number | undefined;
  items: number | undefined;
  properties: number | undefined;
}

/** Maximum lengths of formats whose schemas declare no `maxLength`. */
export const FORMAT_LENGTHS: Readonly<Record<string, number>> = { 'date-time': 64, uuid: 36 };

const toMaxima = ({ maxLength, maxItems, maxProperties, format = '' }: Schema): Maxima => ({
  length: maxLength ?? FORMAT_LENGTHS[format],
  items: maxItems,
  properties: maxProperties,
});

/** The values that a schema allows, combined with its references and the schemas it consists of. */
export interface Facets {
  types: Set<string>;
  formats: Set<string>;
  items: Schema | undefined;
  properties: Record<string, Schema>;
  minLength: number;
  /** Longer text, longer lists and larger objects are not even read. */
  max: Maxima;
  /** Refuses properties that it does not name. */
  closed: boolean;
  accepts: Set<string>;
  /** The values of a closed list by their lower-case form. */
  words: Map<string, string>;
}

/** Without a prototype: field names come from requests, and one may be "constructor". */
const copyWithoutPrototype = <T extends object>(properties: T | undefined): T =>
  Object.assign(Object.create(null) as T, properties);

/** Words of a closed list by lower-case form, without words that differ only by case. */
function indexWords(values: readonly unknown[] = []): Map<string, string> {
  const words = values.filter((value): value is string => typeof value === 'string');
  const lower = words.map((word) => word.toLowerCase());
  const isOnly = (word: string) => lower.indexOf(word) === lower.lastIndexOf(word);
  return new Map(
    words.flatMap((word) => (isOnly(word.toLowerCase()) ? [[word.toLowerCase(), word]] : [])),
  );
}

/** Caches the facets by schema object. */
export function createFacetReader(contract: Contract): (schema: Schema) => Facets {
  const cached = new WeakMap<Schema, Facets>();
  const collect = (schema: Schema): Facets => {
    const cachedFacets = cached.get(schema);
    if (cachedFacets) return cachedFacets;
    const stated = contract.resolve(schema);
    const plain = stated['x-list'] ? contract.resolve(stated['x-list']) : stated;
    const facets: Facets = {
      types: new Set([plain.type ?? []].flat()),
      formats: new Set([plain.format ?? [], plain['x-format'] ?? []].flat()),
      items: plain.items,
      properties: copyWithoutPrototype({ ...plain['x-also-fields'], ...plain.properties }),
      minLength: plain.minLength ?? 0,
      max: toMaxima(plain),
      closed: plain.additionalProperties === false || plain.unevaluatedProperties === false,
      accepts: new Set(plain['x-accepts']),
      words: indexWords(plain.enum),
    };
    cached.set(schema, facets);
    for (const part of [...(plain.allOf ?? []), ...(plain.oneOf ?? []), ...(plain.anyOf ?? [])]) {
      const more = collect(part);
      more.types.forEach((type) => facets.types.add(type));
      more.formats.forEach((format) => facets.formats.add(format));
      more.accepts.forEach((type) => facets.accepts.add(type));
      more.words.forEach((word, lower) => facets.words.set(lower, word));
      facets.items ??= more.items;
      facets.max = {
        length: facets.max.length ?? more.max.length,
        items: facets.max.items ?? more.max.items,
        properties: facets.max.properties ?? more.max.properties,
      };
      facets.properties = copyWithoutPrototype({ ...more.properties, ...facets.properties });
    }
    return facets;
  };
  return collect;
}

/** Defaults that a create sets for omitted properties of a component schema. */
export function readDefaults(schema: keyof Schemas): Record<string, unknown> {
  const { properties } = facets(contract.document.components.schemas[schema]!);
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) =>
      'x-default' in property ? [[name, property['x-default']]] : [],
    ),
  );
}

export const contract = readContract();

let complete: ContractDocument | undefined;
/** The contract with examples everywhere. To compose them takes a while: only documents need it. */
export const completeDocument = (): ContractDocument =>
  (complete ??= addExamples(contract.document));

export const facets = createFacetReader(contract);

export const refusesUnknownFields = ({ body }: Pick<Operation, 'body'>): boolean =>
  body !== undefined && facets(body).closed;
