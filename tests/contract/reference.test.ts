import {
  BASE_PATH,
  contract,
  facets,
  type Method,
  type Operation,
  type Schema,
} from '../../src/platform/contract/contract';
import { resolveOtherPath } from '../../src/api/reply/other-paths';
import { OPERATIONS, type ReferenceOperation } from './reference';
import { RESOURCES } from './reference-columns';
import { VALUES } from './reference-values';

// The contract may have more than the reference, but not less: each missing operation, parameter,
// field, column or value is named.

type Raw = {
  security?: Record<string, unknown>[];
  requestBody?: {
    content: Record<string, { schema: Schema }>;
    'x-also-accepts'?: Record<string, { schema: Schema }>;
  };
  'x-fields'?: Schema;
};
const SCHEMES = contract.document.components.securitySchemes as Record<
  string,
  { in?: string; name?: string; scheme?: string }
>;

/** Names of path parameters do not count: `:id` here may be `{caller_id}` there. */
const toShape = (path: string) => path.replace(/:\w+|\{\w+\}/g, '{}');
const find = (method: string, path: string): Operation | undefined =>
  contract.operations.find(
    (operation) =>
      operation.method === method &&
      toShape(operation.path) === toShape(BASE_PATH + resolveOtherPath(path)),
  );
const findRaw = ({ method, path }: Operation): Raw =>
  contract.document.paths[path.slice(BASE_PATH.length)]![method as Method] as Raw;

/** The schema at a path of names, through references, lists and objects. */
function findSchema(schemas: Record<string, Schema>, path: string): Schema | undefined {
  const [first, ...rest] = path.split('.') as [string, ...string[]];
  const schema = schemas[first];
  if (!schema || rest.length === 0) return schema;
  const { properties, items } = facets(schema);
  return findSchema(items ? facets(items).properties : properties, rest.join('.'));
}

/** Parameters of the query string, with the fields of x-fields and credentials. */
function collectQuery(operation: Operation): Record<string, Schema> {
  const shown = (findRaw(operation).security ?? [])
    .flatMap((schemes) => Object.keys(schemes))
    .map((name) => SCHEMES[name]!);
  return {
    ...Object.fromEntries(
      shown.filter((scheme) => scheme.in === 'query').map(({ name }) => [name, { type: 'string' }]),
    ),
    ...Object.assign(
      {},
      ...operation.parameters
        .filter((parameter) => parameter.in === 'query')
        .map(({ name, schema, 'x-other-names': otherNames = [], 'x-default': omitted }) =>
          Object.fromEntries(
            [name, ...otherNames].map((alias) => [alias, { ...schema, 'x-default': omitted }]),
          ),
        ),
    ),
    ...collectFields(findRaw(operation)['x-fields']),
  } as Record<string, Schema>;
}

/** The fields of a schema by all of their names. */
const collectFields = (schema: Schema | undefined): Record<string, Schema> =>
  Object.fromEntries(
    Object.entries(schema ? facets(schema).properties : {}).flatMap(([name, field]) =>
      [name, ...(field['x-other-names'] ?? [])].map((alias) => [alias, field]),
    ),
  );

/** Fields of the body in every media type, and of the query string where they may be there too. */
function collectBody(operation: Operation): Record<string, Schema> {
  const { requestBody } = findRaw(operation);
  const forms = Object.values({
    ...requestBody?.content,
    ...requestBody?.['x-also-accepts'],
  }).map(({ schema }) => collectFields(schema));
  return Object.assign(
    {},
    ...forms,
    ...(operation.merged ? [collectQuery(operation)] : []),
  ) as Record<string, Schema>;
}

const listRequired = (schema: Schema | undefined): string[] => {
  if (!schema) return [];
  const plain = contract.resolve(schema);
  return [...(plain.required ?? []), ...(plain.allOf ?? []).flatMap(listRequired)];
};

