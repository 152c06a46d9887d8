import { contract, type Parameter, type Schema } from '../../src/platform/contract/contract';

// Rules that keep openapi.yaml a file from which generators make clean clients (docs/sdk.md).

interface Operation {
  operationId: string;
  requestBody?: { $ref?: string; content: Content };
  responses: Record<string, { $ref?: string; content?: Content }>;
  callbacks?: Record<string, Record<string, { post: Operation }>>;
}
type Content = Record<string, { schema: Schema }>;

const { document } = contract;
const { schemas, parameters } = document.components;

const operations = Object.values(document.paths).flatMap((item) =>
  Object.values(item).filter((value) => 'operationId' in value),
) as unknown as Operation[];
const events = operations
  .flatMap(({ callbacks = {} }) => Object.values(callbacks).flatMap(Object.values))
  .map(({ post }: { post: Operation }) => post);
const ids = [...operations, ...events].map(({ operationId }) => operationId);
const models = Object.keys(schemas);

/** Schemas within a schema, by the keyword that holds them; references are not followed. */
function listParts(schema: Schema): [string, Schema][] {
  const properties = Object.entries(schema.properties ?? {});
  const { items, additionalProperties: additional } = schema;
  const composed = [schema.allOf, schema.oneOf, schema.anyOf].flatMap((list) => list ?? []);
  return [
    ...properties,
    ...composed.map((part, at): [string, Schema] => [String(at), part]),
    ...(items ? [['items', items] as [string, Schema]] : []),
    ...(typeof additional === 'object' ? [['others', additional] as [string, Schema]] : []),
  ];
}

/** A schema and all within it, with their paths. */
const collectSchemas = (path: string, schema: Schema): [string, Schema][] => [
  [path, schema],
  ...listParts(schema).flatMap(([name, part]) => collectSchemas(`${path}.${name}`, part)),
];

const componentSchemas = Object.entries(schemas).flatMap(([name, schema]) =>
  collectSchemas(name, schema),
);
const parameterSchemas = Object.entries(parameters).flatMap(([name, { schema }]) =>
  collectSchemas(name, schema),
);
const bodies = operations.flatMap(({ operationId, requestBody, responses }) =>
  [requestBody, ...Object.values(responses).map((response) => contract.resolve(response))].flatMap(
    (body) =>
      Object.values(body?.content ?? {}).flatMap(({ schema }) =>
        collectSchemas(operationId, schema),
      ),
  ),
);
const allSchemas = [...componentSchemas, ...parameterSchemas, ...bodies];
const listPaths = (entries: [string, unknown][]) => entries.map(([path]) => path);

describe('schemas', () => {
  // A client that was generated sends a default with every request: an update would reset fields.
  test('have no default; x-default says what a create sets', () => {
    expect(listPaths(allSchemas.filter(([, schema]) => 'default' in schema))).toEqual([]);
  });

  test('have no const, which many generators cannot read', () => {
    expect(listPaths(allSchemas.filter(([, schema]) => 'const' in schema))).toEqual([]);
  });

  // openapi-zod-client and oapi-codegen take it for a text.
  test('have no null in a list of values; oneOf says that there may be none', () => {
    expect(listPaths(allSchemas.filter(([, { enum: values }]) => values?.includes(null)))).toEqual(
      [],
    );
  });

  // Generators make an object of a reference with siblings.
  test('refer to a file without siblings', () => {
    const files = componentSchemas.filter(
      ([, schema]) => schema.$ref && contract.resolve(schema).format === 'binary',
    );
    expect(listPaths(files)).toContain('BuyerSuppressionFileUpload.import_file');
    expect(listPaths(files.filter(([, schema]) => Object.keys(schema).length > 1))).toEqual([]);
  });

  test('have a description for every property, of its own or of what it refers to', () => {
    const properties = componentSchemas.flatMap(([path, schema]) =>
      Object.entries(schema.properties ?? {}).map(([name, property]): [string, Schema] => [
        `${path}.${name}`,
        property,
      ]),
    );
    const silent = properties.filter(([, property]) => !contract.resolve(property).description);
    expect(listPaths(silent)).toEqual([]);
  });
});

