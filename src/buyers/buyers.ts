import { defaultsOf, type Schemas } from '../contract';
import { detachBuyer, replaceAttached, suppressionsOf } from '../db/attachments';
import { changeLimits, limitsIn, openLimits } from './queries/cap-counters';
import { grantToTeams } from '../db/access-scope';
import { lockRecord, resolveReferences } from '../db/records';
import { leaveTeams } from '../people/leave-teams';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { list } from '../http/list';
import { requireUnchanged, show, showBy, unsaved, written } from '../http/record';
import { openMinutes } from '../time/opening-hours';
import { ianaName } from '../time/zone';
import { splitPairs } from '../tokens/filters';
import { METRICS } from './caps';
import { changeTeams, teamChanges } from '../people/change-teams';
import { withDefaults } from '../http/defaults';
import { pauseColumns } from '../people/paused-by';
import { filters, orders, projection } from './buyers-columns';
import {
  changeCurrent,
  isCurrentField,
  replaceConversions,
  type CurrentFields,
} from './conversions';
import { copyOf } from './copy-buyer';
import { moveCount } from '../db/counters';

type Fields = Schemas['BuyerFields'];
const DEFAULTS = defaultsOf('BuyerFields') as Required<Pick<Fields, 'time_zone'>> & Fields;

/** Call destinations. */
export const buyers = ({ clock, queue, authenticator }: Deps) =>
  ({
    listBuyers: ({ query, db }) => list(query, { db, now: clock(), projection, orders, filters }),

    newBuyer: ({ query, db }) => {
      const row = {
        ...columnsOf(DEFAULTS),
        record_token_filter_data: [],
        record_token_additional_data: [],
      };
      return unsaved({ db, now: clock(), projection, serializer: query.serializer }, row);
    },

    showBuyer: ({ params, query, db, if_none_match }) =>
      show(
        { db, now: clock(), projection, serializer: query.serializer, if_none_match },
        params.id,
      ),

    showBuyerByUserBuyerId: ({ params, query, db, if_none_match }) =>
      showBy(
        { db, now: clock(), projection, serializer: query.serializer, if_none_match },
        'user_buyer_id',
        params.user_buyer_id,
      ),

    createBuyer: async ({
      query,
      body: { copy_another_buyer, serializer = query.serializer, ...body },
      db,
      caller,
    }) => {
      const now = clock();
      const id = await db.transaction(async (tx) => {
        const copied =
          copy_another_buyer === undefined ? {} : await copyOf(tx, copy_another_buyer, now);
        const fields: Fields = { ...DEFAULTS, ...copied, ...body };
        const teams = await teamChanges(tx, 'buyer', { fields: body, caller });
        const lists = await suppressionsOf(tx, fields);
        const pause = fields.paused ? { paused_at: now, paused_by_user_id: caller.user_id } : {};
        const row = {
          ...columnsOf(withDefaults(fields, DEFAULTS)),
          ...(await referencesOf(tx, fields)),
          ...pause,
          user_updated_at: now,
          created_at: now,
          updated_at: now,
        };
        const buyer = await tx.prisma.buyer.create({
          data: { ...row, company_id: tx.company_id } as never,
          select: { id: true },
        });
        await openLimits(
          tx,
          { buyer_id: buyer.id },
          {
            zone: ianaName(fields.time_zone ?? DEFAULTS.time_zone)!,
            limits: limitsIn({ ...fields }),
          },
        );
        await writeParts(tx, buyer.id, { fields, lists, now });
        await grantToTeams(tx, 'buyer', buyer.id);
        await changeTeams(tx, { kind: 'buyer', id: buyer.id }, teams, {
          queue,
          authenticator,
          caller,
          now,
        });
        await moveCount(tx, 'buyers', 1);
        return buyer.id;
      });
      return written({ db, now, projection, serializer }, id, { status: 201 });
    },

    updateBuyer: async ({
      params,
      query,
      body: { reset_total_caps, serializer = query.serializer, ...body },
      db,
      caller,
      if_match,
    }) => {
      const now = clock();
      const fields = withDefaults(body, DEFAULTS);
      const id = await db.transaction(async (tx) => {
        // Fleet and lists before the buyer: whoever deletes one of those locks in this order too.
        const fleet = await referencesOf(tx, fields);
        const lists = await suppressionsOf(tx, fields);
        const teams = await teamChanges(tx, 'buyer', { fields: fields, caller });
        const before = await lockRecord(tx, 'buyers', params.id, ['paused', 'time_zone']);
        await requireUnchanged({ db: tx, now, projection, serializer, if_match }, params.id);
        await tx.prisma.buyer.update({
          where: { company_id_id: { company_id: tx.company_id, id: before.id } },
          data: {
            ...columnsOf(fields),
            ...fleet,
            ...pauseColumns(before, fields.paused, { caller, now }),
            user_updated_at: now,
            updated_at: now,
          },
          select: { id: true },
        });
        const zone =
          fields.time_zone !== undefined && fields.time_zone !== before.time_zone
            ? ianaName(fields.time_zone)
            : undefined;
        await changeLimits(
          tx,
          { buyer_id: before.id },
          { limits: limitsIn({ ...fields }), zone, reset_totals: reset_total_caps, now },
        );
        await writeParts(tx, before.id, { fields, lists, now });
        await changeTeams(tx, { kind: 'buyer', id: before.id }, teams, {
          queue,
          authenticator,
          caller,
          now,
        });
        return before.id;
      });
      return written({ db, now, projection, serializer }, id);
    },

    deleteBuyer: async ({ params, query, db, if_match }) => {
      const now = clock();
      const id = await db.transaction(async (tx) => {
        const { id } = await lockRecord(tx, 'buyers', params.id);
        await requireUnchanged(
          { db: tx, now, projection, serializer: query.serializer, if_match },
          params.id,
        );
        await detachBuyer(tx, id);
        await leaveTeams(tx, { kind: 'buyer', id }, now);
        // Calls that went to it alone go to the offer.
        await tx.prisma.number.updateMany({
          where: { buyer_id: id, deleted_at: null },
          data: { buyer_id: null, forward_type: 'offer_id', updated_at: now },
        });
        await tx.prisma.buyer.update({
          where: { company_id_id: { company_id: tx.company_id, id } },
          data: { deleted_at: now, updated_at: now, user_updated_at: now, buyer_fleet_id: null },
        });
        await moveCount(tx, 'buyers', -1);
        return id;
      });
      return written({ db, now, projection, serializer: query.serializer }, id);
    },
  }) satisfies Partial<Handlers>;

