import type { ComponentChild } from 'preact';
import { useEffect } from 'preact/hooks';
import type { NounContract } from '../../noun-contract';
import { count } from '../format';
import { useLoaded } from '../loading';
import type { ColumnLayout, NounLayout } from '../nouns/layout';
import { Show } from '../parts/basics';
import { TurnPages } from '../parts/turn-pages';
import { linkTo } from '../route';
import { useSession } from '../session';
import { send, type Json } from '../transport';
import { pickColumns, pickNames, titleColumn, type TableLayout } from './columns';
import { FilterChips } from './filter-bar';
import { formatValue } from './format-value';
import { Heading } from './heading';
import { PAGE_SIZES, toListQuery, useTableState, type TableState } from './state';
import { Toolbar } from './toolbar';

interface DataTableProps {
  layout: TableLayout;
  noun: NounContract;
  /** Filters that the page sets, not the person. */
  fixed?: Readonly<Record<string, string>>;
  /** Changes when the list should be loaded again. */
  version?: number;
  /** Column whose cells link to the record's page. */
  hasPages?: boolean;
}

interface Page {
  rows: Json[];
  total: number;
  pages: number;
}

/** A list of the API: searched, filtered, sorted and paged by the server, kept in the location. */
export function DataTable({ layout, noun, fixed = {}, version, hasPages = true }: DataTableProps) {
  const session = useSession();
  const { state, change, turn, link } = useTableState(noun, layout.order);
  const columns = pickColumns(layout, noun, state);
  const query = { ...toListQuery(state), ...fixed };
  const paging = {
    columns: pickNames(noun, columns, layout.stateNeeds),
    per_page: state.size,
    page: state.page,
  };
  const key = JSON.stringify({ ...query, ...paging });
  const loaded = useLoaded(async (): Promise<Page> => {
    const { data } = await send(session.transport, 'GET', `/${layout.noun}`, {
      query: { ...query, ...paging },
    });
    const metadata = data.metadata as { total_count: number; total_pages: number };
    return {
      rows: data[noun.list_key] as Json[],
      total: metadata.total_count,
      pages: metadata.total_pages,
    };
  }, [key]);
  const { reload } = loaded;
  // The list that is shown stays until the new list is there.
  useEffect(() => {
    if (version !== undefined && version > 0) void reload();
  }, [version]);
  return (
    <>
      <Toolbar
        layout={layout}
        noun={noun}
        state={state}
        columns={columns}
        change={change}
        link={link}
        fixed={fixed}
      />
      <FilterChips noun={noun} layout={layout} filters={state.filters} change={change} />
      <Show of={loaded}>
        {(page) => (
          <>
            <Rows
              layout={layout}
              noun={noun}
              state={state}
              columns={columns}
              rows={page.rows}
              hasPages={hasPages}
              sort={(order, direction) => change({ order, dir: direction })}
            />
            <Pages page={page} state={state} words={layout.words} turn={turn} change={change} />
          </>
        )}
      </Show>
    </>
  );
}

interface RowsProps {
  layout: TableLayout;
  noun: NounContract;
  state: TableState;
  columns: readonly ColumnLayout[];
  rows: readonly Json[];
  hasPages: boolean;
  sort: (order: string, direction: 'asc' | 'desc') => void;
}

function Rows({ layout, noun, state, columns, rows, hasPages, sort }: RowsProps) {
  if (rows.length === 0) {
    const isNarrowed = state.search !== '' || Object.keys(state.filters).length > 0;
    return (
      <p class="quiet">
        {isNarrowed
          ? `No ${layout.words.plural} match. Take a filter away, or search for something else.`
          : `There are no ${layout.words.plural} yet.`}
      </p>
    );
  }
  return (
    <div class="scroll data-table" role="region" aria-label={layout.words.plural} tabIndex={0}>
      <table>
        <caption class="hidden">{layout.words.plural}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading
                key={column.name}
                title={titleColumn(layout, column)}
                isNumber={isNumber(noun, column)}
                order={noun.orders.includes(column.name) ? column.name : undefined}
                state={state}
                sort={sort}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={String(row.id)}>
              {columns.map((column, index) => (
                <td
                  key={column.name}
                  class={isNumber(noun, column) ? 'number' : ''}
                  data-label={titleColumn(layout, column)}
                >
                  <Cell
                    layout={layout}
                    row={row}
                    isLink={hasPages && index === 0}
                    value={
                      column.show?.(row) ??
                      formatValue(column.name, noun.read[column.name], row[column.name])
                    }
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const isNumber = ({ read }: NounContract, { name }: ColumnLayout): boolean =>
  ['number', 'integer'].includes(read[name]?.type ?? '') && !/(^|_)id$/.test(name);

interface CellProps {
  layout: TableLayout;
  row: Json;
  isLink: boolean;
  value: ComponentChild;
}

const Cell = ({ layout, row, isLink, value }: CellProps) =>
  isLink ? <a href={linkTo(layout.noun, String(row.id))}>{value}</a> : <>{value}</>;

interface PagesProps {
  page: Page;
  state: TableState;
  words: NounLayout['words'];
  turn: (page: number) => void;
  change: (changes: Readonly<Record<string, string | null>>) => void;
}

function Pages({ page: { total, pages }, state, words, turn, change }: PagesProps) {
  const { page, size } = state;
  const first = (page - 1) * size + 1;
  return (
    <nav class="pages" aria-label="Pages">
      <span class="quiet" role="status">
        {total === 0
          ? `No ${words.plural}`
          : `${count(first)}–${count(Math.min(page * size, total))} of ${count(total)} ${
              total === 1 ? words.singular : words.plural
            }`}
      </span>
      <TurnPages page={page} pages={pages} turn={turn} />
      <label class="quiet">
        Rows{' '}
        <select value={size} onChange={(event) => change({ per_page: event.currentTarget.value })}>
          {PAGE_SIZES.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      </label>
    </nav>
  );
}
