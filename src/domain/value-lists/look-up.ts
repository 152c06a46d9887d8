import type { Sql } from '../../data/sql';
import { memberKey, setLookups, type ListLookups } from '../../platform/tokens/filter-lookups';
import { listMemberships, type FilterNeeds } from '../../platform/tokens/filter-needs';
import { foldCase } from '../../platform/tokens/filter-values';
import type { TokenSource } from '../../platform/tokens/substitute';
import { FIND_MEMBERS, FIND_USER_IDS } from './queries/value-lists';

/** A decision whose filters need lookups in the database. */
export interface FilterDecision {
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
export async function lookUpForFilters(
  sql: Sql,
  deciding: readonly FilterDecision[],
): Promise<void> {
  const userIds = await findUserIds(sql, deciding);
  const members = await findMembers(sql, deciding);
  deciding.forEach(({ tokens }, index) => {
    const lookups: ListLookups = {
      members: members.get(index) ?? new Set(),
      user_traffic_source_id: userIds.get(index) ?? null,
    };
    setLookups(tokens, lookups);
  });
}

async function findUserIds(
  sql: Sql,
  deciding: readonly FilterDecision[],
): Promise<Map<number, string | null>> {
  const requestedSources = deciding.flatMap(({ company_id, needs, traffic_source_id }, index) =>
    needs.user_traffic_source_id && traffic_source_id
      ? [{ index, company_id: String(company_id), id: String(traffic_source_id) }]
      : [],
  );
  if (requestedSources.length === 0) return new Map();
  const rows = await sql(FIND_USER_IDS, {
    company_ids: requestedSources.map(({ company_id }) => company_id),
    ids: requestedSources.map(({ id }) => id),
  });
  return new Map(
    rows.map(({ index: position, user_traffic_source_id }) => [
      requestedSources[Number(position) - 1]!.index,
      user_traffic_source_id,
    ]),
  );
}

/** The memberships that hold, by the index of the decision. */
async function findMembers(
  sql: Sql,
  deciding: readonly FilterDecision[],
): Promise<Map<number, Set<string>>> {
  const memberships = deciding.flatMap(({ company_id, needs, tokens }, index) =>
    needs.lists.length === 0
      ? []
      : listMemberships(needs, tokens).map((membership) => ({
          ...membership,
          index,
          company_id: String(company_id),
        })),
  );
  const members = new Map<number, Set<string>>();
  if (memberships.length === 0) return members;
  const rows = await sql(FIND_MEMBERS, {
    company_ids: memberships.map(({ company_id }) => company_id),
    keys: memberships.map(({ list }) => foldCase(list)),
    values: memberships.map(({ value }) => value),
  });
  for (const row of rows) {
    const { index, list, value } = memberships[Number(row.index) - 1]!;
    const memberKeys = members.get(index) ?? new Set();
    memberKeys.add(memberKey({ list, value }));
    members.set(index, memberKeys);
  }
  return members;
}
