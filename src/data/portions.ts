/** Rows that one transaction of housekeeping deletes. */
export const PORTION = 500;

/**
 * Repeats `deletePortion`, which returns how many rows it has deleted, until none are left. Each
 * portion is committed separately, so every run makes progress, however many rows there are.
 */
export async function deleteInPortions(deletePortion: () => Promise<number>): Promise<void> {
  while ((await deletePortion()) > 0);
}
