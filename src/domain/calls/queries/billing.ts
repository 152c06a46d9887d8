import { sql, SqlText, statement } from '../../../data/sql';
import type { Unbilled, UnbilledReason } from '../../money/engine/explain-unbilled';
import { UNBILLED_REASON } from '../columns';

/** A call's payment, and the last event about a payment that its buyer does not make. */
export const READ_BILLING = statement(
  'calls.read_billing',
  sql`
    SELECT
      t.buyer_id::float8 AS buyer_id, t.buyer_converted,
      ${new SqlText(UNBILLED_REASON)} AS unbilled_reason,
      e.message, e.details
    FROM calls t
    LEFT JOIN LATERAL (
      SELECT x.message, x.details
      FROM call_events x
      WHERE x.company_id = t.company_id AND x.call_id = t.id
        AND x.event = 'not_converted' AND x.buyer_id = t.buyer_id
      ORDER BY x.id DESC
      LIMIT 1
    ) e ON true
    WHERE t.company_id = {company_id} AND t.id = {call_id}::bigint`,
  { prepared: true, nullable: ['buyer_id', 'unbilled_reason', 'message', 'details'] },
).returning<{
  unbilled_reason: UnbilledReason | null;
  details: Partial<Pick<Unbilled, 'conversions'>> | null;
}>();
