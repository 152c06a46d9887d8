import { fieldsOf, type Projection } from '../db/projection';
import { ianaName } from '../time/zone';
import { END, positionOf } from './cursor';
import { conditionsOf } from './filters';
import type { ListOptions, ListQuery } from './list';
import { isExternal, isGrid } from './record';
import { sideCondition } from '../db/access-scope';
import { type ListShape, type SortKey } from '../db/list-statements';
import { savedCount } from '../db/saved-counts';
import type { SettledCount } from '../db/settled-counts';
import type { Db } from '../db/tenant';

/** The statement of a list: its shape, which is cached, and its parameters. */
export interface Plan {
  shape: ListShape;
  values: Record<string, unknown>;
  /** Reads the total, where the statement answers more than the number. */
  settled?: SettledCount | undefined;
}

/** What a list reads: which records, in which order, from where, and with which columns. */
export async function planList(
  query: ListQuery,
  { db, now, projection, orders, filters = {} }: ListOptions,
): Promise<Plan> {
  const scope = db.accessScope;
  const sort = sortOf(query.order, { projection, orders, limited: scope !== undefined });
  const after = await positionOf(query.cursor, { db, now, projection, sort });
  const { conditions, values, total } = conditionsOf(query, projection, { filters, scope });
  const zone = query.time_zone === undefined ? undefined : ianaName(query.time_zone);
  const is_csv = query.format === 'csv';
  const has_total = query.root !== false && !is_csv;
  const settled =
    has_total && !total ? await settledCount(db, projection, { conditions, values }) : undefined;
  const shape: ListShape = {
    columns: knownColumns(query, projection),
    grid: isGrid(query.serializer),
    external: isExternal(query.serializer),
    limited: scope !== undefined,
    zone: zone === 'UTC' ? undefined : zone,
    conditions,
    sort,
    descending: query.order_dir === 'desc',
    ...(!is_csv && limitsOf(query)),
    after: after && (after.key === null ? 'null' : 'value'),
    total: has_total ? (total ?? settled ?? 'counted') : 'none',
  };
  const common = { company_id: db.company_id, now: now.toISOString(), zone, ...settled?.values };
  return {
    shape,
    values: { ...common, after_key: after?.key, after_id: after?.id, ...values },
    settled,
  };
}

/**
 * The count of a filtered list that is remembered in part. Not of a text, which is seldom searched
 * twice, nor in a transaction, which sees its own rows.
 */
async function settledCount(
  db: Db,
  projection: Projection,
  { conditions, values }: Pick<ListShape, 'conditions'> & { values: Record<string, unknown> },
): Promise<SettledCount | undefined> {
  const is_repeated = !('ids' in values || 'fulltext' in values);
  if (!projection.settles || db.accessScope || !db.batched || !is_repeated) return undefined;
  return savedCount(db, projection, { conditions, values });
}

/** The order of a list. A limited caller's order is that of what this caller may read. */
function sortOf(
  order: string | undefined,
  {
    projection,
    orders,
    limited,
  }: Pick<ListOptions, 'projection' | 'orders'> & { limited: boolean },
): SortKey | 'id' {
  const key = order && orders[order];
  if (!key) return 'id';
  const side = limited && fieldsOf(projection).find(({ name }) => name === order)?.side;
  if (!side) return key;
  return { ...key, sql: `CASE WHEN ${sideCondition(side)} THEN ${key.sql} END`, nullable: true };
}

/** One record more than a page shows whether another page follows. */
function limitsOf({ per_page = 25, page = 1, cursor }: ListQuery) {
  return {
    limit: cursor === END ? 0 : per_page + 1,
    offset: cursor === undefined ? (page - 1) * per_page : 0,
  };
}

/** The columns asked for, in the contract's order; all if none is named. */
function knownColumns({ columns }: ListQuery, projection: Projection): string[] | undefined {
  if (!columns?.length) return undefined;
  const known = fieldsOf(projection).filter(({ name }) => columns.includes(name));
  return known.map(({ name }) => name);
}
