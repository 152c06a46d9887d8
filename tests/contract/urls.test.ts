import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  contract,
  facets,
  type Operation,
  type Schema,
} from '../../src/platform/contract/contract';
import { createFixture, type Fixture } from '../support/example';
import { createWorld, type World } from '../support/world';

// A URL of a request may become a link of a page, or the address of another request: for every
// sender it is of http or https.

/** `url`, `recording_url` and `RecordingUrl`. */
const IS_URL = /(?:^|_)ur[il]$|Ur[il]$/;
/** The name in the path of an endpoint. */
const NO_URLS = new Set(['vanity_uri']);
const isUrl = (name: string): boolean => IS_URL.test(name) && !NO_URLS.has(name);

type Path = string[];

/** The fields of a schema for which a test is true, at any depth. */
function findFields(
  schema: Schema,
  test: (name: string, schema: Schema) => boolean,
  depth = 0,
): Path[] {
  const { properties, items } = facets(schema);
  if (depth > 4) return [];
  const inner = items ? findFields(items, test, depth + 1).map((path) => ['0', ...path]) : [];
  return Object.entries(properties).reduce((paths, [name, property]) => {
    if (test(name, property)) paths.push([name]);
    const deeper = findFields(property, test, depth + 1);
    return [...paths, ...deeper.map((path) => [name, ...path])];
  }, inner);
}

const writes = contract.operations.flatMap((operation) =>
  operation.body ? [{ operation, body: operation.body }] : [],
);
const isMarked = (schema: Schema): boolean => facets(schema).formats.has('http-url');
const fields = writes.flatMap(({ operation, body }) =>
  findFields(body, (_, schema) => isMarked(schema)).map((path): [string, Operation, Path] => [
    `${path.join('.')} of ${operation.id}`,
    operation,
    path,
  ]),
);

test('every field of a request that is named as a URL is of the format http-url', () => {
  const unmarkedFields = writes.flatMap(({ operation, body }) =>
    findFields(body, (name, schema) => isUrl(name) && !isMarked(schema)).map(
      (path) => `${path.join('.')} of ${operation.id}`,
    ),
  );
  expect(unmarkedFields).toEqual([]);
  expect(fields.length).toBeGreaterThan(8);
});

describe('a URL', () => {
  let world: World;
  let fixture: Fixture;
  beforeAll(async () => {
    world = await createWorld();
    fixture = await createFixture(world);
  });
  afterAll(() => world.close());

  /** A body with another value at a path. */
  const replace = (value: unknown, [name, ...rest]: Path, by: string): unknown =>
    name === undefined
      ? by
      : {
          ...(value as object),
          [name]: replace((value as Record<string, unknown>)?.[name], rest, by),
        };

  test.each(fields)('%s is of http or https', async (_, operation, path) => {
    for (const url of [
      'javascript:alert(1)//https://example.com',
      'JavaScript:alert(1)',
      'data:text/html,<script>alert(1)</script>',
      'file:///etc/passwd',
      'ftp://example.com/a.mp3',
      '//example.com/a.mp3',
      'https://',
      'https://example.com/\u0001',
    ]) {
      const body = replace(fixture.body(operation), path, url);
      const res = await fixture.send(operation, { body });
      const name = path.join('.');
      expect([url, res.status, res.body.errors?.[name]]).toEqual([
        url,
        422,
        [expect.stringMatching(/must be an http or https URL|character/)],
      ]);
    }
  });
});

test('the console links to its own pages alone, whatever a record says', () => {
  const client = join(__dirname, '../../src/console/client');
  const sources = readdirSync(client, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tsx'))
    .map((name) => readFileSync(join(client, name), 'utf8'));
  const links = sources.flatMap((text) => [...text.matchAll(/\b(?:href|src|action)=(\S+)/g)]);
  expect(links.length).toBeGreaterThan(10);
  expect(
    links.flatMap(([, target = '']) =>
      /^(?:\{(?:linkTo|docsLink|boardLink|openIdLink|recordingLink)\(|"#)/.test(target)
        ? []
        : [target],
    ),
  ).toEqual([]);
});
