import type { NounContract } from '../../noun-contract';
import { toLabel } from '../form/field';
import { toColumnLayout, type ColumnLayout, type NounLayout } from '../nouns/layout';
import type { TableState } from './state';

/** The part of a layout that tables read. */
export type TableLayout = Pick<
  NounLayout,
  | 'noun'
  | 'words'
  | 'columns'
  | 'exported'
  | 'labels'
  | 'hiddenFilters'
  | 'usualFilters'
  | 'filterGroups'
  | 'searches'
  | 'order'
  | 'title'
  | 'state'
  | 'stateNeeds'
>;

/** Columns of the layout, or those that a person chose among all that the API has. */
export function pickColumns(
  layout: TableLayout,
  noun: NounContract,
  { columns }: Pick<TableState, 'columns'>,
): ColumnLayout[] {
  const layouts = layout.columns.map(toColumnLayout).filter(({ name }) => name in noun.read);
  if (!columns) return layouts.filter(({ isHidden }) => !isHidden);
  return columns
    .filter((name) => name in noun.read)
    .map((name) => layouts.find((column) => column.name === name) ?? { name });
}

/** Columns that only programs read. */
const FOR_PROGRAMS =
  /^(legacy_id|uuid|type|company_id|deleted_at|user_updated_at|routes_\w+_path)$/;

/** `offer_id` and `user_offer_id` next to `offer`. */
const isKey = (name: string, { read }: NounContract): boolean => {
  const record = /^(?:user_)?(\w+)_id$/.exec(name)?.[1];
  return record !== undefined && record in read;
};

/** The columns that people may choose, those of the layout first; each title once. */
export function listChoices(layout: TableLayout, noun: NounContract): string[] {
  const usual = layout.columns.map((entry) => toColumnLayout(entry).name);
  const others = Object.keys(noun.read).filter(
    (name) => !FOR_PROGRAMS.test(name) && !isKey(name, noun),
  );
  const titles = new Set<string>();
  return [...new Set([...usual, ...others])].filter((name) => {
    const title = titleColumn(layout, { name });
    if (!(name in noun.read) || titles.has(title)) return false;
    titles.add(title);
    return true;
  });
}

/** The columns to ask the API for, as far as the caller may read them. */
export function pickNames(
  { read }: NounContract,
  columns: readonly ColumnLayout[],
  more: readonly string[] = [],
): string[] {
  const names = columns.flatMap(({ name, needs = [] }) => [name, ...needs]);
  return [...new Set(['id', ...names, ...more])].filter((name) => name in read);
}

/** The heading of a column. */
export function titleColumn(layout: TableLayout, { name, title }: ColumnLayout): string {
  const column = layout.columns.map(toColumnLayout).find((other) => other.name === name);
  return title ?? column?.title ?? layout.labels?.[name] ?? toLabel(name);
}