describe('operations', () => {
  test('have no parameter that is an object', () => {
    const ownParameters = operations.flatMap(
      (operation) => (operation as { parameters?: Parameter[] }).parameters ?? [],
    );
    const objects = [...Object.values(parameters), ...ownParameters]
      .map(contract.resolve)
      .filter(({ schema }) => [contract.resolve(schema).type].flat().includes('object'));
    expect(objects.map(({ name }) => name)).toEqual([]);
  });

  test('have one media type for each success, and JSON of one shape, a named one', () => {
    const wrong = operations.flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([status, response]) => {
          const mediaTypes = Object.entries(contract.resolve(response).content ?? {});
          const [[type, { schema }] = ['', { schema: {} as Schema }]] = mediaTypes;
          const { oneOf, anyOf } = contract.resolve(schema);
          const isOne = mediaTypes.length === 1 && !oneOf && !anyOf;
          return isOne && (type !== 'application/json' || schema.$ref)
            ? []
            : [`${operationId} ${status}`];
        }),
    );
    expect(wrong).toEqual([]);
  });

  test('have one media type for a request body', () => {
    const wrong = operations.filter(
      ({ requestBody }) => requestBody && Object.keys(requestBody.content).length !== 1,
    );
    expect(wrong.map(({ operationId }) => operationId)).toEqual([]);
  });
});

/** Words that name something else where clients are generated. */
const RESERVED_NAMES = new Set(
  `Action Any Array BigDecimal Blob Boolean Byte Class Date DateTime Decimal Dictionary Double
  Duration Encoding Enum Error Event Exception File Float Function Guid Hash Headers Integer
  Iterable Iterator List Locale Long Map Method Module Number Object Optional Package Process
  Promise Proxy Range Record Regexp Request Response Runtime Set Short String Struct Symbol System
  Task Thread Time TimeZone Tuple Type Uri Url Uuid Void`.split(/\s+/),
);
const KEYWORDS = new Set(
  `abstract and as assert async await break case catch class const continue def default del delete
  do else enum except export extends false final finally for from func function global go goto if
  implements import in interface is lambda let map module namespace native new nil none not null
  of or package pass print private protected public raise range return select self static struct
  super switch this throw true try type typeof unset use var void while with yield`.split(/\s+/),
);

/** A name without what languages change: capitals, underscores. */
const toPlainName = (name: string) => name.replaceAll('_', '').toLowerCase();
const listRepeated = (names: string[]) => {
  const plainNames = names.map(toPlainName);
  return names.filter(
    (name) => plainNames.indexOf(toPlainName(name)) !== plainNames.lastIndexOf(toPlainName(name)),
  );
};

describe('names', () => {
  test('of operations and events are words in camelCase, which snake_case keeps apart', () => {
    expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)*$/.test(id))).toEqual([]);
  });

  test('of operations and events are unique in every spelling, and no keyword', () => {
    expect(listRepeated(ids)).toEqual([]);
    expect(ids.filter((id) => KEYWORDS.has(id))).toEqual([]);
  });

  test('of schemas are words in PascalCase, unique in every spelling', () => {
    expect(models.filter((name) => !/^([A-Z][a-z]+)+$/.test(name))).toEqual([]);
    expect(listRepeated(models)).toEqual([]);
  });

  test('of schemas are those of no class that a language has', () => {
    expect(models.filter((name) => RESERVED_NAMES.has(name))).toEqual([]);
  });

  test('of values of an enum stay apart as constants', () => {
    const constant = (value: unknown) =>
      typeof value === 'string' && /\w/.test(value)
        ? value.replace(/\W+/g, '_').toUpperCase()
        : value;
    const wrong = componentSchemas.filter(([, { enum: values }]) => {
      if (!values) return false;
      return new Set(values.map(constant)).size !== values.length;
    });
    expect(listPaths(wrong)).toEqual([]);
  });

  // Go has one namespace for types and constants. Clients name an enum without a name by its path.
  test('of constants, schemas and nameless enums are unique', () => {
    const constants = Object.values(schemas).flatMap((schema) => schema['x-enum-varnames'] ?? []);
    const nameless = componentSchemas.flatMap(([path, schema]) =>
      schema.enum && path.includes('.') ? [path.replace(/\W(items|\d+)\b|\W/g, '')] : [],
    );
    expect(constants.filter((name) => !/^([A-Z]\w*)$/.test(name))).toEqual([]);
    expect(listRepeated([...models, ...constants])).toEqual([]);
    expect(listRepeated([...models, ...new Set(nameless)])).toEqual([]);
  });
});

test('a client finds whom to ask, and an absolute address to put its own in place of', () => {
  const { contact } = document.info as { contact?: object };
  expect(contact).toEqual({
    name: expect.any(String),
    url: expect.stringMatching(/^https:/),
    email: expect.stringContaining('@'),
  });
  expect(document.servers[0]!.url).toMatch(/^https:\/\/[^/]+\/api\/v1$/);
});

test('the contract is short enough for a person to write', () => {
  expect(contract.text.split('\n').length).toBeLessThanOrEqual(20_001);
});
