import { defaultsOf, type Schemas } from '../contract';
import { grantToTeams } from '../db/access-scope';
import { commonColumns, type Projection } from '../db/projection';
import type { Db } from '../db/tenant';
import { changedAt, createdAt, deletedAt } from '../db/timestamps';
import type { Deps } from '../deps';
import { HttpProblem } from '../errors';
import type { Handlers } from '../http/handlers';
import { page } from '../http/list';
import { recordHandlers } from '../http/record-handlers';
import { grantTrafficSource } from '../people/grant-traffic-source';
import { leaveTeams } from '../people/leave-teams';
import { BY_TIMES, type SortKey } from '../db/list-statements';

// Traffic sources: where leads and calls come from, and who is paid for them.

const CALL_COUNTS = `traffic_source_call_counts k
  WHERE k.company_id = t.company_id AND k.traffic_source_id = t.id`;
const COUNTED_CALLS = `(SELECT coalesce(sum(k.n), 0)::bigint FROM ${CALL_COUNTS})`;

export const projection = {
  schema: 'TrafficSource',
  singular: 'traffic_source',
  plural: 'traffic_sources',
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

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  user_traffic_source_id: { sql: 't.user_traffic_source_id', type: 'text', nullable: true },
  ...BY_TIMES,
  paused: { sql: 't.paused', type: 'boolean' },
  calls_count: { sql: COUNTED_CALLS, type: 'bigint' },
  last_call_at: { sql: projection.columns.last_call_at, type: 'timestamptz', nullable: true },
};

const key = (company_id: bigint, id: bigint) => ({ company_id_id: { company_id, id } });

/** Deletes a locked source: teams and numbers lose it. */
async function deleteSource(tx: Db, id: bigint, now: Date): Promise<void> {
  await leaveTeams(tx, { kind: 'traffic_source', id }, now);
  await tx.prisma.trafficSource.update({
    where: key(tx.company_id, id),
    data: deletedAt(now),
  });
  await tx.prisma.number.updateMany({
    where: { traffic_source_id: id, deleted_at: null },
    data: { traffic_source_id: null, updated_at: now },
  });
}

export const trafficSources = ({ clock, authenticator }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listTrafficSources: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newTrafficSource: (call) => records.unsaved(call, DEFAULTS),
    showTrafficSource: records.show,

    createTrafficSource: (call) =>
      records.create(call, async (tx, { team_ids, ...fields }, now) => {
        const data = {
          ...fields,
          name: nameOf(fields),
          company_id: tx.company_id,
          ...createdAt(now),
        };
        const { id } = await tx.prisma.trafficSource.create({ data, select: { id: true } });
        await grantToTeams(tx, 'traffic_source', id);
        if (team_ids !== undefined)
          await grantTrafficSource(tx, id, team_ids ?? [], { caller: call.caller, authenticator });
        return id;
      }),

    updateTrafficSource: (call) =>
      records.update(call, async (tx, id, { fields: { team_ids, ...fields }, now }) => {
        const where = key(tx.company_id, id);
        const before = await tx.prisma.trafficSource.findUniqueOrThrow({ where });
        const name = changedName(before, fields);
        await tx.prisma.trafficSource.update({
          where,
          data: { ...fields, name, ...changedAt(now) },
        });
        if (team_ids !== undefined)
          await grantTrafficSource(tx, id, team_ids ?? [], { caller: call.caller, authenticator });
      }),

    deleteTrafficSource: (call) => records.delete(call, deleteSource),
  } satisfies Partial<Handlers>;
};

const DEFAULTS = defaultsOf('TrafficSourceFields');

type Names = Pick<
  Schemas['TrafficSourceFields'],
  'name' | 'first_name' | 'last_name' | 'company_name' | 'email'
>;

const MAX_NAME = 255;

/** The name that is made of a source's other names; blank where it has none. */
function madeOf({ first_name, last_name, company_name, email }: Names): string {
  const person = [first_name, last_name].flatMap((name) => name?.trim() || []).join(' ');
  return (person || company_name?.trim() || email || '').slice(0, MAX_NAME);
}

/** Throws 422 where a source has nothing to be called by. */
function nameOf(names: Names): string {
  const name = names.name?.trim() || madeOf(names);
  if (name) return name;
  throw HttpProblem.field(
    'name',
    'missing_field',
    'must be given, or one of first_name, last_name, company_name and email',
  );
}

/** The name after a change: one that is made of the others follows them. */
function changedName(before: Names & { name: string }, fields: Names): string {
  const is_made = before.name === madeOf(before);
  const name = fields.name === undefined && !is_made ? before.name : fields.name;
  return nameOf({ ...before, ...fields, name });
}
