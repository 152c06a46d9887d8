import type { Sql } from '../../data/sql';
import { DELETE_KEY, FIND_KEPT_KEYS, LIST_OLD_KEYS } from './queries/directory';

const PAGE = 1_000;

/**
 * Releases the keys of a cell's companies that no record has: the record was deleted, or never
 * written. A key that is claimed meanwhile is kept.
 */
export async function cleanDirectory(
  coordinator: Sql,
  { cell_id, sql }: { cell_id: number; sql: Sql },
): Promise<void> {
  for (let after = { after_kind: '', after_key: '' }; ;) {
    const old = await coordinator(LIST_OLD_KEYS, { cell_id, ...after, max: PAGE });
    const last = old.at(-1);
    if (!last) return;
    const usedKeys = await sql(FIND_KEPT_KEYS, {
      kinds: old.map(({ kind }) => kind),
      keys: old.map(({ key }) => key),
      companies: old.map(({ company_id }) => company_id),
    });
    const names = new Set(usedKeys.map(({ kind, key }) => `${kind} ${key}`));
    const unused = old.filter(({ kind, key }) => !names.has(`${kind} ${key}`));
    for (const { kind, key, claimed_at } of unused)
      await coordinator(DELETE_KEY, { kind, key, claimed_at });
    after = { after_kind: last.kind, after_key: last.key };
  }
}
