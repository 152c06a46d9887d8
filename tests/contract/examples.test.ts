import {
  completeDocument,
  contract,
  readRefName,
  type Schema,
} from '../../src/platform/contract/contract';
import { ajv } from '../support/worker/contract-check';
import { parseXml } from '../support/xml';

// The examples of the contract are what the server takes and answers: each fits its schema, and
// shows the status that it stands under. Those of errors have a test of their own
// (tests/contract/errors.test.ts).

const { paths, components } = completeDocument();

interface Media {
  schema: Schema;
  examples?: Record<string, { $ref?: string; value?: unknown }>;
}
type Content = Record<string, Media>;
interface Operation {
  operationId: string;
  requestBody?: { $ref?: string; content: Content };
  responses: Record<string, { $ref?: string; content?: Content }>;
  callbacks?: Record<string, Record<string, { post: Operation }>>;
}

/** A media type of a request or a response, with its examples. */
interface DocumentedMedia {
  name: string;
  /** Present in responses. */
  status?: string;
  type: string;
  schema: Schema;
  examples: [string, unknown][];
}

const listMedia = (
  content: Content | undefined,
  at: Pick<DocumentedMedia, 'name' | 'status'>,
): DocumentedMedia[] =>
  Object.entries(content ?? {}).map(([type, { schema, examples = {} }]) => ({
    ...at,
    name: `${at.name} ${type}`,
    type,
    schema,
    examples: Object.entries(examples).map(([key, example]) => [
      key,
      example.$ref ? components.examples[readRefName(example.$ref)]!.value : example.value,
    ]),
  }));

const operations = Object.values(paths).flatMap((item) =>
  Object.values(item).filter((value) => 'operationId' in value),
) as unknown as Operation[];

/** Deliveries to outgoing webhooks. */
const events = operations
  .flatMap(({ callbacks = {} }) => Object.values(callbacks).flatMap(Object.values))
  .map(({ post }: { post: Operation }) => post);

const requests = [...operations, ...events].flatMap(({ operationId: id, requestBody }) =>
  listMedia(requestBody?.content, { name: `${id} request` }),
);
const successes = operations.flatMap(({ operationId: id, responses }) =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, response]) =>
      listMedia(contract.resolve(response).content, { name: `${id} ${status}`, status }),
    ),
);
const documentedMedia = [...requests, ...successes];
const isText = ({ type }: DocumentedMedia) => !/json|form/.test(type);

/** Faults of an example under its schema and status. */
function listFaults({ schema, status }: DocumentedMedia, value: unknown): string[] {
  const validate = ajv.getSchema(`contract${schema.$ref}`);
  if (!validate) return ['its schema is not a component'];
  if (!validate(value)) return [ajv.errorsText(validate.errors)];
  const { properties } = contract.resolve<Schema>({ $ref: schema.$ref! });
  if (!status || properties?.status?.type !== 'integer') return [];
  const shown = String((value as { status: number }).status);
  return shown === status ? [] : [`it shows ${shown}`];
}

test('every operation was looked at', () => {
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(
    contract.operations.map(({ id }) => id).toSorted(),
  );
});

test('every success response and every request body has an example', () => {
  expect(
    documentedMedia
      .filter(({ examples, type }) => examples.length === 0 && type !== 'audio/*')
      .map(({ name }) => name),
  ).toEqual([]);
});

test('every example of JSON and of forms validates, and is of the status it stands under', () => {
  const faults = documentedMedia
    .filter((media) => !isText(media))
    .flatMap((media) =>
      media.examples.flatMap(([key, value]) =>
        listFaults(media, value).map((fault) => `${media.name} ${key}: ${fault}`),
      ),
    );
  expect(faults).toEqual([]);
});

test('every example of a text is a text, and one of TwiML is well-formed', () => {
  const texts = documentedMedia.filter(isText);
  expect(new Set(texts.map(({ type }) => type))).toEqual(
    new Set(['application/octet-stream', 'audio/*', 'text/event-stream', 'text/xml']),
  );
  for (const { name, type, examples } of texts)
    for (const [, value] of examples) {
      expect([name, value]).toEqual([name, expect.any(String)]);
      if (type === 'text/xml') expect(parseXml((value as string).trim()).name).toBe('Response');
    }
});

/** Answers, bodies and their parts that the contract shows whole. */
const countWritten = () => {
  const { schemas, examples } = contract.document.components;
  const ofBodies = Object.entries(schemas).flatMap(([name, { examples: own = [], type }]) =>
    name === 'Problem' || (type && type !== 'object') ? [] : own,
  );
  return Object.keys(examples).length + ofBodies.length;
};

test('at most 61 examples are written as a whole', () => {
  expect(countWritten()).toBeLessThanOrEqual(61);
});

test('every example is shown somewhere', () => {
  const shown = new Set(
    [...JSON.stringify(paths).matchAll(/#\/components\/examples\/(\w+)/g)].map(([, name]) => name),
  );
  expect(Object.keys(components.examples).filter((name) => !shown.has(name))).toEqual([]);
});
