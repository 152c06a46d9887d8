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
  | 'labels'
  | 'hiddenFilters'
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

/** The columns to ask the API for. */
export const listNeeds = (layout: TableLayout, { read }: NounContract, names: readonly string[]) =>
  ['id', ...names, ...(layout.stateNeeds ?? [])].filter((name) => name in read);

/** The heading of a column. */
export function titleColumn(layout: TableLayout, { name, title }: ColumnLayout): string {
  const column = layout.columns.map(toColumnLayout).find((other) => other.name === name);
  return title ?? column?.title ?? layout.labels?.[name] ?? toLabel(name);
}
