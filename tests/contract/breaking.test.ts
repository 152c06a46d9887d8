import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dropGained } from '../../scripts/breaking/open-lists';
import type { ContractDocument } from '../../src/platform/contract/contract-document';
import { breakingChanges, compare, isMajor, type Report } from '../../scripts/breaking/changes';

// Each change is made to an operation of its own, so that one comparison tells of them all.

type Json = Record<string, unknown>;
interface Contract {
  parameters: Json[];
  body: Json;
  required_body: boolean;
  answers: Record<string, Json>;
  reply: Json;
}
type Change = (operation: Contract) => void;

const operation = (): Contract => ({
  parameters: [
    { name: 'order', in: 'query', schema: { type: 'string', enum: ['id', 'name'] } },
    { name: 'page', in: 'query', schema: { type: 'integer', maximum: 100 } },
  ],
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: {
      name: { type: 'string', maxLength: 50 },
      note: { type: ['string', 'null'] },
      kind: { type: 'string', enum: ['a', 'b'] },
      inner: { type: 'object', properties: { deep: { type: 'string' } } },
    },
  },
  required_body: false,
  answers: { 'application/json': {}, 'text/plain': {} },
  reply: {
    type: 'object',
    required: ['id', 'name'],
    properties: {
      id: { type: 'integer' },
      name: { type: 'string' },
      state: { type: 'string', enum: ['on', 'off'] },
      extra: { type: 'string' },
    },
  },
});

const readProperties = (schema: Json) => schema.properties as Record<string, Json>;

/** Changes that break a client, and what is said of them. */
const BREAKING: Record<string, [said: RegExp, change: Change]> = {
  'a parameter is removed': [/`page`.* was removed/, ({ parameters }) => void parameters.pop()],
  'a parameter becomes required': [
    /`page`.* required/,
    ({ parameters }) => (parameters[1]!.required = true),
  ],
  'a required parameter is added': [
    /`since`/,
    ({ parameters }) =>
      parameters.push({ name: 'since', in: 'query', required: true, schema: { type: 'string' } }),
  ],
  'a parameter has another type': [
    /[Tt]ype/,
    ({ parameters }) => (parameters[1]!.schema = { type: 'boolean' }),
  ],
  'a parameter has a value less': [
    /`?name`?/,
    ({ parameters }) => (parameters[0]!.schema = { type: 'string', enum: ['id'] }),
  ],
  'a parameter is bounded more narrowly': [
    /bound.*'<= 10'/,
    ({ parameters }) => (parameters[1]!.schema = { type: 'integer', maximum: 10 }),
  ],
  'a field of the request is removed': [
    /`note` .*was removed/,
    ({ body }) => delete readProperties(body).note,
  ],
  'a field of an open object in the request is removed': [
    /^.*: Field `deep` of the request was removed\.$/,
    ({ body }) => (readProperties(body).inner!.properties = {}),
  ],
  'a field of the request becomes required': [
    /`note`/,
    ({ body }) => (body.required = ['name', 'note']),
  ],
  'a field of the request may not be null any more': [
    /[Tt]ype/,
    ({ body }) => (readProperties(body).note = { type: 'string' }),
  ],
  'a field of the request may be less long': [
    /maxLength/,
    ({ body }) => (readProperties(body).name = { type: 'string', maxLength: 5 }),
  ],
  'a field of the request has a value less': [
    /`?b`?/,
    ({ body }) => (readProperties(body).kind = { type: 'string', enum: ['a'] }),
  ],
  'a body becomes required': [/required/, (changed) => (changed.required_body = true)],
  'a field of the response is removed': [
    /`extra`/,
    ({ reply }) => delete readProperties(reply).extra,
  ],
  'a field of the response has another type': [
    /[Tt]ype/,
    ({ reply }) => (readProperties(reply).id = { type: 'string' }),
  ],
  'a field of the response may be null': [
    /[Tt]ype/,
    ({ reply }) => (readProperties(reply).name = { type: ['string', 'null'] }),
  ],
  'a field of the response may be absent': [/`name`/, ({ reply }) => (reply.required = ['id'])],
  // A client whose enum does not have it fails when it reads it.
  'a field of the response has a value more': [
    /dim/,
    ({ reply }) => (readProperties(reply).state = { type: 'string', enum: ['on', 'off', 'dim'] }),
  ],
  'a media type of the response is removed': [
    /`text\/plain`/,
    ({ answers }) => delete answers['text/plain'],
  ],
};

test('lists that are marked as open may gain values, and only they', () => {
  const build = (values: string[]) =>
    ({
      components: {
        schemas: { open: { enum: values, 'x-open': true }, closed: { enum: values } },
      },
    }) as unknown as ContractDocument;
  const now = build(['on', 'dim']);
  dropGained(now, build(['on', 'off']));
  expect(now.components!.schemas).toMatchObject({
    open: { enum: ['on'] },
    closed: { enum: ['on', 'dim'] },
  });
});

