import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contract, facets, type Schema } from '../../src/platform/contract/contract';
import { createFixture, type Fixture } from '../support/example';
import { readResource } from '../support/example-bodies';
import { createWorld, type World } from '../support/world';
import type { Effect, CodeLocation } from './effect';
import { COMMON, EFFECTS } from './effects';

// Nothing that requests may write is inert: each field has a place of its effect, or the contract
// marks it as without one.

const MAX_DEPTH = 3;
const ROOT = join(__dirname, '../..');

/** The fields of a schema, and those of the objects in them, by path. */
function listFields(schema: Schema, prefix = '', depth = 0): [string, Schema][] {
  const { properties, items } = facets(schema);
  const inner = items && depth <= MAX_DEPTH ? listFields(items, prefix, depth + 1) : [];
  const ownFields = Object.entries(properties).flatMap(([name, property]): [string, Schema][] => [
    [prefix + name, property],
    ...(depth < MAX_DEPTH ? listFields(property, `${prefix}${name}.`, depth + 1) : []),
  ]);
  return [...ownFields, ...inner];
}

const writable = contract.operations.flatMap((operation) =>
  [operation.body, operation.multipart]
    .flatMap((schema) => (schema ? listFields(schema) : []))
    .map(([field, schema]) => ({ resource: readResource(operation), operation, field, schema })),
);
const isMarked = (schema: Schema) => contract.resolve(schema)['x-without-effect'] === true;
const acting = writable.filter(({ schema }) => !isMarked(schema));
const findEffect = (resource: string, field: string): Effect | undefined => {
  const effects = EFFECTS[resource] ?? {};
  return Object.hasOwn(effects, field) ? effects[field] : COMMON[field];
};

const formatField = ({ resource, field }: { resource: string; field: string }) =>
  `${resource} ${field}`;
const unique = <T>(values: T[]): T[] => [...new Set(values)];

test('every field of a request has an effect, or the contract says that it has none', () => {
  const inert = acting.filter(({ resource, field }) => !findEffect(resource, field));
  expect(unique(inert.map(formatField))).toEqual([]);
});

test('every row names a field of the contract, and one that is not marked as without effect', () => {
  const actingFields = new Set(acting.map(formatField));
  const rows = Object.entries(EFFECTS).flatMap(([resource, effects]) =>
    Object.keys(effects).map((field) => formatField({ resource, field })),
  );
  expect(rows.filter((row) => !actingFields.has(row))).toEqual([]);
});

test('what is without effect says so where people read it', () => {
  const marked = writable.filter(({ schema }) => isMarked(schema));
  const silent = marked.filter(
    ({ schema }) => !/without effect/i.test(contract.resolve(schema).description ?? ''),
  );
  expect(unique(silent.map(formatField))).toEqual([]);
  expect(unique(marked.map(formatField))).toContain('telephony CallStatus');
});

/** Declarations alone: what they name is written and read, and nothing more. */
const DECLARATIONS = /\/generated\/|columns\.ts$/;

/** The code of a file without its comments, and without texts for people. */
function readCode(file: string): string {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return file.endsWith('.sql')
    ? text.replace(/--.*$/gm, '')
    : text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

/** The last part of the field's path, as the code has it. */
const pickName = (field: string, { name }: CodeLocation) => name ?? field.split('.').at(-1)!;

test('the place of each effect exists, and has the field in its code', () => {
  const wrong = acting.flatMap(({ resource, field }) => {
    const effect = findEffect(resource, field);
    if (!effect || typeof effect === 'string') return [];
    const name = pickName(field, effect);
    const row = `${resource} ${field}: ${effect.file} ${name}`;
    if (DECLARATIONS.test(effect.file) && resource !== 'access_tokens') return [row];
    if (!existsSync(join(ROOT, effect.file))) return [`${row} (no file)`];
    return new RegExp(`\\b${name}\\b`).test(readCode(effect.file)) ? [] : [row];
  });
  expect(unique(wrong)).toEqual([]);
});

describe('what a write changes is read', () => {
  let world: World;
  let fixture: Fixture;
  beforeAll(async () => {
    world = await createWorld();
    fixture = await createFixture(world);
  });
  afterAll(() => world.close());

  const updates = contract.operations.filter(
    ({ method, path }) => method === 'put' && (path.endsWith('/{id}') || path.endsWith('/company')),
  );
  const rows = updates.flatMap((operation) =>
    Object.entries(facets(operation.body!).properties).flatMap(([field, schema]) => {
      const effect = findEffect(readResource(operation), field);
      const isText = facets(schema).types.has('string');
      return isText && (effect === 'label' || effect === 'note')
        ? [{ operation, field, effect, schema, resource: readResource(operation) }]
        : [];
    }),
  );
  let valueCount = 0;
  /** A new value that the field allows. */
  const buildValue = (field: string, schema: Schema) => {
    const word = `zq${(valueCount += 1)}word`;
    if (/caller_id|number/.test(field)) return `+1310555${String(9000 + valueCount)}`;
    if (/email/.test(field) || facets(schema).formats.has('email')) return `${word}@example.com`;
    return /url/.test(field) ? `https://${word}.example.com/` : word;
  };

  test.each(rows)('$resource $field: $effect', async ({ operation, field, effect, schema }) => {
    const value = buildValue(field, schema);
    const path = fixture.path(operation);
    const res = await world.company.api('put', path, { body: { [field]: value } });
    expect([res.status, res.body.errors]).toEqual([200, {}]);
    const { root } = res.body.metadata;
    const shown = (await world.company.api('get', path)).body[root];
    expect(shown[field]).toBe(value);
    if (effect === 'note') return;
    const list = path.replace(/\/[^/]+$/, '');
    const matches = await world.company.api('get', list, { query: { fulltext: value, page: 1 } });
    const records = matches.body[matches.body.metadata.root] as { id: number }[];
    expect(records.map(({ id }) => id)).toContain(shown.id);
  });

  test('labels of every resource that can be changed are among them', () => {
    expect(rows.length).toBeGreaterThan(40);
  });
});
