import { foldCase } from './filter-values';
import type { TokenSource } from './substitute';

// Facts for filters that only the database has: the membership of values in value lists. They are
// looked up for the tokens of one decision, for all filters together, before any filter is
// evaluated.

/** A folded value that may be in a value list. */
export interface Membership {
  /** The name that the filter uses. */
  list: string;
  value: string;
}

/** Results of the lookups for one decision. */
export interface ListLookups {
  /** By `memberKey`. */
  members: ReadonlySet<string>;
  /** Set where a filter uses it: the user's id of the traffic source of the call. */
  user_traffic_source_id?: string | null;
}

export const memberKey = ({ list, value }: Membership): string => `${foldCase(list)}\n${value}`;

const lookupsByTokens = new WeakMap<TokenSource, ListLookups>();

/** Stores the lookups for the decision that reads its tokens from this source. */
export const setLookups = (tokens: TokenSource, lookups: ListLookups): void =>
  void lookupsByTokens.set(tokens, lookups);

export const readLookups = (tokens: TokenSource): ListLookups | undefined =>
  lookupsByTokens.get(tokens);

/** The spellings of a value in a list: without regard to case, and a ZIP+4 also as its ZIP. */
export function listSpellings(value: string): string[] {
  const key = foldCase(value);
  if (key === '') return [];
  const [, zip] = /^(\d{5})-?\d{4}$/.exec(key) ?? [];
  return zip ? [key, zip] : [key];
}

/** Throws where the list was not looked up. */
export function isMember(tokens: TokenSource, list: string, value: string): boolean {
  const keys = listSpellings(value);
  if (keys.length === 0) return false;
  const members = lookupsByTokens.get(tokens)?.members;
  if (!members) throw new Error(`the value list ${list} was not looked up`);
  return keys.some((key) => members.has(memberKey({ list, value: key })));
}
