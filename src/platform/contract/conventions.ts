import { buildProblemBody } from '../problem-body';
import {
  listPlacedOperations,
  readRefName,
  type Content,
  type ContractDocument,
  type Method,
  type RawOperation,
} from './contract-document';

// Conventions that openapi.yaml does not repeat at every operation: an operation that departs from
// one says so.

export function addConventions(document: ContractDocument): void {
  for (const { operation } of listPlacedOperations(document.paths)) {
    addHeaders(operation, document);
    addForm(operation);
    requireBody(operation);
    for (const urls of Object.values(operation.callbacks ?? {}))
      for (const { post } of Object.values(urls)) {
        Object.assign(post, { ...EVENT, ...post });
        requireBody(post);
      }
  }
  completeProblems(document);
  nameWords(document);
  describeParameters(document);
  // Spectral wants them so; the order of the sections is that of x-tagGroups.
  document.tags.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** An operation that other methods of its path do as well stands in openapi.yaml once. */
export function addOtherMethods({ paths }: ContractDocument): void {
  for (const { item, operation } of listPlacedOperations(paths)) {
    const { 'x-other-methods': methods = [] } = operation;
    delete operation['x-other-methods'];
    for (const method of methods) item[method] = copyForMethod(operation, method);
  }
}

const KEY = '#/components/parameters/IdempotencyKey';

function copyForMethod(operation: RawOperation, method: Method): RawOperation {
  const { operationId, description, parameters = [], ...copy } = structuredClone(operation);
  if (method === 'get') delete copy.requestBody;
  return {
    operationId: `${operationId}By${toPascal(method)}` as RawOperation['operationId'],
    ...copy,
    description:
      `${description} The same as the other methods of this path.` +
      (method === 'get' ? ' The response must not be cached. HEAD is refused.' : ''),
    ...(method === 'get' && { 'x-effect': true }),
    parameters: parameters.filter(({ $ref }) => method === 'post' || $ref !== KEY),
  };
}

/** An answer with the checksum of a record has it as ETag too; a list says how old its data are. */
function addHeaders(
  { responses, parameters = [] }: RawOperation,
  document: ContractDocument,
): void {
  const { schemas } = document.components;
  const hasAge = parameters.some(({ $ref }) => $ref === '#/components/parameters/StaleOk');
  for (const [status, response] of Object.entries(responses)) {
    if (!status.startsWith('2')) continue;
    const { $ref } = (response.content as Content | undefined)?.['application/json']?.schema ?? {};
    const hasChecksum = $ref && schemas[readRefName($ref)]!.properties?.checksum;
    const headers = {
      ...(hasChecksum && { ETag: { $ref: '#/components/headers/ETag' } }),
      ...(hasAge && { 'X-Data-Age': { $ref: '#/components/headers/DataAge' } }),
    };
    if (Object.keys(headers).length > 0) response.headers = { ...headers, ...response.headers };
  }
}

/** A body of JSON may be a form, unless its `x-also-accepts` says otherwise. */
function addForm({ requestBody }: RawOperation): void {
  const json = requestBody?.content['application/json'];
  if (!json) return;
  const form = { 'application/x-www-form-urlencoded': { schema: { ...json.schema } } };
  requestBody['x-also-accepts'] ??= form;
}

/** A body is required where it does not say otherwise. */
function requireBody({ requestBody }: Pick<RawOperation, 'requestBody'>): void {
  if (requestBody) requestBody.required ??= true;
}

const EVENT = {
  description:
    'Sent to outgoing webhooks with this `trigger_type` that have no body of their own. ' +
    'Delivered at least once.',
  parameters: ['WebhookId', 'WebhookTimestamp', 'WebhookSignature'].map((name) => ({
    $ref: `#/components/parameters/${name}`,
  })),
  responses: {
    '2XX': { description: 'The event has been delivered.' },
    '4XX': {
      description: 'The event has not been delivered and is sent again; 410 pauses the webhook.',
    },
  },
};

interface ProblemDraft {
  code: string;
  detail?: string;
  instance?: string;
  errors?: Record<string, string[]>;
}

/** The examples of problems have only what does not follow from their codes. */
function completeProblems({ components }: ContractDocument): void {
  const { schemas, responses } = components;
  const codes = schemas.ErrorCode!['x-codes']!;
  schemas.ErrorCode!.enum ??= Object.keys(codes);
  const complete = ({ code, instance = '/api/v1/buyers', errors = {}, ...draft }: ProblemDraft) => {
    const { status } = codes[code]!;
    const [field] = Object.entries(errors).map(([name, texts]) => `${name} ${texts[0]}`);
    const detail = draft.detail ?? field!;
    return buildProblemBody({
      ...{ status, code, detail, instance, errors },
      error_codes: Object.fromEntries(Object.keys(errors).map((name) => [name, [code]])),
      request_id: '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001',
    });
  };
  const problem = schemas.Problem!;
  problem.examples = problem.examples?.map((draft) => complete(draft as ProblemDraft));
  for (const { content } of Object.values(responses))
    for (const [code, example] of Object.entries(
      content?.['application/problem+json']?.examples ?? {},
    ))
      example.value = complete({ ...(example.value as object), code });
}

/** The constants of a Go package share one namespace: each begins with the name of its list. */
function nameWords({ components }: ContractDocument): void {
  for (const [list, schema] of Object.entries(components.schemas))
    if (schema.enum) schema['x-enum-varnames'] ??= schema.enum.map((word) => list + toPascal(word));
}

/** A parameter is described as its values are; every list has the same order by default. */
function describeParameters({ components: { parameters, schemas } }: ContractDocument): void {
  for (const parameter of Object.values(parameters)) {
    const { $ref } = parameter.schema;
    const values = $ref && schemas[readRefName($ref)]!.description;
    const text = values ?? (parameter.name === 'order' ? 'By default `id`.' : undefined);
    if (text) parameter.description ??= text;
  }
}

const toPascal = (word: unknown): string =>
  String(word || 'empty')
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
