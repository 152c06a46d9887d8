import type { Db } from '../../data/db';
import { recordTableWrite } from '../../data/routing-changes';
import { removeValues } from '../../domain/value-lists/change-values';
import { addCount, type Counts } from './erase-rows';
import {
  COUNTING_SEARCHES,
  ERASING_SEARCHES,
  type Search,
  type SearchedWindow,
} from './queries/mentions';
import { ERASE_REJECTED_ROWS, FIND_LIST_VALUES, LOCK_LIST } from './queries/windows';
import type { Spellings } from './spellings';

// Searches for the person where a number or an address has no column of its own. Every table is
// read in windows, each in its own transaction: no lock and no statement lasts long, however large
// the table is. A search may be repeated.

const LIMIT = 1_000;

/** Removes the person from texts, lists and rows, and counts the settings that name the person. */
export async function searchEverywhere(
  db: Db,
  spellings: Spellings,
  { erased, keptCounts }: { erased: Counts; keptCounts: Counts },
): Promise<void> {
  for (const search of ERASING_SEARCHES)
    addCount(erased, search.table, await searchTable(db, search, spellings));
  addCount(erased, 'rejected_rows', await eraseRejectedRows(db, spellings));
  addCount(erased, 'list_values', await removeListValues(db, spellings));
  for (const search of COUNTING_SEARCHES)
    addCount(keptCounts, search.table, await searchTable(db, search, spellings));
}

/** Searches all windows of a table; returns how many rows mention the person. */
async function searchTable(
  db: Db,
  { table, search }: Search,
  { pattern }: Spellings,
): Promise<number> {
  let total = 0;
  for (let after: string | null = '0'; after !== null;) {
    const params = { company_id: db.company_id, after, limit: LIMIT, pattern };
    const searched: SearchedWindow = await db.transaction(async (tx) => {
      const [part] = await tx.query<SearchedWindow>(search(params));
      // Processes that route calls cache names of buyers.
      if (part!.mentioned > 0) recordTableWrite(tx, table);
      return part!;
    });
    total += searched.mentioned;
    after = searched.last;
  }
  return total;
}

async function eraseRejectedRows(db: Db, spellings: Spellings): Promise<number> {
  let total = 0;
  let [afterFile, afterLine] = ['0', '-1'];
  for (;;) {
    const params = { ...spellings, after_file: afterFile, after_line: afterLine, limit: LIMIT };
    const [searched] = await db.sql(ERASE_REJECTED_ROWS, params);
    if (!searched) return total;
    total += searched.erased!;
    [afterFile, afterLine] = [searched.last_file, searched.last_line];
  }
}

async function removeListValues(db: Db, spellings: Spellings): Promise<number> {
  let total = 0;
  let [afterList, afterId] = ['0', '-1'];
  for (;;) {
    const params = { ...spellings, after_list: afterList, after_id: afterId, limit: LIMIT };
    const [searched] = await db.sql(FIND_LIST_VALUES, params);
    if (!searched) return total;
    const entries = searched.spelled as { list: number; value: string }[];
    for (const list of new Set(entries.map((entry) => entry.list))) {
      const values = entries.filter((entry) => entry.list === list).map(({ value }) => value);
      total += await db.transaction(async (tx) => {
        await tx.sql(LOCK_LIST, { list });
        return removeValues(tx, BigInt(list), values);
      });
    }
    [afterList, afterId] = [searched.last_list, searched.last_id];
  }
}
