import type { Sql } from '../db/sql';
import { memberKey, setFound, type Found } from '../tokens/filter-lookups';
import { membershipsOf, type FilterNeeds } from '../tokens/filter-needs';
import { folded } from '../tokens/filter-values';
import type { TokenSource } from '../tokens/substitute';
import { FIND_MEMBERS, FIND_USER_IDS } from './queries/value-lists';

/** A decision whose filters need lookups in the database. */
export interface Deciding {
  company_id: bigint | string;
  tokens: TokenSource;
  needs: FilterNeeds;
  traffic_source_id?: number | string | null | undefined;
}

/**
 * Looks up values that filters need before they are evaluated: one statement for the lists of all
 * decisions, and one for the ids that users gave to traffic sources. Runs none if no filter needs
 * it.
 */
export async function lookUpForFilters(sql: Sql, deciding: readonly Deciding[]): Promise<void> {
  const user_ids = await findUserIds(sql, deciding);
  const members = await findMembers(sql, deciding);
  deciding.forEach(({ tokens }, place) => {
    const found: Found = {
      members: members.get(place) ?? new Set(),
      user_traffic_source_id: user_ids.get(place) ?? null,
    };
    setFound(tokens, found);
  });
}

async function findUserIds(
  sql: Sql,
  deciding: readonly Deciding[],
): Promise<Map<number, string | null>> {
  const asked = deciding.flatMap(({ company_id, needs, traffic_source_id }, place) =>
    needs.user_traffic_source_id && traffic_source_id
      ? [{ place, company_id: String(company_id), id: String(traffic_source_id) }]
      : [],
  );
  if (asked.length === 0) return new Map();
  const rows = await sql(FIND_USER_IDS, {
    company_ids: asked.map(({ company_id }) => company_id),
    ids: asked.map(({ id }) => id),
  });
  return new Map(
    rows.map(({ place, user_traffic_source_id }) => [
      asked[Number(place) - 1]!.place,
      user_traffic_source_id,
    ]),
  );
}

/** The memberships that hold, by the index of the decision. */
async function findMembers(
  sql: Sql,
  deciding: readonly Deciding[],
): Promise<Map<number, Set<string>>> {
  const asked = deciding.flatMap(({ company_id, needs, tokens }, place) =>
    needs.lists.length === 0
      ? []
      : membershipsOf(needs, tokens).map((each) => ({
          ...each,
          place,
          company_id: String(company_id),
        })),
  );
  const members = new Map<number, Set<string>>();
  if (asked.length === 0) return members;
  const rows = await sql(FIND_MEMBERS, {
    company_ids: asked.map(({ company_id }) => company_id),
    keys: asked.map(({ list }) => folded(list)),
    values: asked.map(({ value }) => value),
  });
  for (const row of rows) {
    const { place, list, value } = asked[Number(row.place) - 1]!;
    const known = members.get(place) ?? new Set();
    known.add(memberKey({ list, value }));
    members.set(place, known);
  }
  return members;
}
