import { acceptedDocument, checkedDocument } from '../../platform/contract/accepted-contract';
import {
  BASE_PATH,
  collectComponents,
  completeDocument,
  type ContractDocument,
} from '../../platform/contract/contract';
import { SAMPLES } from '../../generated/samples';
import {
  GROUPS,
  listEvents,
  ORDERED_TAGS,
  pageDocument,
  type ListedOperation,
  type PageOperation,
  type Paths,
} from './tags';

// The contract as documents: complete, with code samples; with all that is accepted; for Swagger
// UI; and one tag of it for the reference. In the documents for people, needed permissions and
// credentials are described as text.

type Json = Record<string, unknown>;

const TOKENS: Record<string, string> = {
  leadToken: 'Needs a lead token, and nothing else.',
  webhook_token: 'Needs the token of the endpoint, if it has one.',
  invitationToken: 'Needs the token of an invitation.',
  confirmationToken: 'Needs the token of a confirmation.',
  carrierSignature: 'Only the carrier calls this, with its signature.',
};

function needs(operation: PageOperation): string[] {
  const scheme = operation['x-credentials'] ?? Object.keys(operation.security?.[0] ?? {})[0] ?? '';
  const scope = operation['x-scope'];
  return [
    ...(TOKENS[scheme] ? [TOKENS[scheme]] : []),
    ...(scope ? [`Needs permission \`${scope}\`.`] : []),
    ...(scheme || scope ? [] : ['Any valid credentials will do.']),
    ...(operation['x-unlimited']
      ? ['Only for key pairs, superusers and the users of a superuser team.']
      : []),
  ];
}

function mapOperations(paths: Paths, change: (operation: PageOperation) => Json): Json {
  const changed = (value: unknown) =>
    value && typeof value === 'object' && 'responses' in value
      ? change(value as unknown as PageOperation)
      : value;
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(Object.entries(item).map(([key, value]) => [key, changed(value)])),
    ]),
  );
}

const withSamples = (operation: PageOperation): Json => {
  const samples = SAMPLES[operation.operationId ?? ''];
  return { ...operation, ...(samples && { 'x-codeSamples': samples }) };
};

const forPeople = (operation: PageOperation): Json => ({
  ...operation,
  description: [operation.description, needs(operation).join(' ')].filter(Boolean).join('\n\n'),
});

const readPaths = ({ paths }: ContractDocument) => paths as unknown as Paths;
const acceptedPaths = () => readPaths(acceptedDocument());

const addSamples = (document: ContractDocument): Json => ({
  ...document,
  paths: mapOperations(readPaths(document), withSamples),
});

/** For SDK generators: one way to send each request. */
export const publishedDocument = (): Json => addSamples(completeDocument());

/** For tools that check requests: all that the server accepts. */
export const fullDocument = (): Json => addSamples(checkedDocument());

// This server, whatever the contract's example server is.
const SERVERS = [{ url: BASE_PATH, description: 'This server' }];

const toListEntry = ({ tags, operationId, summary, security }: PageOperation): Json => ({
  ...{ tags, operationId, summary, security },
  responses: {},
});

/**
 * The list of operations for Swagger UI, its tags in the order of a newcomer. What an operation
 * has is in a document of its own: Swagger UI needs seconds to resolve the whole contract.
 */
export function swaggerDocument(): Json {
  const paths = Object.entries(acceptedPaths()).map(([path, item]) => {
    const operations = Object.entries(item).filter(([, value]) => 'responses' in value);
    return [path, Object.fromEntries(operations)] as const;
  });
  return {
    ...buildPart({ paths: mapOperations(Object.fromEntries(paths), toListEntry) }),
    tags: ORDERED_TAGS.map(({ name, description }) => ({ name, description })),
    'x-tagGroups': GROUPS.map(({ name, tags }) => ({ name, tags: tags.map((tag) => tag.name) })),
    security: pageDocument.security,
    components: { securitySchemes: pageDocument.components.securitySchemes },
  };
}

function selectPaths(paths: Paths, tag: string): Paths {
  const items = Object.entries(paths).map(([path, item]) => {
    const keptEntries = Object.entries(item).filter(
      ([, value]) => !('responses' in value) || value.tags[0] === tag,
    );
    return [path, Object.fromEntries(keptEntries)] as const;
  });
  return Object.fromEntries(
    items.filter(([, item]) => Object.values(item).some((value) => 'responses' in value)),
  );
}

/** A document of its own for a part of the contract, with all that it refers to. */
function buildPart(part: { paths: Json; webhooks?: Json; tags?: Json[] }): Json {
  const { openapi, info } = acceptedDocument();
  return {
    openapi,
    info: { title: info.title, version: info.version },
    servers: SERVERS,
    ...part,
    components: collectComponents(acceptedDocument(), part),
  };
}

/**
 * Swagger UI loads it when the operation is opened. It resolves no more than the operation, which
 * therefore has the parameters of its path too.
 */
export function operationDocument({ path, method }: ListedOperation): Json {
  const { parameters: shared = [], [method]: operation } = acceptedDocument().paths[path]!;
  const parameters = [...(operation!.parameters ?? []), ...shared];
  const shown = { ...forPeople(operation as unknown as PageOperation), parameters };
  return buildPart({ paths: { [path]: { [method]: shown } } });
}

/** Without security schemes: the description says what a reader needs to know of them. */
const forReaders = (operation: PageOperation): Json => ({
  ...withSamples(forPeople(operation) as never),
  security: [],
  callbacks: undefined,
});

/**
 * RapiDoc resolves OpenAPI 3.0 in a third of the time. A reference has no siblings there: they are
 * merged with what it refers to, as 3.1 does it.
 */
function toVersion30(document: Json): Json {
  const components = document.components as Record<string, Record<string, object>>;
  const merge = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(merge);
    if (typeof node !== 'object' || node === null) return node;
    const { $ref, ...siblings } = node as { $ref?: string };
    if ($ref !== undefined && Object.keys(siblings).length > 0) {
      const [, , kind, name] = $ref.split('/');
      return merge({ ...components[kind!]![name!], ...siblings });
    }
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, merge(value)]));
  };
  return { ...(merge(document) as Json), openapi: '3.0.3' };
}

/** For RapiDoc. */
export function tagDocument(tag: string): Json {
  const paths = selectPaths(acceptedPaths(), tag);
  const webhooks = selectPaths(listEvents(acceptedPaths()), tag);
  return toVersion30(
    buildPart({
      tags: [{ name: tag }],
      paths: mapOperations(paths, forReaders),
      ...(Object.keys(webhooks).length > 0 && { webhooks }),
    }),
  );
}
