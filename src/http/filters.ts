import { alsoVisible, sideCondition, visible, type AccessScope } from '../db/access-scope';
import { type Projection } from '../db/projection';
import { identify } from '../db/records';
import type { ListQuery } from './list';
import { sidesOfFilters } from './sides';
import { cachedCount } from '../db/list-statements';

/**
 * A filter with a closed set of values: SQL over t for each, and SQL of how many records have it
 * where that is known without counting them.
 */
export interface FilterByCase {
  cases: Record<string, string>;
  totals?: Record<string, string>;
}

/** A filter with SQL of how many records meet it, which is faster than counting them. */
export interface CountedFilter {
  condition: string;
  total: string;
}

/**
 * A resource's own filters, by parameter: SQL over t with `{parameter}` for the value, or by case.
 */
export type Filters = Record<string, string | FilterByCase | CountedFilter>;

function readFilter(filter: Filters[string], value: unknown): Partial<CountedFilter> {
  if (typeof filter === 'string') return { condition: filter };
  if ('condition' in filter) return filter;
  const [condition, total] = [filter.cases[String(value)]!, filter.totals?.[String(value)]];
  return total === undefined ? { condition } : { condition, total };
}

interface Conditions {
  /** SQL over t, all of which must be true. */
  conditions: string[];
  values: Record<string, unknown>;
  /** SQL of how many records meet them, where that is known without counting them. */
  total: { sql: string } | undefined;
}

/** Which records a list has: those of its filters that are in the caller's scope. */
export function conditionsOf(
  query: ListQuery,
  projection: Projection,
  { filters, scope }: { filters: Filters; scope: AccessScope | undefined },
): Conditions {
  const { plural, everlasting } = projection;
  const { conditions, values } = commonConditions(query, projection);
  Object.assign(values, scope);
  const totals: (string | undefined)[] = [];
  const addScopeOf = (filter: string) => {
    if (!scope) return;
    const condition = alsoVisible(filter, plural);
    if (condition) conditions.push(condition);
    const side = sidesOfFilters(projection.schema).get(filter);
    if (side) conditions.push(sideCondition(side));
  };
  if (query.fulltext) addScopeOf('fulltext');
  for (const [name, filter] of Object.entries(filters)) {
    const value = (query as Record<string, unknown>)[name];
    if (value === undefined) continue;
    const { condition, total } = readFilter(filter, value);
    conditions.push(condition!);
    values[name] = value;
    addScopeOf(name);
    if (typeof filter !== 'string') totals.push(total);
  }
  if (conditions.length === 0 && everlasting !== true) totals.push(cachedCount(plural));
  const in_scope = scope && visible(plural);
  const [sql] = conditions.length <= 1 && !in_scope ? totals : [];
  if (in_scope) conditions.push(in_scope);
  return { conditions, values, total: sql === undefined ? undefined : { sql } };
}

/** The conditions of ids, created_at_* and fulltext, which every list has. */
function commonConditions(query: ListQuery, projection: Projection) {
  const { ids, created_at_from, created_at_to, fulltext } = query;
  const conditions: string[] = [];
  const values: Record<string, unknown> = {};
  const add = (condition: string, more: Record<string, unknown>) => {
    conditions.push(condition);
    Object.assign(values, more);
  };
  if (ids) {
    const named = ids.map(identify);
    const valuesOf = (kind: 'id' | 'uuid') =>
      named.flatMap((name) => (name?.key === kind ? [name.value] : []));
    add('(t.id = ANY({ids}::bigint[]) OR t.uuid = ANY({uuids}::uuid[]))', {
      ids: valuesOf('id'),
      uuids: valuesOf('uuid'),
    });
  }
  if (created_at_from) add('t.created_at >= {created_at_from}::timestamptz', { created_at_from });
  if (created_at_to) add('t.created_at <= {created_at_to}::timestamptz', { created_at_to });
  if (fulltext && projection.fulltext)
    add(`${projection.fulltext} LIKE {fulltext}`, { fulltext: likePattern(fulltext) });
  return { conditions, values };
}

const likePattern = (text: string): string => `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
