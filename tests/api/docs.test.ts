import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import request from 'supertest';
import { completeDocument, contract } from '../../src/platform/contract/contract';
import { readPublished } from '../../src/platform/contract/published-contract';
import { useWorld } from '../support/use-world';

// The contract as documents, and the pages that show it.

const world = useWorld();

const get = (path: string) => request(world.app).get(path);

test('the usual credentials stand first in the contract', () => {
  expect(Object.keys(contract.document.components.securitySchemes).slice(0, 3)).toEqual([
    'companyKey',
    'userToken',
    'authToken',
  ]);
});

test('the complete contract is served; only code samples are added to the JSON', async () => {
  const { text } = await get('/api/openapi.yaml');
  expect(text).toBe(readPublished(contract.document));
  const served = (await get('/api/openapi.json')).body;
  expect(served.paths['/buyers'].post['x-codeSamples']).toHaveLength(3);
  for (const item of Object.values(served.paths))
    for (const operation of Object.values(item as object)) delete operation['x-codeSamples'];
  expect(served).toEqual(JSON.parse(JSON.stringify(completeDocument())));
});

test('with full=1 the contract declares all that is accepted, for tools that check requests', async () => {
  const { paths } = (await get('/api/openapi.json?full=1')).body;
  for (const { path, method, media_types, merged, body } of contract.operations) {
    const { parameters = [], requestBody } = paths[path.slice('/api/v1'.length)][method];
    const declared = Object.keys(requestBody?.content ?? {});
    expect([path, declared.sort()]).toEqual([path, [...media_types].sort()]);
    const fields = parameters.find(({ explode }: { explode?: boolean }) => explode);
    expect([path, fields !== undefined]).toEqual([path, merged || (method === 'put' && !!body)]);
  }
});

test('with full=1 fields of the query string make a body optional, and all JSON types are declared', async () => {
  const { paths, components } = (await get('/api/openapi.json?full=1')).body;
  expect(paths['/buyers/{id}'].put.requestBody.required).toBe(false);
  expect(paths['/buyers'].post.requestBody.required).toBe(true);
  const { api } = world.company;
  const { body } = await api('post', 'offers', { body: { name: 'Solar' } });
  const changed = await api('put', `offers/${body.offer.id}?name=Roofing`);
  expect([changed.status, changed.body.offer.name]).toEqual([200, 'Roofing']);
  expect(components.schemas.RecordId.type).toEqual(['string', 'integer']);
  const { paths: shown } = (await get('/api/docs/operations/updateOffer.json')).body;
  expect(JSON.stringify(shown)).not.toContain('"string","integer"');
});

