import { contract } from '../../src/contract';

interface Operation {
  tags?: string[];
}

interface Tagged {
  tags: { name: string; description?: string }[];
  'x-tagGroups': { name: string; tags: string[] }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
}

const { tags, 'x-tagGroups': groups, paths, webhooks } = contract.document as unknown as Tagged;
const names = tags.map(({ name }) => name);

test('every tag is in exactly one group, in the order of the tags', () => {
  expect(groups.flatMap((group) => group.tags)).toEqual(names);
  expect(new Set(names).size).toBe(names.length);
});

test('group names are unique, no group is empty, and every tag has a description', () => {
  expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
  expect(groups.filter((group) => group.tags.length === 0)).toEqual([]);
  expect(tags.filter(({ description }) => !description)).toEqual([]);
});

test('operations use all declared tags and no others', () => {
  const operations = [paths, webhooks].flatMap(Object.values).flatMap(Object.values) as Operation[];
  const used = operations.flatMap((operation) => operation.tags ?? []);
  expect([...new Set(used)].sort()).toEqual([...names].sort());
});
