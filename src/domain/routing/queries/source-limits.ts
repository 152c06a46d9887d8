import { IS_LIMITED } from '../../caps/queries/cap-limits';
import { sql, statement } from '../../../data/sql';
import type { SourceLimits } from '../engine/source';

/** No row for a traffic source without limits. */
export const SOURCE_LIMITS = statement(
  'routing.source_limits',
  sql`
    SELECT row_to_json(l) AS limits
    FROM call_limits l
    WHERE l.company_id = {company_id} AND l.traffic_source_id = {id}::bigint AND ${IS_LIMITED}
  `,
  { prepared: true },
).returning<{ limits: SourceLimits }>();
