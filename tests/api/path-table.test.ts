import { BASE_PATH, contract } from '../../src/platform/contract/contract';
import { pathTable } from '../../src/api/request/path-table';

// Which operation a path names. The rules are those of Express, whose routers it replaces.

const paths = [...new Set(contract.operations.map(({ path }) => path.slice(BASE_PATH.length)))];
const find = pathTable(paths.map((path) => [path, path] as const));
const withValues = (path: string, value: string) => path.replace(/\{\w+\}/g, value);
const listNames = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

test('every path of the contract is found, with its parameters decoded', () => {
  for (const path of paths) {
    const params = Object.fromEntries(listNames(path).map((name) => [name, 'a/b ü']));
    const url = withValues(path, encodeURIComponent('a/b ü'));
    expect([path, find(url)]).toEqual([path, { value: path, params }]);
    expect(find(`${url}/`)).toEqual({ value: path, params });
  }
});

test('a fixed path comes before a parameter that would match it', () => {
  for (const fixed of paths.filter((path) => !path.includes('{')))
    expect(find(fixed)).toEqual({ value: fixed, params: {} });
  const table = pathTable([
    ['/a/{x}/c', 1],
    ['/a/b/{y}', 2],
    ['/a/b/c', 3],
  ]);
  expect(table('/a/b/c')?.value).toBe(3);
  expect(table('/a/b/d')).toEqual({ value: 2, params: { y: 'd' } });
  expect(table('/a/d/c')).toEqual({ value: 1, params: { x: 'd' } });
});

test('what differs by case, is longer or shorter, or lacks a value is not found', () => {
  expect(paths).toContain('/buyers/{id}');
  for (const path of ['', '/', '/Buyers', '/buyers//copy', '//buyers', '/buyers/1/2/3', '/buyer'])
    expect([path, find(path)]).toEqual([path, undefined]);
  for (const path of ['/constructor', '/__proto__', '/__proto__/1', '/toString/1'])
    expect([path, find(path)]).toEqual([path, undefined]);
});

test('a parameter that cannot be decoded is an error of the URL', () => {
  expect(() => find('/buyers/%ff')).toThrow(URIError);
  expect(find('/%ff')).toBeUndefined();
});
