import { readDefaults, type Schemas } from '../../platform/contract/contract';
import { grantToTeams } from '../../data/access/scope';
import type { Db } from '../../data/db';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Handlers } from '../../api/handlers';
import { withDefaults } from '../../api/request/defaults';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { grantTrafficSource } from '../people/grant-traffic-source';
import { leaveTeams } from '../people/leave-teams';
import { cutText } from '../../platform/storable-text';
import { resolveColumns, saveCaps } from './save-traffic-source';
import { revokeSourceTokens } from './source-tokens';
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

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  user_traffic_source_id: { sql: 't.user_traffic_source_id', type: 'text', nullable: true },
  ...BY_TIMES,
  paused: { sql: 't.paused', type: 'boolean' },
  calls_count: { sql: COUNTED_CALLS, type: 'bigint' },
  last_call_at: { sql: projection.columns.last_call_at, type: 'timestamptz', nullable: true },
};

// Traffic sources: the origins of leads and calls, which are paid for them.

const key = (companyId: bigint, id: bigint) => ({ company_id_id: { company_id: companyId, id } });

async function deleteSource(tx: Db, id: bigint, now: Date): Promise<void> {
  await leaveTeams(tx, { kind: 'traffic_source', id }, now);
  await revokeSourceTokens(tx, { traffic_source_id: id }, now);
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
    newTrafficSource: (call) => records.showUnsaved(call, DEFAULTS),
    showTrafficSource: records.show,

    createTrafficSource: (call) =>
      records.create(call, async (tx, body: Fields, now) => {
        const { team_ids, ...fields } = withDefaults<Fields>(body, DEFAULTS);
        const data = {
          ...(await resolveColumns(tx, fields)),
          name: requireName(fields),
          company_id: tx.company_id,
          ...createdAt(now),
        };
        const { id } = await tx.prisma.trafficSource.create({ data, select: { id: true } });
        await saveCaps(tx, { id, fields, time_zone: DEFAULTS.time_zone, now });
        await grantToTeams(tx, 'traffic_source', id);
        if (team_ids !== undefined)
          await grantTrafficSource(tx, id, team_ids ?? [], { caller: call.caller, authenticator });
        return id;
      }),

    updateTrafficSource: (call) =>
      records.update(call, async (tx, id, { fields: body, now }) => {
        const { team_ids, ...fields } = withDefaults<Fields>(body, DEFAULTS);
        const where = key(tx.company_id, id);
        const before = await tx.prisma.trafficSource.findUniqueOrThrow({ where });
        const name = deriveName(before, fields);
        await tx.prisma.trafficSource.update({
          where,
          data: { ...(await resolveColumns(tx, fields)), name, ...changedAt(now) },
        });
        await saveCaps(tx, { id, fields, time_zone: before.time_zone, now });
        if (team_ids !== undefined)
          await grantTrafficSource(tx, id, team_ids ?? [], { caller: call.caller, authenticator });
      }),

    deleteTrafficSource: (call) => records.delete(call, deleteSource),
  } satisfies Partial<Handlers>;
};

type Fields = Schemas['TrafficSourceFields'];
const DEFAULTS = readDefaults('TrafficSourceFields') as Fields & { time_zone: string };

type Names = Pick<
  Schemas['TrafficSourceFields'],
  'name' | 'first_name' | 'last_name' | 'company_name' | 'email'
>;

const MAX_NAME = 255;

/** The name that is derived from the other fields; blank when all of them are. */
function buildDefaultName({ first_name, last_name, company_name, email }: Names): string {
  const person = [first_name, last_name].flatMap((name) => name?.trim() || []).join(' ');
  return cutText(person || company_name?.trim() || email || '', MAX_NAME);
}

/** Throws 422 when no field gives a name. */
function requireName(names: Names): string {
  const name = names.name?.trim() || buildDefaultName(names);
  if (name) return name;
  throw HttpProblem.field(
    'name',
    'missing_field',
    'must be given, or one of first_name, last_name, company_name and email',
  );
}

/** A derived name follows the fields that it is derived from. */
function deriveName(before: Names & { name: string }, fields: Names): string {
  const isMade = before.name === buildDefaultName(before);
  const name = fields.name === undefined && !isMade ? before.name : fields.name;
  return requireName({ ...before, ...fields, name });
}