function listMissing({
  method,
  path,
  query = [],
  body = [],
  required = [],
  blank = [],
  csv,
}: ReferenceOperation): string[] {
  const operation = find(method, path);
  if (!operation) return ['the operation'];
  const [inQuery, inBody, needed] = [
    collectQuery(operation),
    collectBody(operation),
    listRequired(operation.body),
  ];
  return [
    ...query.filter((name) => !findSchema(inQuery, name)).map((name) => `the parameter ${name}`),
    ...body.filter((name) => !findSchema(inBody, name)).map((name) => `the field ${name}`),
    ...required.filter((name) => !needed.includes(name)).map((name) => `that ${name} is required`),
    ...blank
      .filter((name) => inBody[name] && !facets(inBody[name]).types.has('null'))
      .map((name) => `that ${name} may be blank`),
    ...(csv && !operation.csv ? ['CSV'] : []),
  ];
}

test.each(
  OPERATIONS.map(
    (operation) => [`${operation.method.toUpperCase()} ${operation.path}`, operation] as const,
  ),
)('%s lacks nothing', (_, operation) => {
  expect(listMissing(operation)).toEqual([]);
});

/** The schema of the records of a list, by its root key. */
function findRecordSchema(path: string, root: string): Schema | undefined {
  const operation = find('get', path);
  const answer =
    operation &&
    (contract.resolve(operation.responses['200']!) as {
      content?: Record<string, { schema?: Schema }>;
    });
  const schema = answer?.content?.['application/json']?.schema;
  return (
    schema && facets(schema).properties[root] && facets(facets(schema).properties[root]!).items
  );
}

test.each(RESOURCES.map((resource) => [resource.root, resource] as const))(
  'records of %s have every column',
  (_, { path, root, columns, type, exact }) => {
    const record = findRecordSchema(path, root);
    if (!record) throw new Error(`GET ${path} is not a list of ${root}`);
    const { properties } = facets(record);
    expect(columns.filter((name) => !properties[name])).toEqual([]);
    if (exact) expect(Object.keys(properties)).toEqual(columns);
    if (type) expect(properties.type).toMatchObject({ 'x-const': type });
  },
);

test.each(VALUES.map((values) => [`${values.name} of ${values.of}`, values] as const))(
  '%s has all values',
  (_, expected) => {
    const [method = '', path = ''] = expected.of.split(' ');
    const operation = find(method, path);
    if (!operation) throw new Error(`there is no ${expected.of}`);
    const schema = findSchema(
      { ...collectQuery(operation), ...collectBody(operation) },
      expected.name,
    );
    if (!schema) throw new Error(`${expected.of} has no ${expected.name}`);
    const plain = { ...contract.resolve(schema), ...schema } as Schema & {
      minimum?: number;
      maximum?: number;
    };
    const constant = plain['x-const'];
    const words = [plain, ...(plain.oneOf ?? []).map(contract.resolve)].flatMap(
      (part) => part.enum ?? [],
    );
    const allowed = constant === undefined ? words : [constant];
    expect(expected.values.filter((value) => !allowed.includes(value))).toEqual([]);
    if (expected.exact)
      expect(allowed.filter((value) => value !== null).toSorted()).toEqual(
        expected.values.toSorted(),
      );
    const stated = { ...plain, default: plain['x-default'] };
    for (const name of ['default', 'minimum', 'maximum'] as const)
      if (expected[name] !== undefined)
        expect([name, stated[name]]).toEqual([name, expected[name]]);
  },
);

test('credentials are sent as the reference says', () => {
  expect(Object.values(SCHEMES)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ scheme: 'basic' }),
      expect.objectContaining({ in: 'query', name: 'lead_token' }),
      expect.objectContaining({ in: 'query', name: 'auth_token' }),
    ]),
  );
  for (const { url } of contract.document.servers) expect(url).toMatch(/(^|[a-z])\/api\/v1$/);
});

test('lists have the metadata of the reference', () => {
  const { properties } = facets(contract.document.components.schemas.PageMetadata!);
  expect(Object.keys(properties)).toEqual(
    expect.arrayContaining([
      'root',
      'page',
      'total_pages',
      'per_page',
      'total_count',
      'next_cursor',
    ]),
  );
});
