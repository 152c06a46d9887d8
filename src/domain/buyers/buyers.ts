import { setTerms } from '../money/set-terms';
import { readDefaults, type Schemas } from '../../platform/contract/contract';
import { grantToTeams } from '../../data/access/scope';
import { detachBuyer, resolveSuppressions } from '../../data/attachments';
import type { Db } from '../../data/db';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { withDefaults } from '../../api/request/defaults';
import type { Call, Handlers } from '../../api/handlers';
import { list } from '../../api/records/list';
import { showBy } from '../../api/records/record';
import { recordHandlers } from '../../api/records/record-handlers';
import { addSingleStatement } from '../../api/records/write-directly';
import { changeTeams, resolveTeamChanges } from '../people/change-teams';
import { leaveTeams } from '../people/leave-teams';
import { buildPauseColumns } from '../people/paused-by';
import { areBidSettings, requireBidSettings, resetBidSecret } from './bid-settings';
import { filters, orders, projection } from './buyers-columns';
import { enforceHourlyCeiling, pickLimits } from '../caps/cap-limits';
import {
  changeCaps,
  buildOwnerUpdate,
  buildOwnerInsert,
  openCaps,
  type OwnerKind,
} from '../caps/cap-owners';
import { loadCopiedFields } from './copy-buyer';
import {
  areOwnFields,
  toColumns,
  EMPTY_LISTS,
  lockReferences,
  applyHiddenLimits,
  writeParts,
  type BuyerFields,
} from './write-buyer';

// Buyers: the destinations of calls. A write first locks the records that the buyer refers to
// (fleet, number, suppression lists, offers of its teams), then the buyer, in the order in which
// deletions of those records lock them; then it changes the rows that belong to the buyer.

type CreateFields = Omit<Schemas['BuyerCreate'], 'serializer'>;
type UpdateFields = Omit<Schemas['BuyerUpdate'], 'serializer'>;
const DEFAULTS = readDefaults('BuyerFields') as Required<Pick<BuyerFields, 'time_zone'>> &
  BuyerFields;

export const buyers = (deps: Deps) => {
  const { clock } = deps;
  const records = recordHandlers(projection, clock);
  return {
    listBuyers: ({ query, db }) => list(query, { db, now: clock(), projection, orders, filters }),

    newBuyer: (call) => records.showUnsaved(call, { ...toColumns(DEFAULTS), ...EMPTY_LISTS }),

    showBuyer: records.show,

    showBuyerByUserBuyerId: ({ params, query: { serializer, columns }, db, if_none_match }) =>
      showBy(
        { db, now: clock(), projection, serializer, columns, if_none_match },
        'user_buyer_id',
        params.user_buyer_id,
      ),

    createBuyer: addSingleStatement<'createBuyer'>(
      (call) => {
        const createdSecret: CreatedSecret = {};
        const context = { ...deps, createdSecret, caller: call.caller };
        const create = (tx: Db, fields: CreateFields, now: Date) =>
          createBuyer(tx, { fields, now, ...context });
        return records.create(call, create, () => createdSecret);
      },
      (call, entry) =>
        records.createInStatement(call, entry, buildOwnerInsert(KIND, call, clock())),
    ),

    updateBuyer: addSingleStatement<'updateBuyer'>(
      (call) => {
        const createdSecret: CreatedSecret = {};
        return records.updateLockingFirst(
          { ...call, body: withDefaults<UpdateFields>(call.body, DEFAULTS) },
          (tx, fields: UpdateFields) => lockDependencies(tx, fields, call.caller),
          (tx, id, change) =>
            updateBuyer(tx, id, { ...change, createdSecret, ...deps, caller: call.caller }),
          () => createdSecret,
        );
      },
      (call, entry) => records.updateInStatement(call, entry, buildOwnerUpdate(KIND, call)),
    ),

    deleteBuyer: (call) => records.delete(call, deleteBuyer),
  } satisfies Partial<Handlers>;
};

const KIND: OwnerKind<BuyerFields> = {
  table: 'buyers',
  key: 'buyer_id',
  defaults: DEFAULTS,
  areOwnFields,
  toColumns,
  toLimits: pickLimits,
};

/** The secret that signs bid requests, if the request created one. */
interface CreatedSecret {
  bid_secret?: string;
}

interface Context extends Pick<Deps, 'queue' | 'authenticator' | 'config' | 'pepper'> {
  caller: Call<'createBuyer'>['caller'];
  createdSecret: CreatedSecret;
  now: Date;
}

