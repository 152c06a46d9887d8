/** Rows that one transaction of housekeeping deletes. */
export const PORTION = 500;

/**
 * Repeats what deletes a portion and returns how many rows it was, until there are none left. Each
 * portion is committed by itself: however much there is, it gets less.
 */
export async function deleteInPortions(deletePortion: () => Promise<number>): Promise<void> {
  while ((await deletePortion()) > 0);
}