test('every extension of the contract is explained once', () => {
  const text = readFileSync(join(__dirname, '../../assets/docs/extensions.md'), 'utf8');
  const explained = [...text.matchAll(/^- `(x-[\w-]+)`/gm)].map(([, name]) => name);
  const used = contract.text.matchAll(/^[ -]*['"{ ]*(x-[a-zA-Z-]+):|[{,] (x-[a-zA-Z-]+):/gm);
  const names = new Set([...used].map(([, first, second]) => first ?? second));
  expect(explained.toSorted()).toEqual([...names].toSorted());
});

test.each([
  '/api/openapi.json',
  '/api/docs/',
  '/api/reference/leads.json',
  '/api/docs/search.json',
])('%s is sent compressed, and not again while it is the same', async (path) => {
  const first = await get(path);
  expect(first.status).toBe(200);
  expect(first.headers['content-encoding']).toBe('gzip');
  expect(first.headers.vary).toContain('Accept-Encoding');
  const second = await get(path).set('If-None-Match', first.headers.etag!);
  expect([second.status, second.text]).toEqual([304, '']);
  const plain = await get(path).set('Accept-Encoding', 'identity');
  expect([plain.headers['content-encoding'], plain.text]).toEqual([undefined, first.text]);
  expect((await get(path).set('If-None-Match', '"another"')).status).toBe(200);
  const brotli = await get(path).set('Accept-Encoding', 'gzip, br');
  expect(brotli.headers['content-encoding']).toBe('br');
  expect(brotli.text).toBe(first.text);
});

test('browsers keep scripts and styles, which have the address of their version', async () => {
  const { text } = await get('/api/docs/');
  const [, address = '', version = ''] = /src="(\/api\/assets\/([\w-]+)\/list\.js)"/.exec(text)!;
  expect((await get(address)).headers['cache-control']).toContain('immutable');
  const older = await get(address.replace(version, 'older'));
  expect([older.status, older.headers['cache-control']]).toEqual([200, 'no-cache, no-transform']);
  expect((await get(address.replace('list.js', 'other.js'))).status).toBe(404);
});

test('the page of Swagger UI lists every operation and tag', async () => {
  const { text } = await get('/api/docs/');
  for (const { id, method, path } of contract.operations) {
    const [, item = ''] = text.split(`-${id}">`);
    expect([id, item.includes(method.toUpperCase())]).toEqual([id, true]);
    const shownPath = item.replaceAll('<wbr>', '').slice(0, 600);
    expect(shownPath).toContain(`<span>${path.slice('/api/v1'.length)}</span>`);
  }
  for (const { name } of contract.document.tags)
    expect(text).toContain(`id="operations-tag-${name}"`);
});

test.each([
  '/api/docs/',
  '/api/reference/',
  ...contract.document.tags.map(({ name }) => `/api/reference/${name}`),
])(
  '%s is complete without scripts, and asks only this server for files, which it has',
  async (path) => {
    const { status, text } = await get(path);
    expect(status).toBe(200);
    expect(text).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    expect(text).toMatch(/<h1>[^<]+<\/h1>\s*<p>/);
    // The content security policy refuses scripts within the page.
    expect(text).not.toMatch(/<script(?![^>]* src=)/);
    const files = [...text.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)];
    for (const [, file = ''] of files.filter(([, name]) => !name!.startsWith('data:'))) {
      expect(file).toMatch(/^\/api\//);
      expect([file, (await get(file)).status]).toEqual([file, 200]);
    }
  },
);

test('each tag has a document of its own that has all that it refers to', async () => {
  const shown = new Set<string>();
  for (const { name } of contract.document.tags) {
    const text = (await get(`/api/reference/${name}.json`)).text;
    const document = JSON.parse(text);
    for (const [, kind, key] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g))
      expect([name, key, document.components[kind!]?.[key!]]).not.toContain(undefined);
    for (const item of Object.values<Record<string, { operationId?: string }>>(document.paths))
      for (const { operationId } of Object.values(item)) if (operationId) shown.add(operationId);
  }
  expect([...shown].sort()).toEqual(contract.operations.map(({ id }) => id).sort());
});

test('each operation has a document, with what it needs and all that it refers to', async () => {
  const { paths: list } = (await get('/api/docs/openapi.json')).body;
  for (const { id, path, method, scope, unlimited } of contract.operations) {
    const shortPath = path.slice('/api/v1'.length);
    expect(list[shortPath][method].operationId).toBe(id);
    const { text } = await get(`/api/docs/operations/${id}.json`);
    const { paths, components } = JSON.parse(text);
    // Swagger UI resolves the operation alone: parameters of the path are with it.
    expect([id, Object.keys(paths), Object.keys(paths[shortPath])]).toEqual([
      ...[id, [shortPath], [method]],
    ]);
    const { parameters = [] } = paths[shortPath][method];
    const names = parameters.map(
      ({ $ref, name }: { $ref?: string; name?: string }) =>
        name ?? components.parameters[$ref!.split('/').at(-1)!].name,
    );
    const inPath = [...shortPath.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(names).toEqual(expect.arrayContaining(inPath));
    for (const [, kind, key] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g))
      expect([id, key, components[kind!]?.[key!]]).not.toContain(undefined);
    const { description } = paths[shortPath][method];
    expect(description.includes(`Needs permission \`${scope}\``)).toBe(scope !== undefined);
    expect(description.includes('superuser team.')).toBe(unlimited);
    if (id === 'showMe') expect(description).toContain('Any valid credentials will do.');
    if (id === 'submitLead') expect(description).toContain('Needs a lead token, and nothing else.');
  }
  expect((await get('/api/docs/operations/nothing.json')).status).toBe(404);
});

test('the search index has every operation and its fields', async () => {
  const { operations, fields } = (await get('/api/docs/search.json')).body;
  const ids = operations.map(({ id }: { id: string }) => id);
  expect(ids).toEqual(expect.arrayContaining(contract.operations.map(({ id }) => id)));
  const { fields: fieldIndexes } = operations.find(
    ({ id }: { id: string }) => id === 'createBuyer',
  );
  const names = fieldIndexes.map((at: number) => fields[at][0]);
  expect(names).toEqual(expect.arrayContaining(['concurrency_cap_limit', 'Idempotency-Key']));
});
