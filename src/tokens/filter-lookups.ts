import { folded } from './filter-values';
import type { TokenSource } from './substitute';

// What filters need that only the database knows: whether a value is in a list of values. It is
// looked up for the tokens of one decision, all filters together, before any filter is judged.

/** Whether a value, folded, is in a list of values. */
export interface Membership {
  /** As the filter names it. */
  list: string;
  value: string;
}

/** What was looked up for one decision. */
export interface Found {
  /** By `memberKey`. */
  members: ReadonlySet<string>;
  /** Of the traffic source of the call, where a filter asks for it. */
  user_traffic_source_id?: string | null;
}

export const memberKey = ({ list, value }: Membership): string => `${folded(list)}\n${value}`;

const found_for = new WeakMap<TokenSource, Found>();

/** Sets what was looked up for the decision that reads its tokens from a source. */
export const setFound = (tokens: TokenSource, found: Found): void =>
  void found_for.set(tokens, found);

export const foundFor = (tokens: TokenSource): Found | undefined => found_for.get(tokens);

/**
 * What a value may be written as in a list: without regard to case, and a ZIP+4 also as its ZIP.
 */
export function listedAs(value: string): string[] {
  const key = folded(value);
  if (key === '') return [];
  const [, zip] = /^(\d{5})-?\d{4}$/.exec(key) ?? [];
  return zip ? [key, zip] : [key];
}

/** Whether a value is in a list. Throws when that was not looked up. */
export function isMember(tokens: TokenSource, list: string, value: string): boolean {
  const keys = listedAs(value);
  if (keys.length === 0) return false;
  const members = found_for.get(tokens)?.members;
  if (!members) throw new Error(`the value list ${list} was not looked up`);
  return keys.some((key) => members.has(memberKey({ list, value: key })));
}
