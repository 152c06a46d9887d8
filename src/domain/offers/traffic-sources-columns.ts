import { capColumns, limitsJoin } from '../caps/cap-columns';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';
import { commonColumns, type Projection } from '../../data/projection/projection';

const CALL_COUNTS = `traffic_source_call_counts k
  WHERE k.company_id = t.company_id AND k.traffic_source_id = t.id`;
const COUNTED_CALLS = `(SELECT coalesce(sum(k.n), 0)::bigint FROM ${CALL_COUNTS})`;
const caps = capColumns('l');
const maxedOut = `(${caps.maxed_out_by}) IS NOT NULL`;

export const projection = {
  schema: 'TrafficSource',
  singular: 'traffic_source',
  plural: 'traffic_sources',
  joins: { l: limitsJoin('traffic_source_id') },
  fulltext: `lower(
    coalesce(t.name, '') || E'\\n' || coalesce(t.user_traffic_source_id, '')
    || E'\\n' || coalesce(t.email, '') || E'\\n' || coalesce(t.external_record_id, '')
    || E'\\n' || coalesce(t.first_name, '') || E'\\n' || coalesce(t.last_name, '')
    || E'\\n' || coalesce(t.company_name, '')
  )`,
  columns: {
    ...commonColumns('traffic_sources'),
    type: `'TrafficSource'`,
    name: true,
    user_traffic_source_id: true,
    email: true,
    description: true,
    first_name: true,
    last_name: true,
    company_name: true,
    paused: true,
    time_zone: true,
    ...caps,
    maxed_out: maxedOut,
    blocked_buyer_ids: true,
    allowed_buyer_ids: true,
    payouts: true,
    last_call_at: `(SELECT max(k.last_call_at) FROM ${CALL_COUNTS})`,
    calls_count: COUNTED_CALLS,
    team_ids: `ARRAY(
      SELECT a.access_control_list_id
      FROM access_control_list_traffic_sources a
      WHERE a.company_id = t.company_id AND a.traffic_source_id = t.id
      ORDER BY 1
    )`,
  },
} as const satisfies Projection<'TrafficSource', 'traffic_source', 'traffic_sources'>;

export const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  user_traffic_source_id: { sql: 't.user_traffic_source_id', type: 'text', nullable: true },
  ...BY_TIMES,
  paused: { sql: 't.paused', type: 'boolean' },
  calls_count: { sql: COUNTED_CALLS, type: 'bigint' },
  last_call_at: { sql: projection.columns.last_call_at, type: 'timestamptz', nullable: true },
};
