import type { TableState } from './state';

interface HeadingProps {
  title: string;
  isNumber: boolean;
  order: string | undefined;
  state: Pick<TableState, 'order' | 'direction'>;
  sort: (order: string, direction: 'asc' | 'desc') => void;
}

/** The heading of a column; sorted by the server where it can. */
export function Heading({ title, isNumber: isRight, order, state, sort }: HeadingProps) {
  const isSorted = order !== undefined && state.order === order;
  const isAscending = state.direction === 'asc';
  const direction = isAscending ? 'ascending' : 'descending';
  return (
    <th scope="col" class={isRight ? 'number' : ''} aria-sort={isSorted ? direction : undefined}>
      {order === undefined ? (
        title
      ) : (
        <button
          type="button"
          onClick={() => sort(order, isSorted && !isAscending ? 'asc' : 'desc')}
        >
          {title} {isSorted && <span aria-hidden="true">{isAscending ? '↑' : '↓'}</span>}
        </button>
      )}
    </th>
  );
}