async function createBuyer(
  tx: Db,
  { fields: input, ...context }: Context & { fields: CreateFields },
): Promise<bigint> {
  const { caller, now } = context;
  const { copy_another_buyer, copy_buyer_id, reset_bid_secret, ...body } = input;
  const copied = await loadCopiedFields(tx, { copy_another_buyer, copy_buyer_id }, now);
  const fields: BuyerFields = { ...DEFAULTS, ...copied, ...body };
  requireBidSettings(fields, undefined, context.config.webhook_allow_networks);
  const teams = await resolveTeamChanges(tx, 'buyer', { fields: body, caller });
  const lists = await resolveSuppressions(tx, fields);
  const row = {
    ...toColumns(withDefaults(fields, DEFAULTS)),
    ...(await lockReferences(tx, fields)),
    ...buildPauseColumns({ paused: false }, fields.paused, { caller, now }),
    ...createdAt(now),
  };
  const { id } = await tx.prisma.buyer.create({
    data: { ...row, company_id: tx.company_id } as never,
    select: { id: true },
  });
  await openCaps(tx, KIND, { id, fields, caller });
  await setTerms(tx, id, fields);
  await writeParts(tx, id, { fields, lists, now });
  await grantToTeams(tx, 'buyer', id);
  await changeTeams(tx, { kind: 'buyer', id }, teams, context);
  if (reset_bid_secret) context.createdSecret.bid_secret = await resetBidSecret(tx, id, context);
  return id;
}

/** Records that are locked before the buyer. */
interface LockedDependencies {
  references: Awaited<ReturnType<typeof lockReferences>>;
  lists: bigint[] | undefined;
  teams: Awaited<ReturnType<typeof resolveTeamChanges>>;
}

const lockDependencies = async (
  tx: Db,
  fields: UpdateFields,
  caller: Context['caller'],
): Promise<LockedDependencies> => ({
  references: await lockReferences(tx, fields),
  lists: await resolveSuppressions(tx, fields),
  teams: await resolveTeamChanges(tx, 'buyer', { fields, caller }),
});

async function updateBuyer(
  tx: Db,
  id: bigint,
  { fields, ahead, ...context }: Context & { fields: UpdateFields; ahead: LockedDependencies },
): Promise<void> {
  const { caller, now } = context;
  const where = { company_id_id: { company_id: tx.company_id, id } };
  const { paused, time_zone } = fields;
  if (areBidSettings(fields)) {
    const { buyer_type, bid_request } = await tx.prisma.buyer.findUniqueOrThrow({
      where,
      select: { buyer_type: true, bid_request: true },
    });
    const currentSettings = { buyer_type, has_request: bid_request !== null };
    requireBidSettings(fields, currentSettings, context.config.webhook_allow_networks);
  }
  // Read only when one of the two is sent, which is rare.
  const before =
    paused === undefined && time_zone === undefined
      ? undefined
      : await tx.prisma.buyer.findUniqueOrThrow({
          where,
          select: { paused: true, time_zone: true },
        });
  await tx.prisma.buyer.update({
    where,
    data: {
      ...toColumns(fields),
      ...ahead.references,
      ...(before && buildPauseColumns(before, paused, { caller, now })),
      ...changedAt(now),
    },
    select: { id: true },
  });
  const mayRaise = await changeCaps(tx, KIND, {
    id,
    fields,
    time_zone: before?.time_zone,
    caller,
    now,
  });
  await setTerms(tx, id, fields);
  const { business_hours_schedule: schedule } = fields;
  const hours =
    schedule === undefined ? undefined : await applyHiddenLimits(tx, id, schedule ?? []);
  if (hours) await enforceHourlyCeiling(tx, id, { hours, may_raise: mayRaise });
  const parts = { ...fields, ...(hours && { business_hours_schedule: hours }) };
  await writeParts(tx, id, { fields: parts, lists: ahead.lists, now });
  await changeTeams(tx, { kind: 'buyer', id }, ahead.teams, context);
  if (fields.reset_bid_secret)
    context.createdSecret.bid_secret = await resetBidSecret(tx, id, context);
}

async function deleteBuyer(tx: Db, id: bigint, now: Date): Promise<void> {
  await detachBuyer(tx, id);
  await leaveTeams(tx, { kind: 'buyer', id }, now);
  // Calls to numbers that forwarded to this buyer go to the offer.
  await tx.prisma.number.updateMany({
    where: { buyer_id: id, deleted_at: null },
    data: { buyer_id: null, forward_type: 'offer_id', updated_at: now },
  });
  await tx.prisma.buyer.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: { ...deletedAt(now), buyer_fleet_id: null },
  });
}
