import { defaultsOf, type Schemas } from '../contract';
import { changeBuyers } from '../db/attachments';
import {
  capColumns,
  changeLimits,
  limitsIn,
  limitsJoin,
  openLimits,
  usedSql,
} from './queries/cap-counters';
import { commonColumns, type Projection, type SortKey } from '../db/projection';
import { grantToTeams } from '../db/access-scope';
import { lockRecord } from '../db/records';
import { leaveTeams } from '../people/leave-teams';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { list } from '../http/list';
import { requireUnchanged, show, unsaved, written } from '../http/record';
import { CAPS } from './caps';
import { ianaName } from '../time/zone';
import { changeTeams, teamChanges } from '../people/change-teams';
import { withDefaults } from '../http/defaults';
import { pauseColumns } from '../people/paused-by';
import { moveCount } from '../db/counters';

type Fields = Schemas['BuyerGroupFields'] & { name?: string | null };
const DEFAULTS = defaultsOf('BuyerGroupFields') as { time_zone: string } & Fields;

const MEMBERS =
  'buyer_group_members m WHERE m.company_id = t.company_id AND m.buyer_group_id = t.id';
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
    team_ids: `ARRAY(SELECT a.access_control_list_id FROM access_control_list_buyer_groups a WHERE a.company_id = t.company_id AND a.buyer_group_id = t.id ORDER BY 1)`,
  },
} as const satisfies Projection<'BuyerGroup', 'buyer_group', 'buyer_groups'>;

const own = (column: string, type: SortKey['type'], nullable = false): SortKey => ({
  sql: `t.${column}`,
  type,
  nullable,
});
const in_progress: SortKey = { sql: caps.concurrency_cap_used, type: 'bigint' };

const orders: Record<string, SortKey> = {
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
  ...Object.fromEntries(
    CAPS.map(({ used }) => [
      `call_limits.${used}`,
      { sql: usedSql(used), type: 'numeric' } satisfies SortKey,
    ]),
  ),
};

/** Buyers that are dialed together. */
export const buyerGroups = ({ clock, queue, authenticator }: Deps) =>
  ({
    listBuyerGroups: ({ query, db }) => list(query, { db, now: clock(), projection, orders }),

    newBuyerGroup: ({ query, db }) =>
      unsaved({ db, now: clock(), projection, serializer: query.serializer }, columnsOf(DEFAULTS)),

    showBuyerGroup: ({ params, query, db, if_none_match }) =>
      show(
        { db, now: clock(), projection, serializer: query.serializer, if_none_match },
        params.id,
      ),

    createBuyerGroup: async ({
      query,
      body: { serializer = query.serializer, ...body },
      db,
      caller,
    }) => {
      const now = clock();
      const fields: Fields & { name: string } = {
        ...DEFAULTS,
        ...withDefaults<Fields>(body, DEFAULTS),
        name: body.name,
      };
      const id = await db.transaction(async (tx) => {
        const teams = await teamChanges(tx, 'buyer_group', { fields: fields, caller });
        const group = await tx.prisma.buyerGroup.create({
          data: {
            ...(columnsOf(fields) as Required<ReturnType<typeof columnsOf>>),
            ...pauseColumns({ paused: false }, fields.paused, { caller, now }),
            company_id: tx.company_id,
            user_updated_at: now,
            created_at: now,
            updated_at: now,
          },
          select: { id: true },
        });
        await openLimits(
          tx,
          { buyer_group_id: group.id },
          { zone: ianaName(fields.time_zone ?? DEFAULTS.time_zone)!, limits: groupLimits(fields) },
        );
        await changeBuyers(tx, 'buyer_group_members', group.id, fields);
        await grantToTeams(tx, 'buyer_group', group.id);
        await changeTeams(tx, { kind: 'buyer_group', id: group.id }, teams, {
          queue,
          authenticator,
          caller,
          now,
        });
        await moveCount(tx, 'buyer_groups', 1);
        return group.id;
      });
      return written({ db, now, projection, serializer }, id, { status: 201 });
    },

    updateBuyerGroup: async ({
      params,
      query,
      body: { serializer = query.serializer, ...body },
      db,
      caller,
      if_match,
    }) => {
      const now = clock();
      const fields = withDefaults(body, DEFAULTS);
      const id = await db.transaction(async (tx) => {
        const teams = await teamChanges(tx, 'buyer_group', { fields: fields, caller });
        const before = await lockRecord(tx, 'buyer_groups', params.id, ['paused', 'time_zone']);
        await requireUnchanged({ db: tx, now, projection, serializer, if_match }, params.id);
        await tx.prisma.buyerGroup.update({
          where: { company_id_id: { company_id: tx.company_id, id: before.id } },
          data: {
            ...columnsOf(fields),
            ...pauseColumns(before, fields.paused, { caller, now }),
            user_updated_at: now,
            updated_at: now,
          },
          select: { id: true },
        });
        const zone =
          fields.time_zone && fields.time_zone !== before.time_zone
            ? ianaName(fields.time_zone)
            : undefined;
        await changeLimits(
          tx,
          { buyer_group_id: before.id },
          { limits: groupLimits(fields), zone, reset_totals: fields.reset_total_caps, now },
        );
        await changeBuyers(tx, 'buyer_group_members', before.id, fields);
        await changeTeams(tx, { kind: 'buyer_group', id: before.id }, teams, {
          queue,
          authenticator,
          caller,
          now,
        });
        return before.id;
      });
      return written({ db, now, projection, serializer }, id);
    },

    deleteBuyerGroup: async ({ params, query, db, if_match }) => {
      const now = clock();
      const id = await db.transaction(async (tx) => {
        const { id } = await lockRecord(tx, 'buyer_groups', params.id);
        await requireUnchanged(
          { db: tx, now, projection, serializer: query.serializer, if_match },
          params.id,
        );
        await tx.prisma.buyerGroupMember.deleteMany({ where: { buyer_group_id: id } });
        await tx.prisma.offerBuyerGroup.deleteMany({ where: { buyer_group_id: id } });
        await leaveTeams(tx, { kind: 'buyer_group', id }, now);
        await tx.prisma.buyerGroup.update({
          where: { company_id_id: { company_id: tx.company_id, id } },
          data: { deleted_at: now, updated_at: now, user_updated_at: now },
        });
        await moveCount(tx, 'buyer_groups', -1);
        return id;
      });
      return written({ db, now, projection, serializer: query.serializer }, id);
    },
  }) satisfies Partial<Handlers>;

function columnsOf({
  name,
  paused,
  dial_buyers_type,
  tier,
  weight,
  time_zone,
  external_record_id,
}: Fields) {
  const columns = {
    name,
    paused,
    dial_buyers_type,
    tier,
    weight,
    time_zone,
    external_record_id,
  } as {
    name?: string | null;
    paused?: boolean;
    dial_buyers_type?: string;
    tier?: number;
    weight?: number;
    time_zone?: string;
    external_record_id?: string | null;
  };
  return Object.fromEntries(
    Object.entries(columns).filter(([, value]) => value !== undefined),
  ) as typeof columns;
}

function groupLimits({ concurrency_cap, ...fields }: Fields) {
  return limitsIn({ ...fields, concurrency_cap_limit: concurrency_cap });
}
