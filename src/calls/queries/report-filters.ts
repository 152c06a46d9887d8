import { sql, statement } from '../../db/sql';

/** The ids of the records that filters name by uuid; null where there is none. */
export const FIND_FILTERED = statement(
  'calls.find_filtered_records',
  sql`
    SELECT
      (
        SELECT o.id::text
        FROM offers o
        WHERE o.company_id = {company_id} AND o.uuid = {offer_id}::uuid
      ) AS offer_id,
      (
        SELECT b.id::text
        FROM buyers b
        WHERE b.company_id = {company_id} AND b.uuid = {buyer_id}::uuid
      ) AS buyer_id,
      (
        SELECT s.id::text
        FROM traffic_sources s
        WHERE s.company_id = {company_id} AND s.uuid = {traffic_source_id}::uuid
      ) AS traffic_source_id`,
  { prepared: false, nullable: ['offer_id', 'buyer_id', 'traffic_source_id'] },
);