const HARMLESS: Record<string, Change> = {
  'nothing is changed': () => undefined,
  'an optional parameter is added': ({ parameters }) =>
    void parameters.push({ name: 'columns', in: 'query', schema: { type: 'string' } }),
  'a parameter has a value more': ({ parameters }) =>
    void (parameters[0]!.schema = { type: 'string', enum: ['id', 'name', 'created_at'] }),
  'an optional field of the request is added': ({ body }) =>
    void (readProperties(body).more = { type: 'string' }),
  'a field of the request may be null': ({ body }) =>
    void (readProperties(body).name = { type: ['string', 'null'], maxLength: 50 }),
  'a field of the response is added': ({ reply }) =>
    void (readProperties(reply).more = { type: 'string' }),
  'a field is described': ({ reply }) =>
    void (readProperties(reply).name = { type: 'string', description: 'Shown in menus.' }),
};

const toPath = (name: string) => `/${name.replaceAll(' ', '_')}`;

/** A contract of these operations, with their parts as components, as ours is written. */
function buildContract(operations: Record<string, Contract>, version: string): Json {
  const schemas: Json = {};
  const paths = Object.entries(operations).map(([name, parts], at) => {
    schemas[`Body${at}`] = parts.body;
    schemas[`Reply${at}`] = parts.reply;
    const reply = { schema: { $ref: `#/components/schemas/Reply${at}` } };
    const body = { schema: { $ref: `#/components/schemas/Body${at}` } };
    const content = Object.fromEntries(Object.keys(parts.answers).map((type) => [type, reply]));
    const post = {
      operationId: `operation${at}`,
      parameters: parts.parameters,
      requestBody: { required: parts.required_body, content: { 'application/json': body } },
      responses: { 200: { description: 'Made.', content } },
    };
    return [toPath(name), { post }];
  });
  const info = { title: 'Test', version };
  return { openapi: '3.1.0', info, paths: Object.fromEntries(paths), components: { schemas } };
}

function compareContracts(base: Json, revision: Json): Report {
  const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'breaking-'));
  const [first, second] = [base, revision].map((contract, at) => {
    const file = join(folder, `${at}.json`);
    writeFileSync(file, JSON.stringify(contract));
    return file;
  });
  return compare(first!, second!);
}

const changes: Record<string, Change> = {
  ...HARMLESS,
  ...Object.fromEntries(Object.entries(BREAKING).map(([name, [, change]]) => [name, change])),
};
const before = Object.fromEntries(Object.keys(changes).map((name) => [name, operation()]));
const after = Object.fromEntries(
  Object.entries(changes).map(([name, change]) => {
    const changed = operation();
    change(changed);
    return [name, changed];
  }),
);
let breakingLines: string[];
beforeAll(() => {
  breakingLines = breakingChanges(
    compareContracts(buildContract(before, '1.4.0'), buildContract(after, '1.5.0')),
  );
});
const findLines = (name: string) =>
  breakingLines.filter((line) => line.startsWith(`POST ${toPath(name)}: `));

describe('a change breaks clients when', () => {
  test.each(Object.entries(BREAKING))('%s', (name, [said]) => {
    expect(findLines(name)).toEqual([expect.stringMatching(said)]);
  });

  test('an operation, a success or a schema that two operations share is no longer the same', () => {
    const shared = (reply: Json, { more = true } = {}) => {
      const contract = buildContract({ first: { ...operation(), reply } }, '1.0.0');
      const paths = contract.paths as Record<string, Record<string, Json>>;
      const { post } = paths['/first']!;
      paths['/two'] = { get: { ...post!, operationId: 'two', requestBody: undefined } };
      if (more)
        paths['/three'] = {
          get: { operationId: 'three', responses: { 200: { description: 'Yes.' } } },
          put: {
            operationId: 'four',
            responses: { 200: { description: 'Yes.' }, 202: { description: 'Later.' } },
          },
        };
      else
        paths['/three'] = {
          put: { operationId: 'four', responses: { 200: { description: 'Yes.' } } },
        };
      return contract;
    };
    const { reply } = operation();
    const { id, name } = readProperties(reply);
    const lines = breakingChanges(
      compareContracts(
        shared(reply),
        shared({ ...reply, properties: { id, name } }, { more: false }),
      ),
    );
    expect(lines.toSorted()).toEqual([
      expect.stringMatching(/^GET \/three: .*removed/),
      expect.stringMatching(/^(GET \/two|POST \/first): .*`extra`/),
      expect.stringMatching(/^(GET \/two|POST \/first): .*`state`/),
      expect.stringMatching(/^PUT \/three: .*`202`.* removed/),
    ]);
  });
});

test.each(Object.keys(HARMLESS))('a change breaks no client when %s', (name) => {
  expect(findLines(name)).toEqual([]);
});

test.each([
  ['1.4.0', '1.5.0', false],
  ['1.4.0', '2.0.0', true],
  ['9.0.0', '10.0.0', true],
  ['2.0.0', '1.9.9', false],
])('from %s to %s is a new major version: %s', (base, revision, expected) => {
  expect(isMajor({ infoVersions: { base, revision }, changes: [] })).toBe(expected);
});
