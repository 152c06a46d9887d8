import type { NounContract } from '../../noun-contract';
import { linkTo, setQuery, useRoute } from '../route';
import type { Query } from '../transport';

// Everything that a table shows is in the query of its location: a link to it is a saved view.
// Columns that were chosen are remembered for the table, also without it.

export const PAGE_SIZES = [25, 50, 100, 250] as const;
const DEFAULT_SIZE = 50;

export interface TableState {
  search: string;
  order: string | undefined;
  direction: 'asc' | 'desc';
  page: number;
  size: number;
  /** The columns that a person chose; undefined: those of the layout. */
  columns: readonly string[] | undefined;
  filters: Readonly<Record<string, string>>;
}

/** State of the table of a noun, from the location. */
export function useTableState(noun: NounContract, defaultOrder?: string) {
  const { view, query } = useRoute();
  const storageKey = `trunkline.columns.${view}`;
  const state = readState(noun, query, { defaultOrder, columns: localStorage.getItem(storageKey) });
  return {
    state,
    /** A change of what is listed goes back to the first page. */
    change: (changes: Readonly<Record<string, string | null>>) => {
      const { columns } = changes;
      if (columns) localStorage.setItem(storageKey, columns);
      else if (columns === null) localStorage.removeItem(storageKey);
      setQuery({ page: null, ...changes });
    },
    turn: (page: number) => setQuery({ page: page === 1 ? null : page }),
    link: () => {
      const columns = state.columns?.join(',') ?? null;
      const path = linkTo(view, null, { ...Object.fromEntries(query), columns });
      return new URL(path, location.href).href;
    },
  };
}

interface Usual {
  defaultOrder: string | undefined;
  /** The last choice of this person. */
  columns: string | null;
}

function readState(noun: NounContract, query: URLSearchParams, usual: Usual): TableState {
  const { defaultOrder } = usual;
  const order = query.get('order') ?? defaultOrder;
  const columns = query.get('columns') ?? usual.columns;
  const size = Number(query.get('per_page'));
  return {
    search: query.get('fulltext') ?? '',
    order: noun.orders.includes(order ?? '') ? order : undefined,
    direction: query.get('dir') === 'asc' || (!query.has('dir') && !defaultOrder) ? 'asc' : 'desc',
    page: Math.max(Math.trunc(Number(query.get('page'))) || 1, 1),
    size: PAGE_SIZES.find((choice) => choice === size) ?? DEFAULT_SIZE,
    columns: columns === null ? undefined : columns.split(','),
    filters: Object.fromEntries(
      Object.keys(noun.filters).flatMap((name) => {
        const value = query.get(name);
        return name === 'fulltext' || value === null ? [] : [[name, value]];
      }),
    ),
  };
}

/** The query of the API for what a table shows, without its page. */
export const toListQuery = ({ search, order, direction, filters }: TableState): Query => ({
  ...filters,
  fulltext: search,
  order,
  order_dir: order === undefined ? undefined : direction,
});
