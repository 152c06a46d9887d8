import { listedAs, memberKey, type Membership } from './filter-lookups';
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
const known = new WeakMap<readonly string[], FilterNeeds>();

/** Lists of filters are shared objects, so that each is read once. */
function needsOfList(filters: readonly string[]): FilterNeeds {
  let needs = known.get(filters);
  if (!needs) known.set(filters, (needs = readNeeds(filters)));
  return needs;
}

function readNeeds(filters: readonly string[]): FilterNeeds {
  const parsed = filters.flatMap((filter) => splitFilter(filter) ?? []);
  const lists = parsed.flatMap(({ name, operator, operand }) =>
    operator === 'in_list' || operator === 'not in_list' ? [{ name, list: operand }] : [],
  );
  const user_traffic_source_id = parsed.some(({ name }) => name === 'user_traffic_source_id');
  return lists.length > 0 || user_traffic_source_id ? { lists, user_traffic_source_id } : NOTHING;
}

export function needsOf(all: Iterable<readonly string[]>): FilterNeeds {
  let user_traffic_source_id = false;
  let last: readonly string[] | undefined;
  const lists = new Map<string, FilterNeeds['lists'][number]>();
  for (const filters of all) {
    if (filters === last) continue;
    last = filters;
    const needs = needsOfList(filters);
    if (needs === NOTHING) continue;
    user_traffic_source_id ||= needs.user_traffic_source_id;
    for (const each of needs.lists) lists.set(`${each.name}\n${each.list}`, each);
  }
  return { lists: [...lists.values()], user_traffic_source_id };
}

/** The memberships to look up for the tokens of a decision, each once. */
export function membershipsOf({ lists }: FilterNeeds, tokens: TokenSource): Membership[] {
  const asked = lists.flatMap(({ name, list }) =>
    listedAs(tokens(name) ?? '').map((value) => ({ list, value })),
  );
  return [...new Map(asked.map((each) => [memberKey(each), each])).values()];
}
