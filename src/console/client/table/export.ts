import type { FieldContract, NounContract } from '../../noun-contract';
import { sentence, yesNo } from '../format';
import type { ColumnLayout } from '../nouns/layout';
import { currentZone, toDay } from '../zone';
import type { Session } from '../session';
import { buildPath, openFile, saveBlob, send, type Json, type Query } from '../transport';
import { pickNames, titleColumn, type TableLayout } from './columns';
import { createCsvReader, toCsvFile, toLine } from './csv';
import { isMoney } from './format-value';
import { toListQuery, type TableState } from './state';

// The list as a file for people: the titles of the table, and values as a spreadsheet reads them.
// The CSV of the API, which programs read, is rewritten as it comes.

const PAGE_SIZE = 1_000;

interface Export {
  layout: TableLayout;
  noun: NounContract;
  state: TableState;
  /** The columns that the table shows. */
  columns: readonly ColumnLayout[];
}

/** `calls-2026-11-01-to-2026-11-27.csv`: the days of the list, or the day on which it is saved. */
export function nameFile(name: string, filters: TableState['filters'], zone?: string): string {
  const { created_at_from: from, created_at_to: to } = filters;
  const days = (from || to ? [from, to] : [new Date().toISOString()])
    .filter((at) => at !== undefined)
    .map((at) => toDay(new Date(at), zone));
  return `${[name, ...new Set(days)].join('-to-').replace('-to-', '-')}.csv`;
}

/** The text of each cell by the name of its column. */
type Row = Readonly<Record<string, string>>;

/** Saves all that the table lists, not only its page. */
export async function exportCsv({ transport }: Session, list: Export): Promise<void> {
  const { layout, noun, state } = list;
  const columns = listExported(list);
  const names = pickNames(noun, columns);
  const query = { ...toListQuery(state), columns: names, time_zone: currentZone() };
  const parts = [toLine(columns.map((column) => titleCell(layout, noun, column)))];
  const write = (rows: readonly Row[]) => {
    const lines = rows.map((row) => toLine(columns.map((column) => formatCell(noun, column, row))));
    parts.push(lines.join(''));
  };
  if (noun.csv) {
    const path = buildPath(`/${layout.noun}`, { ...query, format: 'csv' });
    await readFile(await openFile(transport, path), write);
  } else {
    let cursor: number | undefined;
    do {
      const page: Query = { ...query, per_page: PAGE_SIZE, cursor: cursor ?? -1 };
      const { data } = await send(transport, 'GET', `/${layout.noun}`, { query: page });
      write((data[noun.list_key] as Json[]).map(toTexts));
      cursor = (data.metadata as { next_cursor: number }).next_cursor;
    } while (cursor);
  }
  saveBlob(toCsvFile(parts), nameFile(layout.noun, state.filters));
}

/** Those of every file of the noun that the caller may read, and what else the table shows. */
export function listExported({ layout, noun, columns }: Omit<Export, 'state'>): ColumnLayout[] {
  const usual = (layout.exported ?? []).filter(({ name }) => name in noun.read);
  const names = new Set(usual.map(({ name }) => name));
  return [...usual, ...columns.filter(({ name }) => !names.has(name))];
}

async function readFile(res: Response, write: (rows: readonly Row[]) => void): Promise<void> {
  const reader = res.body!.getReader();
  const decoder = new TextDecoder();
  const read = createCsvReader();
  let header: readonly string[] | undefined;
  for (;;) {
    const { done, value } = await reader.read();
    const rows = read(decoder.decode(value, { stream: !done }));
    header ??= rows.shift();
    write(
      rows.map((cells) => Object.fromEntries(header!.map((name, n) => [name, cells[n] ?? '']))),
    );
    if (done) return;
  }
}

const toTexts = (record: Json): Row =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? ''),
    ]),
  );

/** Says the zone of times, and the currency of amounts, whose cells are plain. */
export function titleCell(layout: TableLayout, noun: NounContract, column: ColumnLayout): string {
  const title = titleColumn(layout, column);
  const field = noun.read[column.name];
  if (column.cell) return title;
  if (field?.format === 'date-time') return `${title} (${currentZone()})`;
  return isMoney(column.name, field) ? `${title} (USD)` : title;
}

export function formatCell({ read }: NounContract, { name, cell }: ColumnLayout, row: Row): string {
  if (cell) return cell(row);
  const [field, text = ''] = [read[name], row[name]];
  return text === '' || !field ? text : formatText(field, text);
}

const LOCAL_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d).*$/;

function formatText(field: FieldContract, text: string): string {
  if (field.format === 'date-time') return text.replace(LOCAL_TIME, '$1 $2');
  if (field.type === 'boolean') return yesNo(text === 'true');
  if (field.type === 'array' || field.type === 'object') return formatParts(text);
  return field.enum ? sentence(text) : text;
}

/** `{"state":"CA"}` as `state=CA`, `[1,2]` as `1, 2`; what is deeper stays as it is. */
function formatParts(json: string): string {
  const value = JSON.parse(json) as object;
  const parts: unknown[] = Object.values(value);
  if (parts.some((part) => typeof part === 'object' && part !== null)) return json;
  const texts = parts.map(String);
  if (Array.isArray(value)) return texts.join(', ');
  return Object.keys(value)
    .map((name, n) => `${name}=${texts[n]}`)
    .join(', ');
}
