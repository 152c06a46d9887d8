import type { Projection, Selection } from './projection';
import { cacheTemplate, recordSql, selectionKey } from './projection-sql';
import { template, type Template } from '../statement';

/**
 * How a record is selected: by a key, by its id although it is deleted, or as a row that is not
 * saved yet.
 */
export type RecordSource = 'id' | 'uuid' | 'user_buyer_id' | 'deleted' | 'unsaved';

const ONE_COLUMN: Record<'id' | 'uuid' | 'user_buyer_id', string> = {
  id: 't.id = {id}::bigint',
  uuid: 't.uuid = {uuid}::uuid',
  user_buyer_id: 't.user_buyer_id = {user_buyer_id}',
};

/** The row to read, as a FROM item with the alias t. */
function rowSql({ plural: table, appendOnly }: Projection, source: RecordSource): string {
  if (source === 'unsaved')
    return `(
  SELECT t.*
  FROM jsonb_populate_record(NULL::${table}, {row}::jsonb) t
  WHERE t.company_id = {company_id}
) t`;
  const key = ONE_COLUMN[source === 'deleted' ? 'id' : source];
  const condition = appendOnly || source === 'deleted' ? key : `${key} AND t.deleted_at IS NULL`;
  return `(SELECT t.* FROM ${table} t WHERE t.company_id = {company_id} AND ${condition}) t`;
}

/**
 * A statement that returns one record as JSON text in the column `record`. Its parameters are
 * company_id, now, and id, uuid, user_buyer_id or row (the JSON of an unsaved row).
 */
export function recordTemplate(
  projection: Projection,
  source: RecordSource,
  selection: Selection,
): Template {
  return cacheTemplate(`record|${source}|${selectionKey(projection, selection)}`, () => {
    const { select, joins } = recordSql(projection, selection);
    const from = rowSql(projection, source);
    return template(`SELECT ${select} AS record FROM ${from}\n${joins}`, { prepared: true });
  });
}

/**
 * The end of a statement whose CTE `rows` has rows of the resource's table: returns them as JSON
 * text in the column `record`, with `more` columns.
 */
export function selectRecords(
  projection: Projection,
  rows: string,
  { more, ...selection }: Selection & { more: string },
): string {
  const { select, joins } = recordSql(projection, selection);
  return `SELECT ${select} AS record, ${more} FROM ${rows} t\n${joins}`;
}
