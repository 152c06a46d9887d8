import { contract } from '../../src/platform/contract/contract';

interface Operation {
  tags?: string[];
  callbacks?: Record<string, Record<string, Record<string, Operation>>>;
}

interface TaggedDocument {
  tags: { name: string; description?: string }[];
  'x-tagGroups': { name: string; tags: string[] }[];
  paths: Record<string, Record<string, Operation>>;
}

const { tags, 'x-tagGroups': groups, paths } = contract.document as unknown as TaggedDocument;
const names = tags.map(({ name }) => name);

test('every tag is in exactly one group', () => {
  expect(groups.flatMap((group) => group.tags).sort()).toEqual(names);
  expect(new Set(names).size).toBe(names.length);
});

test('group names are unique, no group is empty, and every tag has a description', () => {
  expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
  expect(groups.filter((group) => group.tags.length === 0)).toEqual([]);
  expect(tags.filter(({ description }) => !description)).toEqual([]);
});

test('operations use all declared tags and no others', () => {
  const operations = Object.values(paths).flatMap(Object.values) as Operation[];
  const events = operations
    .flatMap(({ callbacks = {} }) => Object.values(callbacks))
    .flatMap(Object.values)
    .flatMap(Object.values) as Operation[];
  const used = [...operations, ...events].flatMap((operation) => operation.tags ?? []);
  expect([...new Set(used)].sort()).toEqual([...names].sort());
});
