import { createRequire } from 'node:module';
import { Linter, type Linter as Lint } from 'eslint';
import {
  acceptedContent,
  contract,
  FORMAT_LENGTHS,
  METHODS,
  type Parameter,
  type Schema,
} from '../../src/platform/contract/contract';
import type { RawOperation } from '../../src/platform/contract/contract-document';

// The size of a request is bounded: code that reads a text, a list or an object of a request may
// rely on it (src/api/request/read-value.ts checks it first). Answers are exempt: their size
// is that of the stored data, a page at a time.

const load = createRequire(__filename);

type SchemaAtPath = [path: string, schema: Schema];

/** A schema of a request, and all that it consists of; each reference is followed once. */
function collectSchemas([path, schema]: SchemaAtPath, visited: Set<string>): SchemaAtPath[] {
  if (schema.$ref) {
    if (visited.has(schema.$ref)) return [];
    visited.add(schema.$ref);
    const name = schema.$ref.split('/').at(-1)!;
    return collectSchemas([name, contract.resolve({ $ref: schema.$ref })], visited);
  }
  const { items, additionalProperties: additional, 'x-list': listed } = schema;
  const fields = { ...schema['x-also-fields'], ...schema.properties };
  const inner: SchemaAtPath[] = [
    ...Object.entries(fields).map(([name, field]): SchemaAtPath => [`${path}.${name}`, field]),
    ...[schema.allOf, schema.oneOf, schema.anyOf].flatMap((parts = []) =>
      parts.map((part): SchemaAtPath => [path, part]),
    ),
    ...[items, listed, typeof additional === 'object' ? additional : undefined].flatMap((part) =>
      part ? [[`${path}.*`, part] as SchemaAtPath] : [],
    ),
  ];
  return [[path, schema], ...inner.flatMap((part) => collectSchemas(part, visited))];
}

const operations = Object.values(contract.document.paths).flatMap((item) =>
  METHODS.flatMap((method): [RawOperation, Parameter[]][] =>
    item[method]
      ? [[item[method], [...(item.parameters ?? []), ...(item[method].parameters ?? [])]]]
      : [],
  ),
);

function listRequestSchemas(): SchemaAtPath[] {
  const visited = new Set<string>();
  return operations.flatMap(([operation, parameters]) => {
    const id = operation.operationId;
    const roots: SchemaAtPath[] = [
      ...parameters.map((parameter): SchemaAtPath => {
        const { name, schema } = contract.resolve(parameter);
        return [`${id} ${name}`, schema];
      }),
      ...Object.values(acceptedContent(operation)).map(({ schema }): SchemaAtPath => [id, schema]),
      ...(operation['x-fields'] ? [[id, operation['x-fields']] as SchemaAtPath] : []),
    ];
    return roots.flatMap((root) => collectSchemas(root, visited));
  });
}

const schemas = listRequestSchemas();
const selectByType = (type: string) =>
  schemas.filter(([, schema]) => [schema.type].flat().includes(type));
const listPaths = (entries: SchemaAtPath[]) => [...new Set(entries.map(([path]) => path))];

/** A file is bounded by MAX_UPLOAD_BYTES. */
const isBounded = ({ maxLength, enum: values, format = '' }: Schema): boolean =>
  maxLength !== undefined ||
  values !== undefined ||
  format in FORMAT_LENGTHS ||
  format === 'binary';

test('every text of a request has a maximum: its own, that of its enum, or that of its format', () => {
  expect(selectByType('string').length).toBeGreaterThan(300);
  expect(listPaths(selectByType('string').filter(([, schema]) => !isBounded(schema)))).toEqual([]);
});

test('every list of a request has a maximum', () => {
  expect(selectByType('array').length).toBeGreaterThan(20);
  expect(
    listPaths(selectByType('array').filter(([, { maxItems }]) => maxItems === undefined)),
  ).toEqual([]);
});

test('every object of a request names its fields, or has a maximum of them', () => {
  const free = selectByType('object').filter(([, { additionalProperties: additional }]) =>
    Boolean(additional),
  );
  expect(free.length).toBeGreaterThan(3);
  expect(listPaths(free.filter(([, schema]) => schema.maxProperties === undefined))).toEqual([]);
});

describe('patterns', () => {
  // eslint.config.js holds the same rules for the patterns of the source.
  const [, rules] = (load('../../eslint.config.js') as Lint.Config[]).reduce<
    [Lint.Config[], Lint.Config[]]
  >(
    ([otherConfigs, patternConfigs], config) =>
      config.plugins?.regexp
        ? [otherConfigs, [...patternConfigs, config]]
        : [[...otherConfigs, config], patternConfigs],
    [[], []],
  );
  const listFaults = (pattern: string): string[] => {
    const source = new RegExp(pattern, 'u').toString();
    const configs = rules.map(({ plugins, rules: ownRules }) => ({ plugins, rules: ownRules }));
    return new Linter().verify(`${source}.test('');`, configs).map(({ message }) => message);
  };

  test('of the contract take a time that is linear in the length of the text', () => {
    const patterns = new Set(schemas.flatMap(([, { pattern }]) => pattern ?? []));
    expect(patterns.size).toBeGreaterThan(5);
    for (const pattern of patterns) expect([pattern, listFaults(pattern)]).toEqual([pattern, []]);
  });

  test.each(['^(a+)+$', '\\s+$', '^a*a*$'])('that are not linear are found: %s', (pattern) => {
    expect(listFaults(pattern)).toHaveLength(1);
  });
});
