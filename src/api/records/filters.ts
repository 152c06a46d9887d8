import { buildFilterCondition, buildVisibleCondition } from '../../data/access/scope';
import { buildMoneyCondition } from '../../data/access/money';
import { type AccessScope } from '../../data/db';
import { type Projection } from '../../data/projection/projection';
import { identify } from '../../data/records';
import { listMoneyOfFilters } from '../access/money-visibility';
import { cachedCount } from '../../data/projection/list-statements';
import type { Reference } from '../../data/records';

export interface ListQuery {
  ids?: Reference[];
  page?: number;
  per_page?: number;
  cursor?: number;
  created_at_from?: string;
  created_at_to?: string;
  fulltext?: string;
  time_zone?: string;
  columns?: string[];
  root?: boolean;
  order?: string;
  order_dir?: 'asc' | 'desc';
  format?: 'json' | 'csv';
  serializer?: string;
}

/**
 * A filter with a closed set of values: SQL over t for each, and SQL of how many records have it
 * where that is known without counting them.
 */
export interface FilterByCase {
  cases: Record<string, string>;
  totals?: Record<string, string>;
}

/**
 * One end of an interval whose records are counted by subtraction, where that is faster: `among` is
 * SQL of how many records have the value at all, `beyond` of how many of these lie outside this
 * end.
 */
export interface IntervalFilter {
  condition: string;
  among: string;
  beyond: string;
}

/**
 * A resource's own filters, by parameter: SQL over t with `{parameter}` for the value, or by case.
 */
export type Filters = Record<string, string | FilterByCase | IntervalFilter>;

interface ReadFilter extends Partial<IntervalFilter> {
  condition: string;
  total?: string | undefined;
}

function readFilter(filter: Filters[string], value: unknown): ReadFilter {
  if (typeof filter === 'string') return { condition: filter };
  if ('condition' in filter) return filter;
  return { condition: filter.cases[String(value)]!, total: filter.totals?.[String(value)] };
}

/** How many records meet all of the filters, where that is known. */
function buildTotal(filters: ReadFilter[]): string | undefined {
  const [{ total, among } = {}] = filters;
  if (filters.length === 1 && total !== undefined) return total;
  const isInterval = among !== undefined && filters.every((filter) => filter.among === among);
  if (!isInterval) return undefined;
  // Nothing lies beyond both ends, unless they are in the wrong order.
  return `greatest(0, ${[among, ...filters.map(({ beyond }) => beyond)].join(' - ')})`;
}

interface Conditions {
  /** SQL over t, all of which must be true. */
  conditions: string[];
  values: Record<string, unknown>;
  /** SQL of how many records meet them, where that is known without counting them. */
  total: { sql: string; is_number: true } | undefined;
}

/** Selects the records that match the filters and are in the caller's scope. */
export function buildConditions(
  query: ListQuery,
  projection: Projection,
  { filters, scope }: { filters: Filters; scope: AccessScope | undefined },
): Conditions {
  const { plural, appendOnly } = projection;
  const { limitedFulltext } = projection;
  const searched = (scope && limitedFulltext) ?? projection.fulltext;
  const { conditions, values } = commonConditions(query, searched);
  Object.assign(values, scope);
  const read: ReadFilter[] = [];
  const addScopeConditions = (filter: string) => {
    if (!scope) return;
    const condition = buildFilterCondition(filter, plural);
    if (condition) conditions.push(condition);
    const side = listMoneyOfFilters(projection.schema).get(filter);
    if (side) conditions.push(buildMoneyCondition(side));
  };
  if (query.fulltext) addScopeConditions('fulltext');
  for (const [name, filter] of Object.entries(filters)) {
    const value = (query as Record<string, unknown>)[name];
    if (value === undefined) continue;
    read.push(readFilter(filter, value));
    conditions.push(read.at(-1)!.condition);
    values[name] = value;
    addScopeConditions(name);
  }
  const all = appendOnly === true ? undefined : cachedCount(plural);
  const totalSql = conditions.length === 0 ? all : buildTotal(read);
  const inScope = scope && buildVisibleCondition(plural);
  const sql = conditions.length > read.length || inScope ? undefined : totalSql;
  if (inScope) conditions.push(inScope);
  return { conditions, values, total: sql === undefined ? undefined : { sql, is_number: true } };
}

function commonConditions(query: ListQuery, searched: string | undefined) {
  const { ids, created_at_from, created_at_to, fulltext } = query;
  const conditions: string[] = [];
  const values: Record<string, unknown> = {};
  const add = (condition: string, more: Record<string, unknown>) => {
    conditions.push(condition);
    Object.assign(values, more);
  };
  if (ids) {
    const identifiers = ids.map(identify);
    const pickValues = (kind: 'id' | 'uuid') =>
      identifiers.flatMap((name) => (name?.key === kind ? [name.value] : []));
    add('(t.id = ANY({ids}::bigint[]) OR t.uuid = ANY({uuids}::uuid[]))', {
      ids: pickValues('id'),
      uuids: pickValues('uuid'),
    });
  }
  if (created_at_from) add('t.created_at >= {created_at_from}::timestamptz', { created_at_from });
  if (created_at_to) add('t.created_at <= {created_at_to}::timestamptz', { created_at_to });
  if (fulltext && searched) add(...matchText(searched, fulltext));
  return { conditions, values };
}

/** Numbers stand as digits in most searched texts; people write them with signs between. */
const SPELLED_NUMBER = /^\+?[\d\s().-]{7,40}$/;
const MIN_DIGITS = 7;

function matchText(searched: string, text: string): [string, Record<string, unknown>] {
  const values = { fulltext: likePattern(text) };
  const digits = text.replaceAll(/\D/g, '');
  if (digits === text || digits.length < MIN_DIGITS || !SPELLED_NUMBER.test(text.trim()))
    return [`${searched} LIKE {fulltext}`, values];
  return [
    `(${searched} LIKE {fulltext} OR ${searched} LIKE {fulltext_digits})`,
    { ...values, fulltext_digits: likePattern(digits) },
  ];
}

const likePattern = (text: string): string => `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
