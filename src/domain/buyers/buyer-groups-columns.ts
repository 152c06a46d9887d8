import { commonColumns, type Projection } from '../../data/projection/projection';
import { capColumns, limitsJoin, usedSql } from '../caps/cap-columns';
import { CAPS } from '../caps/caps';
import { type SortKey } from '../../data/projection/list-statements';

const MEMBERS =
  'buyer_group_members m WHERE m.company_id = t.company_id AND m.buyer_group_id = t.id';
const TEAMS = `ARRAY(
  SELECT a.access_control_list_id
  FROM access_control_list_buyer_groups a
  WHERE a.company_id = t.company_id AND a.buyer_group_id = t.id
  ORDER BY 1)`;
const caps = capColumns('l');
const maxedOut = `(${caps.maxed_out_by}) IS NOT NULL`;

export const projection = {
  schema: 'BuyerGroup',
  singular: 'buyer_group',
  plural: 'buyer_groups',
  joins: { l: limitsJoin('buyer_group_id') },
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('buyer_groups'),
    type: `'BuyerGroup'`,
    name: true,
    ...caps,
    buyer_ids: `ARRAY(SELECT m.buyer_id FROM ${MEMBERS} ORDER BY m.buyer_id)`,
    buyers_count: `(SELECT count(*) FROM ${MEMBERS})`,
    maxed_out: maxedOut,
    weight: true,
    tier: true,
    time_zone: true,
    paused: true,
    paused_at: true,
    paused_by_user_id: true,
    unpaused_at: true,
    dial_buyers_type: true,
    call_limit_id: 'l.id',
    team_ids: TEAMS,
  },
} as const satisfies Projection<'BuyerGroup', 'buyer_group', 'buyer_groups'>;

const sortBy = (column: string, type: SortKey['type'], nullable = false): SortKey => ({
  sql: `t.${column}`,
  type,
  nullable,
});
const inProgress: SortKey = { sql: caps.concurrency_cap_used, type: 'bigint' };
const used = CAPS.map((cap) => [
  `call_limits.${cap.used}`,
  { sql: usedSql(cap.used), type: 'numeric' } satisfies SortKey,
]);

export const orders: Record<string, SortKey> = {
  name: sortBy('name', 'text', true),
  maxed_out: { sql: maxedOut, type: 'boolean' },
  weight: sortBy('weight', 'double precision'),
  tier: sortBy('tier', 'double precision'),
  cap_reset_at: { sql: `(${caps.cap_reset_at})`, type: 'timestamptz', nullable: true },
  time_zone: sortBy('time_zone', 'text'),
  created_at: sortBy('created_at', 'timestamptz'),
  updated_at: sortBy('updated_at', 'timestamptz'),
  paused: sortBy('paused', 'boolean'),
  paused_at: sortBy('paused_at', 'timestamptz', true),
  paused_by_user_id: sortBy('paused_by_user_id', 'bigint', true),
  unpaused_at: sortBy('unpaused_at', 'timestamptz', true),
  user_updated_at: sortBy('user_updated_at', 'timestamptz', true),
  dial_buyers_type: sortBy('dial_buyers_type', 'text'),
  'call_limits.in_progress_count': inProgress,
  'call_limits.in_progress_used': inProgress,
  ...Object.fromEntries(used),
};
