import {
  listPlacedOperations,
  readRefName,
  type ContractDocument,
  type PlacedOperation,
  type RawOperation,
  type Schema,
} from './contract-document';

// An operation of openapi.yaml names its success, and those errors that are peculiar to it. Here
// are the rules by which all others follow from what it takes.

interface Facts extends Pick<PlacedOperation, 'path' | 'operation'> {
  /** The names of its parameters, with those of its path. */
  parameters: ReadonlySet<string>;
  takes_file: boolean;
}

interface Rule {
  status: string;
  /** Its name under `components.responses`. */
  response: string;
  applies: (facts: Facts) => boolean;
}

const always = () => true;
const hasBody = ({ operation }: Facts) => operation.requestBody !== undefined;
const takes = (name: string) => (facts: Facts) => facts.parameters.has(name);
const isSigned = ({ operation }: Facts) => takesScheme(operation, 'carrierSignature');
const takesScheme = ({ security = [] }: RawOperation, name: string): boolean =>
  security.some((scheme) => name in scheme);
const namesRecord = ({ path, operation }: Facts): boolean =>
  path.includes('{') && !operation['x-always-found'];

const RULES: Rule[] = [
  { status: '304', response: 'NotModified', applies: takes('If-None-Match') },
  { status: '400', response: 'BadRequest', applies: hasBody },
  { status: '401', response: 'Unauthorized', applies: always },
  {
    status: '403',
    response: 'Forbidden',
    applies: ({ operation }) =>
      operation['x-scope'] !== undefined || takesScheme(operation, 'leadToken'),
  },
  {
    status: '404',
    response: 'NotFound',
    // A carrier names the company by a number, which none may have.
    applies: (facts) => isSigned(facts) || namesRecord(facts),
  },
  { status: '409', response: 'Conflict', applies: takes('Idempotency-Key') },
  { status: '412', response: 'PreconditionFailed', applies: takes('If-Match') },
  { status: '413', response: 'PayloadTooLarge', applies: hasBody },
  {
    status: '415',
    response: 'UnsupportedMediaType',
    // A carrier's body is read as a form, whatever it says it is.
    applies: (facts) => hasBody(facts) && !isSigned(facts),
  },
  { status: '422', response: 'Unprocessable', applies: always },
  { status: '429', response: 'TooManyRequests', applies: always },
  { status: '500', response: 'InternalError', applies: always },
  { status: '503', response: 'Unavailable', applies: always },
  { status: '507', response: 'InsufficientStorage', applies: ({ takes_file }) => takes_file },
];

function collectParameters(
  { parameters }: ContractDocument['components'],
  { item, operation }: PlacedOperation,
): Set<string> {
  const stated = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
  return new Set(
    stated.map(({ name, $ref }) => ($ref ? parameters[readRefName($ref)]!.name : name)),
  );
}

/** True if the body is a file, or a form that may have one. */
function takesFile({ schemas }: ContractDocument['components'], { operation }: PlacedOperation) {
  const { content, 'x-also-accepts': others } = operation.requestBody ?? {};
  const hasFile = (schema: Schema): boolean => {
    const {
      format,
      properties,
      allOf = [],
      'x-also-fields': fields,
    } = schema.$ref ? schemas[readRefName(schema.$ref)]! : schema;
    const parts = [...Object.values({ ...fields, ...properties }), ...allOf];
    return format === 'binary' || parts.some(hasFile);
  };
  return Object.values({ ...content, ...others }).some(({ schema }) => hasFile(schema));
}

export function addDerivedAnswers({ paths, components }: ContractDocument): void {
  for (const placed of listPlacedOperations(paths)) {
    const { path, operation } = placed;
    const facts = {
      ...{ path, operation, parameters: collectParameters(components, placed) },
      takes_file: takesFile(components, placed),
    };
    const derived = RULES.filter(({ applies }) => applies(facts)).map(({ status, response }) => [
      status,
      { $ref: `#/components/responses/${response}` },
    ]);
    operation.responses = { ...Object.fromEntries(derived), ...operation.responses };
  }
}
