import { sql, statement } from '../../../data/sql';

/** The living switch with a name, id or uuid. */
export const FIND_SWITCH = statement(
  'switches.find_switch',
  sql`
    SELECT s.id::text AS id
    FROM switches s
    WHERE s.company_id = {company_id} AND s.deleted_at IS NULL
      AND (s.name = {reference} OR s.id::text = {reference} OR s.uuid::text = {reference})
    ORDER BY s.name <> {reference}
    LIMIT 1`,
  { prepared: true },
);
