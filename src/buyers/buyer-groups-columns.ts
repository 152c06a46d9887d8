import { commonColumns, type Projection } from '../db/projection';
import { capColumns, limitsJoin, usedSql } from './cap-columns';
import { CAPS } from './caps';
import { type SortKey } from '../db/list-statements';

const MEMBERS =
  'buyer_group_members m WHERE m.company_id = t.company_id AND m.buyer_group_id = t.id';
const TEAMS = `ARRAY(
  SELECT a.access_control_list_id
  FROM access_control_list_buyer_groups a
  WHERE a.company_id = t.company_id AND a.buyer_group_id = t.id
  ORDER BY 1)`;
const caps = capColumns('l');
const maxed_out = `(${caps.maxed_out_by}) IS NOT NULL`;

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
    maxed_out,
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

const own = (column: string, type: SortKey['type'], nullable = false): SortKey => ({
  sql: `t.${column}`,
  type,
  nullable,
});
const in_progress: SortKey = { sql: caps.concurrency_cap_used, type: 'bigint' };
const used = CAPS.map((cap) => [
  `call_limits.${cap.used}`,
  { sql: usedSql(cap.used), type: 'numeric' } satisfies SortKey,
]);

export const orders: Record<string, SortKey> = {
  name: own('name', 'text', true),
  maxed_out: { sql: maxed_out, type: 'boolean' },
  weight: own('weight', 'double precision'),
  tier: own('tier', 'double precision'),
  cap_reset_at: { sql: `(${caps.cap_reset_at})`, type: 'timestamptz', nullable: true },
  time_zone: own('time_zone', 'text'),
  created_at: own('created_at', 'timestamptz'),
  updated_at: own('updated_at', 'timestamptz'),
  paused: own('paused', 'boolean'),
  paused_at: own('paused_at', 'timestamptz', true),
  paused_by_user_id: own('paused_by_user_id', 'bigint', true),
  unpaused_at: own('unpaused_at', 'timestamptz', true),
  user_updated_at: own('user_updated_at', 'timestamptz', true),
  dial_buyers_type: own('dial_buyers_type', 'text'),
  'call_limits.in_progress_count': in_progress,
  'call_limits.in_progress_used': in_progress,
  ...Object.fromEntries(used),
};
