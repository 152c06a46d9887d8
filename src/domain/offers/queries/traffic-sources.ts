import { sql, statement } from '../../../data/sql';

/** Matches of id and uuid come first; both are null when the name can be neither. */
export const FIND_TRAFFIC_SOURCE = statement(
  'offers.find_traffic_source',
  sql`
    SELECT id
    FROM traffic_sources
    WHERE company_id = {company_id}
      AND deleted_at IS NULL
      AND (user_traffic_source_id = {name} OR id = {id}::bigint OR uuid = {uuid}::uuid)
    ORDER BY id = {id}::bigint DESC NULLS LAST, uuid = {uuid}::uuid DESC NULLS LAST
    LIMIT 1
  `,
  { prepared: false },
);
