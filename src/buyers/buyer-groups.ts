import { defaultsOf, type Schemas } from '../contract';
import { grantToTeams } from '../db/access-scope';
import { changeBuyers } from '../db/attachments';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import { withDefaults } from '../http/defaults';
import { mayUse } from '../http/field-permissions';
import type { Call, Handlers } from '../http/handlers';
import { list } from '../http/list';
import { recordHandlers } from '../http/record-handlers';
import { directly, fieldsIn, type DirectWrite } from '../http/write-directly';
import { changeTeams, teamChanges } from '../people/change-teams';
import { leaveTeams } from '../people/leave-teams';
import { pauseColumns, pausing } from '../people/paused-by';
import { ianaName } from '../time/zone';
import { orders, projection } from './buyer-groups-columns';
import { changedWith, changeLimits, isLimit, limitsIn, openedWith, openLimits } from './cap-limits';

// Groups of buyers that are dialed together and share caps of their own. A write locks the offers
// of the group's teams, then the group, then its buyers.

type Fields = Schemas['BuyerGroupFields'] & { name?: string | null };
type CreateFields = Omit<Schemas['BuyerGroupCreate'], 'serializer'>;
type UpdateFields = Omit<Schemas['BuyerGroupUpdate'], 'serializer'>;
const DEFAULTS = defaultsOf('BuyerGroupFields') as { time_zone: string } & Fields;

export const buyerGroups = (deps: Deps) => {
  const { clock } = deps;
  const records = recordHandlers(projection, clock);
  return {
    listBuyerGroups: ({ query, db }) => list(query, { db, now: clock(), projection, orders }),

    newBuyerGroup: (call) => records.unsaved(call, columnsOf(DEFAULTS)),

    showBuyerGroup: records.show,

    createBuyerGroup: directly<'createBuyerGroup'>(
      (call) =>
        records.create(call, (tx, body: CreateFields, now) =>
          createGroup(tx, { fields: newFields(body), now, ...deps, caller: call.caller }),
        ),
      (call, entry) => records.createDirectly(call, entry, newGroup(call, clock())),
    ),

    updateBuyerGroup: directly<'updateBuyerGroup'>(
      (call) =>
        records.updateAfter(
          { ...call, body: withDefaults<UpdateFields>(call.body, DEFAULTS) },
          (tx, fields: UpdateFields) =>
            teamChanges(tx, 'buyer_group', { fields, caller: call.caller }),
          (tx, id, { fields, now, ahead: teams }) =>
            updateGroup(tx, id, { fields, teams, now, ...deps, caller: call.caller }),
        ),
      (call, entry) => records.updateDirectly(call, entry, changedGroup(call)),
    ),

    deleteBuyerGroup: (call) => records.delete(call, deleteGroup),
  } satisfies Partial<Handlers>;
};

const newFields = (body: CreateFields) => ({
  ...DEFAULTS,
  ...withDefaults<Fields>(body, DEFAULTS),
  name: body.name,
});

const areOwnFields = (fields: object): boolean =>
  Object.keys(fields).every(
    (name) =>
      (OWN_COLUMNS as readonly string[]).includes(name) ||
      name === 'concurrency_cap' ||
      isLimit(name),
  );

/** A new group that has nothing but its own columns and caps; undefined for another one. */
async function newGroup(
  { db, caller, body }: Pick<Call<'createBuyerGroup'>, 'db' | 'caller' | 'body'>,
  now: Date,
): Promise<DirectWrite | undefined> {
  const sent = fieldsIn(body);
  if (!areOwnFields(sent) || !(await mayUse(db, caller, RAISING))) return undefined;
  const fields = newFields(sent);
  return {
    row: {
      ...columnsOf(fields),
      ...pauseColumns({ paused: false }, fields.paused, { caller, now }),
    },
    parts: [openedWith('buyer_group_id', ianaName(fields.time_zone!)!, groupLimits(fields))],
  };
}

/** A change of nothing but a group's own columns and caps; undefined for another one. */
async function changedGroup({
  db,
  caller,
  body,
}: Pick<Call<'updateBuyerGroup'>, 'db' | 'caller' | 'body'>): Promise<DirectWrite | undefined> {
  const sent = fieldsIn(body);
  // In another time zone the running windows of caps end at other times.
  if (!areOwnFields(sent) || 'time_zone' in sent) return undefined;
  const fields = withDefaults<UpdateFields>(sent, DEFAULTS);
  const limits = groupLimits(fields);
  const has_limits = Object.keys(limits).length > 0;
  if (has_limits && !(await mayUse(db, caller, RAISING))) return undefined;
  return {
    ...pausing(fields, caller, columnsOf(fields)),
    parts: has_limits ? [changedWith('buyer_group_id', limits)] : [],
  };
}

