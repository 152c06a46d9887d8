import { createRequire } from 'node:module';
import { Linter, type Linter as Lint } from 'eslint';
import {
  acceptedContent,
  contract,
  FORMAT_LENGTHS,
  METHODS,
  type Parameter,
  type Schema,
} from '../../src/contract';
import type { RawOperation } from '../../src/contract-document';

// The size of a request is bounded: code that reads a text, a list or an object of a request may
// rely on it (src/http/normalize-value.ts checks it first). Answers are exempt: their size is that
// of the stored data, a page at a time.

const load = createRequire(__filename);

type Place = [path: string, schema: Schema];

/** A schema of a request, and all that it consists of; each reference is followed once. */
function within([path, schema]: Place, seen: Set<string>): Place[] {
  if (schema.$ref) {
    if (seen.has(schema.$ref)) return [];
    seen.add(schema.$ref);
    const name = schema.$ref.split('/').at(-1)!;
    return within([name, contract.resolve({ $ref: schema.$ref })], seen);
  }
  const { items, additionalProperties: others, 'x-list': listed } = schema;
  const fields = { ...schema['x-also-fields'], ...schema.properties };
  const inner: Place[] = [
    ...Object.entries(fields).map(([name, field]): Place => [`${path}.${name}`, field]),
    ...[schema.allOf, schema.oneOf, schema.anyOf].flatMap((parts = []) =>
      parts.map((part): Place => [path, part]),
    ),
    ...[items, listed, typeof others === 'object' ? others : undefined].flatMap((part) =>
      part ? [[`${path}.*`, part] as Place] : [],
    ),
  ];
  return [[path, schema], ...inner.flatMap((place) => within(place, seen))];
}

const operations = Object.values(contract.document.paths).flatMap((item) =>
  METHODS.flatMap((method): [RawOperation, Parameter[]][] =>
    item[method]
      ? [[item[method], [...(item.parameters ?? []), ...(item[method].parameters ?? [])]]]
      : [],
  ),
);

function requestSchemas(): Place[] {
  const seen = new Set<string>();
  return operations.flatMap(([operation, parameters]) => {
    const id = operation.operationId;
    const places: Place[] = [
      ...parameters.map((parameter): Place => {
        const { name, schema } = contract.resolve(parameter);
        return [`${id} ${name}`, schema];
      }),
      ...Object.values(acceptedContent(operation)).map(({ schema }): Place => [id, schema]),
      ...(operation['x-fields'] ? [[id, operation['x-fields']] as Place] : []),
    ];
    return places.flatMap((place) => within(place, seen));
  });
}

const schemas = requestSchemas();
const of = (type: string) => schemas.filter(([, schema]) => [schema.type].flat().includes(type));
const pathsOf = (places: Place[]) => [...new Set(places.map(([path]) => path))];

/** A file is bounded by MAX_UPLOAD_BYTES. */
const isBounded = ({ maxLength, enum: values, format = '' }: Schema): boolean =>
  maxLength !== undefined ||
  values !== undefined ||
  format in FORMAT_LENGTHS ||
  format === 'binary';

test('every text of a request has a maximum: its own, that of its enum, or that of its format', () => {
  expect(of('string').length).toBeGreaterThan(300);
  expect(pathsOf(of('string').filter(([, schema]) => !isBounded(schema)))).toEqual([]);
});

test('every list of a request has a maximum', () => {
  expect(of('array').length).toBeGreaterThan(20);
  expect(pathsOf(of('array').filter(([, { maxItems }]) => maxItems === undefined))).toEqual([]);
});

test('every object of a request names its fields, or has a maximum of them', () => {
  const free = of('object').filter(([, { additionalProperties: others }]) => Boolean(others));
  expect(free.length).toBeGreaterThan(3);
  expect(pathsOf(free.filter(([, schema]) => schema.maxProperties === undefined))).toEqual([]);
});

describe('patterns', () => {
  // eslint.config.js holds the same rules for the patterns of the source.
  const [, rules] = (load('../../eslint.config.js') as Lint.Config[]).reduce<
    [Lint.Config[], Lint.Config[]]
  >(
    ([others, found], config) =>
      config.plugins?.regexp ? [others, [...found, config]] : [[...others, config], found],
    [[], []],
  );
  const faultsOf = (pattern: string): string[] => {
    const source = new RegExp(pattern, 'u').toString();
    const configs = rules.map(({ plugins, rules: own }) => ({ plugins, rules: own }));
    return new Linter().verify(`${source}.test('');`, configs).map(({ message }) => message);
  };

  test('of the contract take a time that is linear in the length of the text', () => {
    const patterns = new Set(schemas.flatMap(([, { pattern }]) => pattern ?? []));
    expect(patterns.size).toBeGreaterThan(5);
    for (const pattern of patterns) expect([pattern, faultsOf(pattern)]).toEqual([pattern, []]);
  });

  test.each(['^(a+)+$', '\\s+$', '^a*a*$'])('that are not linear are found: %s', (pattern) => {
    expect(faultsOf(pattern)).toHaveLength(1);
  });
});
