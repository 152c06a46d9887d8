import { readDefaults, type Schemas } from '../../platform/contract/contract';
import { grantToTeams } from '../../data/access/scope';
import { changeBuyers } from '../../data/attachments';
import type { Db } from '../../data/db';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { withDefaults } from '../../api/request/defaults';
import type { Call, Handlers } from '../../api/handlers';
import { list } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { addSingleStatement } from '../../api/records/write-directly';
import { changeTeams, resolveTeamChanges } from '../people/change-teams';
import { leaveTeams } from '../people/leave-teams';
import { buildPauseColumns } from '../people/paused-by';
import { orders, projection } from './buyer-groups-columns';
import { isLimit, pickLimits } from '../caps/cap-limits';
import {
  changeCaps,
  buildOwnerUpdate,
  buildOwnerInsert,
  openCaps,
  type OwnerKind,
} from '../caps/cap-owners';

// Groups of buyers that are dialed together and share caps of their own. A write locks the offers
// of the group's teams, then the group, then its buyers.

type Fields = Schemas['BuyerGroupFields'] & { name?: string | null };
type CreateFields = Omit<Schemas['BuyerGroupCreate'], 'serializer'>;
type UpdateFields = Omit<Schemas['BuyerGroupUpdate'], 'serializer'>;
const DEFAULTS = readDefaults('BuyerGroupFields') as { time_zone: string } & Fields;

export const buyerGroups = (deps: Deps) => {
  const { clock } = deps;
  const records = recordHandlers(projection, clock);
  return {
    listBuyerGroups: ({ query, db }) => list(query, { db, now: clock(), projection, orders }),

    newBuyerGroup: (call) => records.showUnsaved(call, toColumns(DEFAULTS)),

    showBuyerGroup: records.show,

    createBuyerGroup: addSingleStatement<'createBuyerGroup'>(
      (call) =>
        records.create(call, (tx, body: CreateFields, now) =>
          createGroup(tx, { fields: newFields(body), now, ...deps, caller: call.caller }),
        ),
      (call, entry) =>
        records.createInStatement(call, entry, buildOwnerInsert(KIND, call, clock())),
    ),

    updateBuyerGroup: addSingleStatement<'updateBuyerGroup'>(
      (call) =>
        records.updateLockingFirst(
          { ...call, body: withDefaults<UpdateFields>(call.body, DEFAULTS) },
          (tx, fields: UpdateFields) =>
            resolveTeamChanges(tx, 'buyer_group', { fields, caller: call.caller }),
          (tx, id, { fields, now, ahead: teams }) =>
            updateGroup(tx, id, { fields, teams, now, ...deps, caller: call.caller }),
        ),
      (call, entry) => records.updateInStatement(call, entry, buildOwnerUpdate(KIND, call)),
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

interface Context extends Pick<Deps, 'queue' | 'authenticator' | 'config'> {
  caller: Call<'createBuyerGroup'>['caller'];
  now: Date;
}

async function createGroup(
  tx: Db,
  { fields, ...context }: Context & { fields: Fields },
): Promise<bigint> {
  const { caller, now } = context;
  const teams = await resolveTeamChanges(tx, 'buyer_group', { fields, caller });
  const { id } = await tx.prisma.buyerGroup.create({
    data: {
      ...(toColumns(fields) as Required<ReturnType<typeof toColumns>>),
      ...buildPauseColumns({ paused: false }, fields.paused, { caller, now }),
      company_id: tx.company_id,
      ...createdAt(now),
    },
    select: { id: true },
  });
  await openCaps(tx, KIND, { id, fields, caller });
  await changeBuyers(tx, 'buyer_group_members', id, fields);
  await grantToTeams(tx, 'buyer_group', id);
  await changeTeams(tx, { kind: 'buyer_group', id }, teams, context);
  return id;
}

interface Update extends Context {
  fields: UpdateFields;
  teams: Awaited<ReturnType<typeof resolveTeamChanges>>;
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
      ...toColumns(fields),
      ...(before && buildPauseColumns(before, paused, { caller, now })),
      ...changedAt(now),
    },
    select: { id: true },
  });
  await changeCaps(tx, KIND, { id, fields, time_zone: before?.time_zone, caller, now });
  await changeBuyers(tx, 'buyer_group_members', id, fields);
  await changeTeams(tx, { kind: 'buyer_group', id }, teams, context);
}

async function deleteGroup(tx: Db, id: bigint, now: Date): Promise<void> {
  await tx.prisma.buyerGroupMember.deleteMany({ where: { buyer_group_id: id } });
  await tx.prisma.offerBuyerGroup.deleteMany({ where: { buyer_group_id: id } });
  await leaveTeams(tx, { kind: 'buyer_group', id }, now);
  await tx.prisma.buyerGroup.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: deletedAt(now),
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

function toColumns(fields: Fields): Columns {
  const set = OWN_COLUMNS.filter((name) => fields[name] !== undefined);
  return Object.fromEntries(set.map((name) => [name, fields[name]]));
}

/**
 * In the contract the concurrency limit of a group is `concurrency_cap`, that of a buyer
 * `concurrency_cap_limit`.
 */
function toGroupLimits({ concurrency_cap, ...fields }: Fields) {
  return pickLimits({ ...fields, concurrency_cap_limit: concurrency_cap });
}

const KIND: OwnerKind<Fields> = {
  table: 'buyer_groups',
  key: 'buyer_group_id',
  defaults: DEFAULTS,
  areOwnFields,
  toColumns,
  toLimits: toGroupLimits,
};
