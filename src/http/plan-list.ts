import { fieldsOf, unknownColumns, type Projection } from '../db/projection';
import { ianaName } from '../time/zone';
import { END, positionOf } from './cursor';
import { conditionsOf } from './filters';
import type { ListOptions, ListQuery } from './list';
import { isExternal, isGrid } from './record';
import { sideCondition, visible } from '../db/access-scope';
import { isFoundFirst, listTemplate, type ListShape, type SortKey } from '../db/list-statements';
import { savedCount } from '../db/saved-counts';
import type { SettledCount } from '../db/settled-counts';
import type { Template } from '../db/statement';
import type { Db } from '../db/tenant';

/** The statement of a list: its shape, which is cached, and its parameters. */
export interface Plan {
  shape: ListShape;
  /** The whole page in one statement, if its best plan does not depend on the values. */
  template: Template | undefined;
  values: Record<string, unknown>;
  /** Reads the total, where the statement answers more than the number. */
  settled?: SettledCount | undefined;
  /** Requested columns that do not exist. */
  unknown_columns: string[];
}

/**
 * Plans with their projection, by query object: many requests share a query
 * (src/http/valid-queries.ts).
 */
const known = new WeakMap<ListQuery, { plan: Plan; projection: Projection }>();

/** Plans which records a list reads, in which order, from where, and with which columns. */
export async function planList(query: ListQuery, options: ListOptions): Promise<Plan> {
  const { db, now } = options;
  const plan = knownPlan(query, options) ?? (await planUnknown(query, options));
  const common = { company_id: db.company_id, now: now.toISOString() };
  return { ...plan, values: { ...common, ...plan.values } };
}

function knownPlan(query: ListQuery, { db, projection }: ListOptions): Plan | undefined {
  const found = known.get(query);
  return found?.projection === projection && !db.accessScope ? found.plan : undefined;
}

async function planUnknown(query: ListQuery, options: ListOptions): Promise<Plan> {
  const { db, projection } = options;
  const plan = await makePlan(query, options);
  const { shape, settled } = plan;
  const is_same_for_all = !db.accessScope && !shape.after && !settled && db.batched;
  if (Object.isFrozen(query) && is_same_for_all) known.set(query, { plan, projection });
  return plan;
}

async function makePlan(
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
  return {
    shape,
    template: isPlain(shape, projection) ? listTemplate(projection, shape) : undefined,
    values: { zone, ...settled?.values, after_key: after?.key, after_id: after?.id, ...values },
    settled,
    unknown_columns: unknownColumns(projection, query.columns),
  };
}

const isPlain = (shape: ListShape, { plural }: Projection): boolean =>
  shape.limit !== undefined &&
  !shape.offset &&
  shape.conditions.every((condition) => condition === visible(plural)) &&
  !isFoundFirst(shape);

/**
 * The partly cached count of a filtered list. Not for a text, which is seldom searched twice, nor
 * in a transaction, which sees its own rows.
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

/** A limited caller's list is ordered by the values that this caller may read. */
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

/** The requested columns in the contract's order; undefined for all. */
function knownColumns({ columns }: ListQuery, projection: Projection): string[] | undefined {
  if (!columns?.length) return undefined;
  const known = fieldsOf(projection).filter(({ name }) => columns.includes(name));
  return known.map(({ name }) => name);
}
