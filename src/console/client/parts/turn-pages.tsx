import { count } from '../format';

interface TurnPagesProps {
  page: number;
  pages: number;
  turn: (page: number) => void;
}

/** Buttons from page to page; nothing where there is only one. */
export function TurnPages({ page, pages, turn }: TurnPagesProps) {
  if (pages <= 1) return null;
  return (
    <>
      <button type="button" disabled={page <= 1} onClick={() => turn(page - 1)}>
        Previous
      </button>
      <span>
        Page {count(page)} of {count(pages)}
      </span>
      <button type="button" disabled={page >= pages} onClick={() => turn(page + 1)}>
        Next
      </button>
    </>
  );
}
