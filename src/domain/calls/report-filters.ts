import type { Schemas } from '../../platform/contract/contract';
import type { Reference } from '../../data/records';
import type { Db } from '../../data/db';

export interface ReportFilters {
  created_at_from?: string;
  created_at_to?: string;
  offer_id?: Reference;
  buyer_id?: Reference;
  traffic_source_id?: Reference;
  call_category?: Schemas['CallCategory'];
}

/** Parameters of the statements of reports, null if not given. */
export const toFilterParams = ({ accessScope }: Db, filters: ReportFilters) => ({
  created_at_from: filters.created_at_from ?? null,
  created_at_to: filters.created_at_to ?? null,
  offer_id: toIdText(filters.offer_id),
  buyer_id: toIdText(filters.buyer_id),
  traffic_source_id: toIdText(filters.traffic_source_id),
  call_category: filters.call_category ?? null,
  scope_teams: accessScope ? parseTeams(accessScope.scope_teams) : null,
});

/** The request pipeline has replaced references in filters by ids. */
const toIdText = (reference: Reference | undefined): string | null =>
  reference === undefined ? null : String(reference);

/** The elements of an array as PostgreSQL writes it. */
const parseTeams = (array: string): string[] => array.slice(1, -1).split(',').filter(Boolean);
