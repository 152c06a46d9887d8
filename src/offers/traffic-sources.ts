import { grantToTeams } from '../db/access-scope';
import { commonColumns, type Projection } from '../db/projection';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { page } from '../http/list';
import { recordHandlers } from '../http/record-handlers';
import { grantTrafficSource } from '../people/grant-traffic-source';
import { leaveTeams } from '../people/leave-teams';
import { type SortKey } from '../db/list-statements';

// Traffic sources: where leads and calls come from, and who is paid for them.

export const projection = {
  schema: 'TrafficSource',
  singular: 'traffic_source',
  plural: 'traffic_sources',
  fulltext: `lower(
    coalesce(t.name, '') || E'\\n' || coalesce(t.user_traffic_source_id, '')
    || E'\\n' || coalesce(t.email, '') || E'\\n' || coalesce(t.external_record_id, '')
  )`,
  columns: {
    ...commonColumns('traffic_sources'),
    type: `'TrafficSource'`,
    name: true,
    user_traffic_source_id: true,
    email: true,
    description: true,
    team_ids: `ARRAY(
      SELECT a.access_control_list_id
      FROM access_control_list_traffic_sources a
      WHERE a.company_id = t.company_id AND a.traffic_source_id = t.id
      ORDER BY 1
    )`,
  },
} as const satisfies Projection<'TrafficSource', 'traffic_source', 'traffic_sources'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  user_traffic_source_id: { sql: 't.user_traffic_source_id', type: 'text', nullable: true },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  updated_at: { sql: 't.updated_at', type: 'timestamptz' },
};

export const trafficSources = ({ clock, authenticator }: Deps) => {
  const records = recordHandlers(projection, clock);
  const key = (company_id: bigint, id: bigint) => ({ company_id_id: { company_id, id } });
  return {
    listTrafficSources: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newTrafficSource: (call) => records.unsaved(call, {}),
    showTrafficSource: records.show,

    createTrafficSource: (call) =>
      records.create(call, async (tx, { name, team_ids, ...fields }, now) => {
        const data = {
          ...fields,
          name: name!,
          company_id: tx.company_id,
          user_updated_at: now,
          created_at: now,
          updated_at: now,
        };
        const { id } = await tx.prisma.trafficSource.create({ data, select: { id: true } });
        await grantToTeams(tx, 'traffic_source', id);
        if (team_ids !== undefined)
          await grantTrafficSource(tx, id, team_ids ?? [], { caller: call.caller, authenticator });
        return id;
      }),

    updateTrafficSource: (call) =>
      records.update(call, async (tx, id, { fields: { team_ids, ...fields }, now }) => {
        await tx.prisma.trafficSource.update({
          where: key(tx.company_id, id),
          data: { ...fields, user_updated_at: now, updated_at: now },
        });
        if (team_ids !== undefined)
          await grantTrafficSource(tx, id, team_ids ?? [], { caller: call.caller, authenticator });
      }),

    deleteTrafficSource: (call) =>
      records.delete(call, async (tx, id, now) => {
        await leaveTeams(tx, { kind: 'traffic_source', id }, now);
        await tx.prisma.trafficSource.update({
          where: key(tx.company_id, id),
          data: { deleted_at: now, updated_at: now, user_updated_at: now },
        });
        await tx.prisma.number.updateMany({
          where: { traffic_source_id: id, deleted_at: null },
          data: { traffic_source_id: null, updated_at: now },
        });
      }),
  } satisfies Partial<Handlers>;
};
