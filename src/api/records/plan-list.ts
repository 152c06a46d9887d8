import { listFields, unknownColumns, type Projection } from '../../data/projection/projection';
import { ianaName } from '../../platform/time/zone';
import { END, findPosition } from './cursor';
import { buildConditions, type ListQuery } from './filters';
import { isExternal, isGrid } from './record';
import { buildMoneyCondition } from '../../data/access/money';
import {
  toListRows,
  type List,
  type ListShape,
  type SortKey,
} from '../../data/projection/list-statements';
import { prepareSavedCount } from '../../data/counts/saved-counts';
import type { CachedCount } from '../../data/counts/settled-counts';
import type { Db } from '../../data/db';
import type { Filters } from './filters';

export interface ListOptions {
  db: Db;
  now: Date;
  projection: Projection;
  /** Sort keys by the contract's names; `id` needs none. */
  orders: Record<string, SortKey>;
  filters?: Filters;
}

/** The statement of a list, and its parameters. */
export interface Plan extends List {
  /** Reads the total, where the statement answers more than the number. */
  settled?: CachedCount | undefined;
  /** Requested columns that do not exist. */
  unknown_columns: string[];
}

/**
 * Plans with their projection, by query object: many requests share a query
 * (src/api/request/valid-queries.ts).
 */
const sharedPlans = new WeakMap<ListQuery, { plan: Plan; projection: Projection }>();

/** Plans which records a list reads, in which order, from where, and with which columns. */
export async function planList(query: ListQuery, options: ListOptions): Promise<Plan> {
  const { db, now } = options;
  const plan = findSharedPlan(query, options) ?? (await buildAndSharePlan(query, options));
  const common = { company_id: db.company_id, now: now.toISOString() };
  return { ...plan, values: { ...common, ...plan.values } };
}

function findSharedPlan(query: ListQuery, { db, projection }: ListOptions): Plan | undefined {
  const sharedPlan = sharedPlans.get(query);
  return sharedPlan?.projection === projection && !db.accessScope ? sharedPlan.plan : undefined;
}

async function buildAndSharePlan(query: ListQuery, options: ListOptions): Promise<Plan> {
  const { db, projection } = options;
  const plan = await buildPlan(query, options);
  const { shape, settled } = plan;
  const isSameForAll = !db.accessScope && !shape.after && !settled && db.batched;
  if (Object.isFrozen(query) && isSameForAll) sharedPlans.set(query, { plan, projection });
  return plan;
}

async function buildPlan(
  query: ListQuery,
  { db, now, projection, orders, filters = {} }: ListOptions,
): Promise<Plan> {
  const scope = db.accessScope;
  const sort = pickSort(query.order, { projection, orders, limited: scope !== undefined });
  const after = await findPosition(query.cursor, { db, now, projection, sort });
  const { conditions, values, total } = buildConditions(query, projection, { filters, scope });
  const zone = query.time_zone === undefined ? undefined : ianaName(query.time_zone);
  const isCsv = query.format === 'csv';
  const hasTotal = query.root !== false && !isCsv;
  const settled =
    hasTotal && !total ? await loadCachedCount(db, projection, { conditions, values }) : undefined;
  const rows = toListRows(projection, {
    columns: pickColumns(query, projection),
    grid: isGrid(query.serializer),
    external: isExternal(query.serializer),
    limited: scope !== undefined,
    zone: zone === 'UTC' ? undefined : zone,
  });
  const shape: ListShape = {
    conditions,
    sort,
    descending: query.order_dir === 'desc',
    ...(!isCsv && buildLimits(query)),
    after: after && (after.key === null ? 'null' : 'value'),
    total: hasTotal ? (total ?? settled ?? 'counted') : 'none',
  };
  return {
    rows,
    shape,
    values: { zone, ...settled?.values, after_key: after?.key, after_id: after?.id, ...values },
    settled,
    unknown_columns: unknownColumns(projection, query.columns),
  };
}

/**
 * The partly cached count of a filtered list. Not for a text, which is seldom searched twice, nor
 * in a transaction, which sees its own rows.
 */
async function loadCachedCount(
  db: Db,
  projection: Projection,
  { conditions, values }: Pick<ListShape, 'conditions'> & { values: Record<string, unknown> },
): Promise<CachedCount | undefined> {
  const isRepeated = !('ids' in values || 'fulltext' in values);
  if (!projection.hasCachedCounts || db.accessScope || !db.batched || !isRepeated) return undefined;
  return prepareSavedCount(db, projection, { conditions, values });
}

/** A limited caller's list is ordered by the values that this caller may read. */
function pickSort(
  order: string | undefined,
  {
    projection,
    orders,
    limited,
  }: Pick<ListOptions, 'projection' | 'orders'> & { limited: boolean },
): SortKey | 'key' {
  const key = order && orders[order];
  if (!key) return 'key';
  const side =
    limited && listFields(projection).find(({ name }) => name === order)?.moneyVisibility;
  if (!side) return key;
  return {
    ...key,
    sql: `CASE WHEN ${buildMoneyCondition(side)} THEN ${key.sql} END`,
    nullable: true,
  };
}

/** One record more than a page shows whether another page follows. */
export function buildLimits({
  per_page = 25,
  page = 1,
  cursor,
}: Pick<ListQuery, 'per_page' | 'page' | 'cursor'>) {
  return {
    limit: cursor === END ? 0 : per_page + 1,
    offset: cursor === undefined ? (page - 1) * per_page : 0,
  };
}

/** The requested columns in the contract's order; undefined for all. */
function pickColumns({ columns }: ListQuery, projection: Projection): string[] | undefined {
  if (!columns?.length) return undefined;
  const fields = listFields(projection).filter(({ name }) => columns.includes(name));
  return fields.map(({ name }) => name);
}
