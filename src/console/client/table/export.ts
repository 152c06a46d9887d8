import type { NounContract } from '../../noun-contract';
import { currentZone, toDay } from '../zone';
import type { Session } from '../session';
import { buildPath, download, saveBlob, send, type Json, type Query } from '../transport';
import { toListQuery, type TableState } from './state';

// The list as a file: by the API where it writes CSV, otherwise page by page here.

const PAGE_SIZE = 1_000;

interface Export {
  /** The noun: `calls`. */
  name: string;
  noun: NounContract;
  state: TableState;
  columns: readonly string[];
}

/** `calls-2026-11-01-to-2026-11-27.csv`: the days of the list, or the day on which it is saved. */
export function nameFile(name: string, filters: TableState['filters'], zone?: string): string {
  const { created_at_from: from, created_at_to: to } = filters;
  const days = (from || to ? [from, to] : [new Date().toISOString()])
    .filter((at) => at !== undefined)
    .map((at) => toDay(new Date(at), zone));
  return `${[name, ...new Set(days)].join('-to-').replace('-to-', '-')}.csv`;
}

/** Saves all that the table lists, not only its page. */
export async function exportCsv(
  { transport }: Session,
  { name, noun, state, columns }: Export,
): Promise<void> {
  const query = { ...toListQuery(state), columns, time_zone: currentZone() };
  const file = nameFile(name, state.filters);
  if (noun.csv)
    return download(transport, buildPath(`/${name}`, { ...query, format: 'csv' }), file);
  const rows: Json[] = [];
  let cursor: number | undefined;
  do {
    const page: Query = { ...query, per_page: PAGE_SIZE, cursor: cursor ?? -1 };
    const { data } = await send(transport, 'GET', `/${name}`, { query: page });
    rows.push(...(data[noun.list_key] as Json[]));
    cursor = (data.metadata as { next_cursor: number }).next_cursor;
  } while (cursor);
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  saveBlob(new Blob([lines.map(toLine).join('\r\n')], { type: 'text/csv' }), file);
}

const toLine = (cells: readonly unknown[]): string => cells.map(toCell).join(',');

/** As in the CSV of the API: a spreadsheet must not take a text for a formula. */
const FORMULA = /(^|[;\t\r\n])(?=[=+\-@|＝＋－＠])|^(?=[\t\r\n])/g;
const NUMBER = /^(-?\d+(\.\d+)?|\+\d{7,15})$/;

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = NUMBER.test(text) ? text : text.replace(FORMULA, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
