import { describeNouns } from '../../src/console/describe-nouns';
import type { FieldContract } from '../../src/console/noun-contract';
import { contract } from '../../src/platform/contract/contract';
import { loadClientModule } from '../support/client-module';

// The forms of the console follow the contract: every field that the API takes is in a form or is
// left out by name, and what a form does not change is not sent.

interface FieldLayout {
  field: string;
}
interface Layout {
  noun: string;
  words: { singular: string; plural: string };
  groups: { title: string; fields: (string | FieldLayout)[] }[];
  hidden?: string[];
  reads?: Record<string, string>;
  labels?: Record<string, string>;
  columns: (string | { name: string; needs?: string[] })[];
  stateNeeds?: string[];
  hiddenFilters?: string[];
  order?: string;
}
interface Pages {
  NOUNS: { pages: { name: string; load: () => Promise<Layout> }[] }[];
}
interface Access {
  NEVER_SHOWN: ReadonlySet<string>;
}
interface Model {
  toInput: (field: FieldContract, value: unknown) => unknown;
  fromInput: (field: FieldContract, input: unknown) => unknown;
  findFault: (field: FieldContract, input: unknown) => string | undefined;
  mergeChanges: (
    base: object,
    mine: object,
    latest: object,
  ) => { inputs: object; theirs: { name: string }[]; conflicts: { name: string }[] };
  groupFaults: (errors: object, fields: object) => { byField: object; others: string[] };
}

const { nouns } = describeNouns();
const pages = loadClientModule<Pages>('nouns/pages.tsx').NOUNS.flatMap((area) => area.pages);
const { NEVER_SHOWN } = loadClientModule<Access>('noun/access.ts');
const model = loadClientModule<Model>('form/model.ts');

test.each(pages)('the form of $name has each field that the API takes, once', async (page) => {
  const layout = await page.load();
  const noun = nouns[layout.noun]!;
  const shown = layout.groups.flatMap(({ fields }) =>
    fields.map((entry) => (typeof entry === 'string' ? entry : entry.field)),
  );
  const writable = Object.keys(noun.write).filter((name) => !NEVER_SHOWN.has(name));
  // Shared layouts of caps name all; a noun has some of them.
  const placed = shown.filter((name) => name in noun.write || !/_limit$|concurrency/.test(name));
  expect([...placed, ...(layout.hidden ?? [])].sort()).toEqual(writable.sort());
  for (const name of Object.values(layout.reads ?? {})) expect(noun.read).toHaveProperty(name);
  for (const name of Object.keys(layout.labels ?? {})) expect(noun.write).toHaveProperty(name);
});

test.each(pages)('the table of $name has columns, filters and orders of the API', async (page) => {
  const layout = await page.load();
  const { read, filters, orders } = nouns[layout.noun]!;
  expect(page.name).toBe(layout.noun);
  for (const column of layout.columns)
    for (const name of typeof column === 'string'
      ? [column]
      : [column.name, ...(column.needs ?? [])])
      expect(read).toHaveProperty(name);
  for (const name of layout.stateNeeds ?? []) expect(read).toHaveProperty(name);
  for (const name of layout.hiddenFilters ?? []) expect(filters).toHaveProperty(name);
  if (layout.order !== undefined) expect(orders).toContain(layout.order);
});

test('the console knows every list of the API, with the operations of its records', () => {
  const lists = contract.operations.filter(
    ({ id, path }) => /^list/.test(id) && /^\/api\/v1\/\w+$/.test(path),
  );
  expect(Object.keys(nouns).sort()).toEqual(
    [...lists.map(({ path }) => path.slice('/api/v1/'.length)), 'company'].sort(),
  );
  expect(nouns.buyers!.verbs).toEqual({
    list: { scope: 'buyers:read' },
    show: { scope: 'buyers:read' },
    new: { scope: 'buyers:create' },
    create: { scope: 'buyers:create' },
    update: { scope: 'buyers:update' },
    delete: { scope: 'buyers:delete' },
  });
  expect(nouns.phone_numbers).toMatchObject({ record_key: 'number', list_key: 'numbers' });
});

test.each<[FieldContract, unknown, unknown]>([
  [{ type: 'number', nullable: true }, 12.5, '12.5'],
  [{ type: 'integer', nullable: true }, null, ''],
  [{ type: 'text' }, 'Acme', 'Acme'],
  [{ type: 'boolean' }, true, true],
  [{ type: 'array', items: { type: 'text' } }, ['a', 'b'], ['a', 'b']],
  [{ type: 'text', format: 'date-time' }, '2026-03-08T12:30:00.000Z', '2026-03-08T12:30'],
  [{ type: 'object', fields: {} }, { url: 'https://example.com' }, { url: 'https://example.com' }],
])('a value of %p comes back from its input as it was', (field, value, input) => {
  expect(model.toInput(field, value)).toEqual(input);
  expect(model.fromInput(field, input)).toEqual(value);
});

test.each<[FieldContract, unknown, string | undefined]>([
  [{ type: 'integer', minimum: 12, maximum: 600 }, '11', 'is at least 12'],
  [{ type: 'integer', minimum: 12, maximum: 600 }, '601', 'is at most 600'],
  [{ type: 'integer' }, '1.5', 'is a whole number'],
  [{ type: 'number' }, 'ten', 'is a number'],
  [{ type: 'number', nullable: true }, '', undefined],
  [{ type: 'text', required: true }, '', 'is needed'],
  [{ type: 'array', items: { type: 'text' }, max_items: 1 }, ['a', 'b'], 'has at most 1 entries'],
])('%p with %p: %p', (field, input, fault) => {
  expect(model.findFault(field, input)).toBe(fault);
});

test.each([
  ['(312) 555-0188', '+13125550188'],
  ['1-312-555-0188', '+13125550188'],
  ['+49 30 901820', '+4930901820'],
  ['sip:desk@example.com', 'sip:desk@example.com'],
  ['555-0188', '555-0188'],
])('the telephone number %p goes to the API as %p', (typed, number) => {
  expect(model.fromInput({ type: 'text', format: 'call-destination' }, typed)).toBe(number);
});

test('changes of two people are put together; only what both changed is asked about', () => {
  const base = { name: 'Acme', tier: '1', weight: '1', states: ['CA'] };
  const mine = { ...base, tier: '2', weight: '5', states: ['CA', 'NV'] };
  const latest = { ...base, name: 'Acme 2', weight: '9', states: ['CA', 'NV'] };
  const { inputs, theirs, conflicts } = model.mergeChanges(base, mine, latest);
  expect(inputs).toEqual({ name: 'Acme 2', tier: '2', weight: '5', states: ['CA', 'NV'] });
  expect(theirs.map(({ name }) => name)).toEqual(['name']);
  expect(conflicts).toEqual([{ name: 'weight', base: '1', mine: '5', theirs: '9' }]);
});

test('a fault inside a structured value stands at its field, with its place', () => {
  const fields = { hours: {}, name: {} };
  const errors = { 'hours[0].times': ['is no time'], name: ['is too long'], other: ['is wrong'] };
  expect(model.groupFaults(errors, fields)).toEqual({
    byField: { hours: ['[0].times is no time'], name: ['is too long'] },
    others: ['other is wrong'],
  });
});