/** Fields of the contract that are columns of the buyer under the same name. */
const OWN_COLUMNS = [
  'name',
  'number',
  'user_buyer_id',
  'email',
  'external_record_id',
  'buyer_type',
  'timeout_seconds',
  'dtmf_tones',
  'time_zone',
  'paused',
  'record_calls',
  'press_one_to_accept',
  'ping_timeout_seconds',
  'route_by_type',
  'tier',
  'weight',
  'epc_timeframe',
  'epc_assumed_amount',
  'epc_assumed_calls_count',
  'display_caller_id_type',
] as const satisfies readonly (keyof Fields)[];

/** The columns of the buyer's row among the fields. */
function columnsOf(fields: Fields) {
  const own = Object.fromEntries(
    OWN_COLUMNS.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
  const { record_token_filter_list, record_token_additional_list } = fields;
  return {
    ...own,
    ...(record_token_filter_list !== undefined && {
      record_token_filter_data: record_token_filter_list ?? [],
    }),
    ...(record_token_additional_list !== undefined && {
      record_token_additional_data: splitPairs(record_token_additional_list ?? ''),
    }),
  };
}

const REFERENCES = {
  buyer_fleet_id: 'buyer_fleets',
  display_service_number_id: 'numbers',
} as const;

/** The ids of the records that a buyer refers to. */
async function referencesOf(
  db: Db,
  fields: Fields,
): Promise<{ buyer_fleet_id?: bigint | null; display_service_number_id?: bigint | null }> {
  const found: Record<string, bigint | null> = {};
  for (const [field, table] of Object.entries(REFERENCES)) {
    const named = fields[field as keyof typeof REFERENCES];
    if (named !== undefined)
      found[field] =
        named === null ? null : (await resolveReferences(db, table, [named], { field }))[0]!;
  }
  return found;
}

interface Parts {
  fields: Fields;
  lists: bigint[] | undefined;
  now: Date;
}

/** The parts of a buyer that have tables of their own: suppression lists, opening hours and conversions. */
async function writeParts(db: Db, buyer_id: bigint, { fields, lists, now }: Parts): Promise<void> {
  if (lists)
    await replaceAttached(
      db,
      'buyer_suppression_buyers',
      { buyer_id },
      { buyer_suppression_id: lists },
    );
  const { business_hours_schedule: hours, buyer_conversions_schedule: frames } = fields;
  if (hours !== undefined) await replaceHours(db, buyer_id, hours ?? []);
  if (frames !== undefined) await replaceConversions(db, buyer_id, frames ?? []);
  const current = Object.fromEntries(
    Object.entries(fields).filter(([name]) => isCurrentField(name)),
  ) as CurrentFields;
  if (Object.keys(current).length > 0) await changeCurrent(db, buyer_id, { fields: current, now });
}

async function replaceHours(
  db: Db,
  buyer_id: bigint,
  entries: readonly Schemas['BusinessHours'][],
): Promise<void> {
  await db.prisma.buyerBusinessHours.deleteMany({ where: { buyer_id } });
  if (entries.length === 0) return;
  await db.prisma.buyerBusinessHours.createMany({
    data: entries.map((entry, position) => ({
      company_id: db.company_id,
      buyer_id,
      position,
      schedule: [...entry.schedule],
      open_minutes: openMinutes(entry.schedule),
      ...Object.fromEntries(
        METRICS.map((metric) => [
          `${metric}_hourly_limit`,
          entry[`${metric}_hourly_limit`] ?? null,
        ]),
      ),
    })),
  });
}
