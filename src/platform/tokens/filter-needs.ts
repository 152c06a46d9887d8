import { listSpellings, memberKey, type Membership } from './filter-lookups';
import { splitFilter } from './filters';
import type { TokenSource } from './substitute';

/** The lookups that the filters of a decision need. */
export interface FilterNeeds {
  /** Lists, as filters name them, each with a token whose value may be in it. */
  lists: readonly { name: string; list: string }[];
  /** A filter uses the user's id of the traffic source. */
  user_traffic_source_id: boolean;
}

const NOTHING: FilterNeeds = { lists: [], user_traffic_source_id: false };
const needsByFilters = new WeakMap<readonly string[], FilterNeeds>();

/** Lists of filters are shared objects, so that each is read once. */
function needsOfList(filters: readonly string[]): FilterNeeds {
  let needs = needsByFilters.get(filters);
  if (!needs) needsByFilters.set(filters, (needs = readNeeds(filters)));
  return needs;
}

function readNeeds(filters: readonly string[]): FilterNeeds {
  const parsed = filters.flatMap((filter) => splitFilter(filter) ?? []);
  const lists = parsed.flatMap(({ name, operator, operand }) =>
    operator === 'in_list' || operator === 'not in_list' ? [{ name, list: operand }] : [],
  );
  const userTrafficSourceId = parsed.some(({ name }) => name === 'user_traffic_source_id');
  return lists.length > 0 || userTrafficSourceId
    ? { lists, user_traffic_source_id: userTrafficSourceId }
    : NOTHING;
}

export function combineNeeds(all: Iterable<readonly string[]>): FilterNeeds {
  let userTrafficSourceId = false;
  let last: readonly string[] | undefined;
  const lists = new Map<string, FilterNeeds['lists'][number]>();
  for (const filters of all) {
    if (filters === last) continue;
    last = filters;
    const needs = needsOfList(filters);
    if (needs === NOTHING) continue;
    userTrafficSourceId ||= needs.user_traffic_source_id;
    for (const entry of needs.lists) lists.set(`${entry.name}\n${entry.list}`, entry);
  }
  return { lists: [...lists.values()], user_traffic_source_id: userTrafficSourceId };
}

/** The memberships to look up for the tokens of a decision, each once. */
export function listMemberships({ lists }: FilterNeeds, tokens: TokenSource): Membership[] {
  const memberships = lists.flatMap(({ name, list }) =>
    listSpellings(tokens(name) ?? '').map((value) => ({ list, value })),
  );
  return [
    ...new Map(memberships.map((membership) => [memberKey(membership), membership])).values(),
  ];
}
