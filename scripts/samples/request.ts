import {
  BASE_PATH,
  completeDocument,
  contract,
  facets,
  readRefName,
  type Operation,
  type Parameter,
} from '../../src/platform/contract/contract';

// The request that a code sample shows: the contract's own example of the body; a parameter gets
// its own example, or the value that a field of its name has in the contract's examples.

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

/** How a sample authenticates; `none`: by a token within the request. */
export type Credentials = 'key_pair' | 'user_token' | 'endpoint_token' | 'none';

export interface SampleRequest {
  method: string;
  /** The path of the contract without the base path, such as /buyers/{id}. */
  template: string;
  path: Record<string, string | number>;
  query: Record<string, Value>;
  /** A credential in the query string that is not a parameter of the operation. */
  token: Record<string, string>;
  credentials: Credentials;
  body: Value | undefined;
  /** Set when the body is a form with a file. */
  file: { field: string; name: string; content: string } | undefined;
  /** The name of a file that is the body itself. */
  audio: string | undefined;
  answer: 'json' | 'text' | 'audio' | 'stream';
}

/** The file that samples send and save. */
export const AUDIO = 'recording.wav';
export const BASE_URL = `http://127.0.0.1:3000${BASE_PATH}`;
const TOKENS: Record<string, string> = {
  lead_token: 'LEAD_TOKEN',
  invitation_token: 'INVITATION_TOKEN',
  confirmation_token: 'CONFIRMATION_TOKEN',
};

const isScalar = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number';

function findFieldExample(name: string): string | number | undefined {
  for (const { value } of Object.values(completeDocument().components.examples)) {
    const example = (value as Record<string, unknown>)[name];
    if (isScalar(example)) return example;
  }
  return undefined;
}

/** Values for names that the contract's examples lack, or that look odd in a URL. */
const FIXED_VALUES: Record<string, string> = {
  ...TOKENS,
  collection: 'action_type',
  caller_id: '+13105550123',
  caller_number: '+13105550123',
};

function pickParameterValue(parameter: Parameter): string | number {
  const { name, schema } = parameter;
  const { types, formats } = facets(schema);
  if (FIXED_VALUES[name]) return FIXED_VALUES[name];
  if (formats.has('uuid') || name === 'uuid') return '0190a6f0-7c1e-7a51-9d2b-3f6f0f6f0a11';
  if (/(^|_)id$/.test(name) && types.has('integer')) return 1;
  const { examples, enum: allowed } = contract.resolve(schema);
  const shown = examples?.[0] ?? findFieldExample(name) ?? allowed?.[0];
  if (isScalar(shown)) return types.has('string') ? String(shown) : shown;
  return types.has('integer') ? 1 : '1';
}

interface MediaType {
  example?: Value;
  examples?: Record<string, { $ref?: string; value?: Value }>;
}

const exampleIn = ({ example, examples = {} }: MediaType): Value | undefined => {
  const [first] = Object.values(examples);
  if (!first?.$ref) return first ? first.value : example;
  return completeDocument().components.examples[readRefName(first.$ref)]!.value as Value;
};

const readContent = ({ path, method }: Operation): Record<string, MediaType> =>
  (completeDocument().paths[path.slice(BASE_PATH.length)]![method]!.requestBody?.content ??
    {}) as Record<string, MediaType>;

const fileField = ({ multipart }: Operation): string | undefined =>
  Object.entries(multipart ? facets(multipart).properties : {}).find(([, schema]) =>
    facets(schema).formats.has('binary'),
  )?.[0];

function pickAnswerKind({ responses, status }: Operation): SampleRequest['answer'] {
  const types = Object.keys(responses[status]?.content ?? { 'application/json': {} });
  if (types.includes('application/json')) return 'json';
  if (types.some((type) => type.startsWith('audio/'))) return 'audio';
  return types.includes('text/event-stream') ? 'stream' : 'text';
}

function buildBody(operation: Operation): Value | undefined {
  const body = exampleIn(readContent(operation)['application/json'] ?? {});
  const wantsToken =
    operation.credentials === 'lead_token' &&
    operation.body !== undefined &&
    'lead_token' in facets(operation.body).properties;
  return wantsToken ? { lead_token: TOKENS.lead_token!, ...(body as object) } : body;
}

export function buildRequest(operation: Operation): SampleRequest {
  const needed = operation.parameters.filter(
    (parameter) => (parameter as { required?: boolean }).required && parameter.in !== 'header',
  );
  const values = (parameterLocation: Parameter['in']) =>
    Object.fromEntries(
      needed.flatMap((parameter) =>
        parameter.in === parameterLocation ? [[parameter.name, pickParameterValue(parameter)]] : [],
      ),
    );
  return {
    method: operation.method,
    template: operation.path.slice(BASE_PATH.length),
    path: values('path'),
    query: values('query'),
    ...buildCredentials(operation),
    body: operation.method === 'get' ? undefined : buildBody(operation),
    file: undefined,
    audio: operation.takes_bare_file ? AUDIO : undefined,
    answer: pickAnswerKind(operation),
  };
}

function buildCredentials(operation: Operation): Pick<SampleRequest, 'credentials' | 'token'> {
  const { credentials } = operation;
  // A stream is that of one agent, and an agent is a user.
  if (pickAnswerKind(operation) === 'stream') return { credentials: 'user_token', token: {} };
  if (credentials === 'account') return { credentials: 'key_pair', token: {} };
  if (credentials === 'webhook_token') return { credentials: 'endpoint_token', token: {} };
  if (credentials === 'lead_token') return { credentials: 'none', token: {} };
  const name = credentials === 'confirmation_token' ? credentials : 'invitation_token';
  return { credentials: 'none', token: { [name]: TOKENS[name]! } };
}

/** The request with a file, for an operation that takes one. */
export function buildUpload(operation: Operation): SampleRequest | undefined {
  const field = fileField(operation);
  const example = exampleIn(readContent(operation)['multipart/form-data'] ?? {});
  if (!field || !example) return undefined;
  const { [field]: content, ...body } = example as Record<string, string>;
  const file = { field, name: 'numbers.csv', content: content! };
  return { ...buildRequest(operation), body: body as Value, file };
}

export function buildTarget({ template, path, query, token }: SampleRequest): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(path[name]!),
  );
  const search = new URLSearchParams(
    Object.entries({ ...query, ...token }).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]),
  ).toString();
  return filled + (search && `?${search}`);
}
