import type { Schemas } from '../../platform/contract/contract';
import { grantToTeams } from '../../data/access/scope';
import { resolveReferences, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import { ianaName } from '../../platform/time/zone';
import { noun, selectIds } from '../../api/records/noun';
import { capColumns, limitsJoin } from '../caps/cap-columns';
import { pickLimits, setSourceLimits } from '../caps/cap-limits';
import { changeTeams, resolveTeamChanges } from '../people/change-teams';
import { leaveTeams } from '../people/leave-teams';
import { cutText } from '../../platform/storable-text';
import { ACCOUNT_SUMS, sumAccount } from '../money/sum-account';
import { revokeSourceTokens } from './source-tokens';

// Traffic sources: the origins of leads and calls, which are paid for them.

const CALL_COUNTS = `traffic_source_call_counts k
  WHERE k.company_id = t.company_id AND k.traffic_source_id = t.id`;
const COUNTED_CALLS = `(SELECT coalesce(sum(k.n), 0)::bigint FROM ${CALL_COUNTS})`;
const caps = capColumns('l');

const trafficSource = noun({
  schema: 'TrafficSource',
  singular: 'traffic_source',
  plural: 'traffic_sources',
  joins: {
    l: limitsJoin('traffic_source_id'),
    [ACCOUNT_SUMS]: sumAccount('traffic_source_id'),
  },
  search: [
    'name',
    'user_traffic_source_id',
    'email',
    'external_record_id',
    'first_name',
    'last_name',
    'company_name',
  ],
  computed: {
    ...caps,
    maxed_out: `(${caps.maxed_out_by}) IS NOT NULL`,
    last_call_at: `(SELECT max(k.last_call_at) FROM ${CALL_COUNTS})`,
    calls_count: COUNTED_CALLS,
    earned_total: `${ACCOUNT_SUMS}.calls`,
    paid_total: `-(${ACCOUNT_SUMS}.paid)`,
    account_balance: `${ACCOUNT_SUMS}.calls + ${ACCOUNT_SUMS}.paid`,
    team_ids: selectIds(
      'access_control_list_traffic_sources',
      'traffic_source_id',
      'access_control_list_id',
    ),
  },
});
export const { projection } = trafficSource;

type Fields = Schemas['TrafficSourceFields'];

export const trafficSources = (deps: Deps) => {
  return trafficSource.handlers(deps, {
    reads: ['name', 'first_name', 'last_name', 'company_name', 'email', 'time_zone'],

    lock: ({ tx, fields, caller }) => resolveTeamChanges(tx, 'traffic_source', { fields, caller }),

    columns: async ({ tx, fields, before }) => ({
      name: before ? deriveName(before, fields) : requireName(fields),
      ...(await resolveBuyers(tx, 'blocked_buyer_ids', fields)),
      ...(await resolveBuyers(tx, 'allowed_buyer_ids', fields)),
    }),

    save: async ({ tx, id, fields, before, locked: teams, caller, now }) => {
      await saveCaps(tx, { id, fields, before: before?.time_zone, now });
      if (!before) await grantToTeams(tx, 'traffic_source', id);
      await changeTeams(tx, { kind: 'traffic_source', id }, teams, { ...deps, caller, now });
    },

    deletion: {
      detach: async ({ tx, id, now }) => {
        const ofSource = { traffic_source_id: id };
        await leaveTeams(tx, { kind: 'traffic_source', id }, now);
        await revokeSourceTokens(tx, ofSource, now);
        await tx.prisma.number.updateMany({
          where: { ...ofSource, deleted_at: null },
          data: { traffic_source_id: null, updated_at: now },
        });
      },
    },
  });
};

async function resolveBuyers(
  db: Db,
  field: 'blocked_buyer_ids' | 'allowed_buyer_ids',
  { [field]: buyers }: { [Field in typeof field]?: Reference[] | null },
): Promise<Record<string, bigint[]>> {
  if (buyers === undefined) return {};
  const ids = await resolveReferences(db, 'buyers', buyers ?? [], { field });
  return { [field]: [...new Set(ids)].sort((a, b) => Number(a - b)) };
}

interface Caps {
  id: bigint;
  fields: Fields;
  /** The time zone before the write; undefined for a new source. */
  before: string | undefined;
  now: Date;
}

async function saveCaps(db: Db, { id, fields, before, now }: Caps): Promise<void> {
  const limits = pickLimits(fields);
  const { time_zone, reset_total_caps } = fields;
  const isMoved = before !== undefined && Boolean(time_zone) && time_zone !== before;
  if (Object.keys(limits).length === 0 && !isMoved && !reset_total_caps) return;
  await setSourceLimits(db, id, {
    limits,
    zone: ianaName((time_zone ?? before)!)!,
    is_moved: isMoved,
    reset_totals: reset_total_caps,
    now,
  });
}

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
