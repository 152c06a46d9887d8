import { Lines } from '../editors/lines';
import { NewList } from '../views/new-list';
import { ListValues } from '../views/list-values';
import { noun, type GroupLayout, type NounLayout } from './layout';

const NAME = {
  field: 'name',
  help: 'Filters name the list by it. No commas, colons, bars, quotes or brackets.',
};
const NOTE = { field: 'description', label: 'Note', isWide: true };

const buildGroups = (kind: readonly string[], values: string): GroupLayout[] => [
  { title: 'List', fields: [NAME, ...kind, NOTE] },
  {
    title: values,
    only: 'create',
    help: 'One on each line. More can be added at any time, also from a file.',
    fields: [{ field: 'values', label: values, editor: Lines }],
  },
];

const SHARED = {
  title: ({ name, id }) => (name as string | null) ?? `List ${String(id)}`,
  state: ({ in_use: isUsed }) => (isUsed ? { text: 'in use', tone: 'good' } : undefined),
  stateNeeds: ['in_use'],
  creator: NewList,
} satisfies Partial<NounLayout>;

export const valueLists = noun({
  ...SHARED,
  noun: 'value_lists',
  words: { singular: 'value list', plural: 'value lists' },
  about:
    'Filters of buyers and others name a value list: “zip in Texas” needs one list, not a thousand values.',
  groups: buildGroups(['kind'], 'Values'),
  columns: [
    'name',
    { name: 'values_count', title: 'Values' },
    { name: 'kind', title: 'Of' },
    { name: 'in_use', title: 'In use' },
    'description',
    { name: 'updated_at', title: 'Changed' },
  ],
  panels: [ListValues],
});

export const zipLists = noun({
  ...SHARED,
  noun: 'zip_lists',
  words: { singular: 'ZIP list', plural: 'ZIP lists' },
  about: 'A buyer that names a ZIP list gets only callers and leads from its ZIP codes.',
  groups: buildGroups([], 'ZIP codes'),
  columns: [
    'name',
    { name: 'values_count', title: 'ZIP codes' },
    { name: 'in_use', title: 'In use' },
    'description',
    { name: 'updated_at', title: 'Changed' },
  ],
  panels: [ListValues],
});