/** What raises caps: see x-lowerable in the contract. */
const RAISING = 'buyer_groups:routing';

interface Context extends Pick<Deps, 'queue' | 'authenticator'> {
  caller: Call<'createBuyerGroup'>['caller'];
  now: Date;
}

async function createGroup(
  tx: Db,
  { fields, ...context }: Context & { fields: Fields },
): Promise<bigint> {
  const { caller, now } = context;
  const teams = await teamChanges(tx, 'buyer_group', { fields, caller });
  const { id } = await tx.prisma.buyerGroup.create({
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
  const zone = ianaName(fields.time_zone ?? DEFAULTS.time_zone)!;
  const may_raise = await mayUse(tx, caller, RAISING);
  await openLimits(tx, { buyer_group_id: id }, { zone, limits: groupLimits(fields), may_raise });
  await changeBuyers(tx, 'buyer_group_members', id, fields);
  await grantToTeams(tx, 'buyer_group', id);
  await changeTeams(tx, { kind: 'buyer_group', id }, teams, context);
  return id;
}

interface Update extends Context {
  fields: UpdateFields;
  teams: Awaited<ReturnType<typeof teamChanges>>;
}

async function updateGroup(
  tx: Db,
  id: bigint,
  { fields, teams, ...context }: Update,
): Promise<void> {
  const { caller, now } = context;
  const where = { company_id_id: { company_id: tx.company_id, id } };
  const { paused, time_zone } = fields;
  // Read only when one of the two is sent, which is rare.
  const before =
    paused === undefined && time_zone === undefined
      ? undefined
      : await tx.prisma.buyerGroup.findUniqueOrThrow({
          where,
          select: { paused: true, time_zone: true },
        });
  await tx.prisma.buyerGroup.update({
    where,
    data: {
      ...columnsOf(fields),
      ...(before && pauseColumns(before, paused, { caller, now })),
      user_updated_at: now,
      updated_at: now,
    },
    select: { id: true },
  });
  const limits = {
    limits: groupLimits(fields),
    may_raise: await mayUse(tx, caller, RAISING, {
      table: 'buyer_groups',
      references: [String(id)],
    }),
    zone: time_zone && time_zone !== before?.time_zone ? ianaName(time_zone) : undefined,
    reset_totals: fields.reset_total_caps,
    now,
  };
  await changeLimits(tx, { buyer_group_id: id }, limits);
  await changeBuyers(tx, 'buyer_group_members', id, fields);
  await changeTeams(tx, { kind: 'buyer_group', id }, teams, context);
}

async function deleteGroup(tx: Db, id: bigint, now: Date): Promise<void> {
  await tx.prisma.buyerGroupMember.deleteMany({ where: { buyer_group_id: id } });
  await tx.prisma.offerBuyerGroup.deleteMany({ where: { buyer_group_id: id } });
  await leaveTeams(tx, { kind: 'buyer_group', id }, now);
  await tx.prisma.buyerGroup.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: { deleted_at: now, updated_at: now, user_updated_at: now },
  });
}

const OWN_COLUMNS = [
  'name',
  'paused',
  'dial_buyers_type',
  'tier',
  'weight',
  'time_zone',
  'external_record_id',
] as const satisfies readonly (keyof Fields)[];

type Columns = {
  name?: string | null;
  paused?: boolean;
  dial_buyers_type?: string;
  tier?: number;
  weight?: number;
  time_zone?: string;
  external_record_id?: string | null;
};

/** The columns of the group's own row among the fields. */
function columnsOf(fields: Fields): Columns {
  const set = OWN_COLUMNS.filter((name) => fields[name] !== undefined);
  return Object.fromEntries(set.map((name) => [name, fields[name]]));
}

/** The contract calls a group's limit of concurrency by another name than a buyer's. */
function groupLimits({ concurrency_cap, ...fields }: Fields) {
  return limitsIn({ ...fields, concurrency_cap_limit: concurrency_cap });
}
