import type { Carrier, NumberSearch } from '../../platform/carriers/carrier';
import { MAX_NUMBERS } from '../../platform/carriers/number-search';
import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import type { Handlers } from '../../api/handlers';
import { pageReply } from '../../api/records/list';
import { type ListQuery } from '../../api/records/filters';
import { carrierUnavailable, findNumbers } from './find-numbers';
import { END, START } from '../../api/records/cursor';

/** Values of a new number that the request leaves out. */
export const DEFAULTS = { country: 'US', toll_free: false, forward_type: 'offer_id' } as const;

const PREFIX = /^[ +]?[ ().-]*\d[\d ().-]*$/;
const QUERY = /^[ +]?[ ().-]*[\da-z*][\da-z* ().-]*$/i;

interface SentSearch {
  country?: string;
  toll_free?: boolean;
  prefix?: string | null;
  query?: string | null;
}

/** Throws 422. A plus sign in a query string arrives as a space. */
export function parseSearch({
  country = DEFAULTS.country,
  toll_free = DEFAULTS.toll_free,
  prefix,
  query,
}: SentSearch): NumberSearch {
  if (prefix && !PREFIX.test(prefix))
    throw HttpProblem.field(
      'prefix',
      'invalid_value',
      'must be the digits that a number begins with, such as 212 or +44161',
    );
  if (query && !QUERY.test(query))
    throw HttpProblem.field(
      'query',
      'invalid_value',
      'must be digits, letters of a keypad, or * for any one digit',
    );
  return {
    country,
    toll_free,
    ...(prefix && { prefix: prefix.replace(/^ /, '+') }),
    ...(query && { query: query.replace(/^ /, '+') }),
  };
}

export async function searchNumbers(
  db: Db,
  query: ListQuery & SentSearch,
  selling: { carrier: Carrier; now: Date },
): ReturnType<Handlers['searchPhoneNumbers']> {
  const { page = 1, per_page = 25, cursor } = query;
  const result = await findNumbers(db, { ...parseSearch(query), limit: MAX_NUMBERS }, selling);
  if (!result.ok) throw carrierUnavailable(result, 'Nothing was found.');
  const first = cursor === undefined ? (page - 1) * per_page : toStartIndex(cursor);
  const next = first + per_page;
  return pageReply('phone_number_search_results', query, {
    records: result.numbers.slice(first, next).map(toRecord),
    total_count: result.numbers.length,
    next_cursor: next < result.numbers.length ? next : END,
  });
}

function toRecord({ phone_number, country }: { phone_number: string; country: string }): string {
  const record: Schemas['PhoneNumberSearchResult'] = {
    id: phone_number,
    legacy_id: phone_number,
    type: 'PhoneNumberSearchResult',
    phone_number,
    country,
  };
  return JSON.stringify(record);
}

/** The index of the first number of the page at a cursor. */
function toStartIndex(cursor: number): number {
  if (cursor === START) return 0;
  return cursor === END ? MAX_NUMBERS : cursor;
}
