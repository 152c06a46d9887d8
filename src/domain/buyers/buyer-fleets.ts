import { commonColumns, type Projection } from '../../data/projection/projection';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { list } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { addSingleStatement, omitSerializer } from '../../api/records/write-directly';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';

const MEMBERS = 'buyers m WHERE m.company_id = t.company_id AND m.buyer_fleet_id = t.id';

export const projection = {
  schema: 'BuyerFleet',
  singular: 'buyer_fleet',
  plural: 'buyer_fleets',
  fulltext: `lower(
    coalesce(t.name, '')
    || E'\\n' || coalesce(t.user_fleet_id, '')
    || E'\\n' || coalesce(t.description, '')
    || E'\\n' || coalesce(t.external_record_id, '')
  )`,
  columns: {
    ...commonColumns('buyer_fleets'),
    type: `'BuyerFleet'`,
    name: true,
    description: true,
    user_fleet_id: true,
    buyers_count: `(SELECT count(*) FROM ${MEMBERS})`,
    buyer_ids: `ARRAY(SELECT m.id FROM ${MEMBERS} ORDER BY m.id)`,
  },
} as const satisfies Projection<'BuyerFleet', 'buyer_fleet', 'buyer_fleets'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  user_fleet_id: { sql: 't.user_fleet_id', type: 'text' },
  ...BY_TIMES,
};

// Fleets: named sets of buyers. A buyer is in at most one.

export const buyerFleets = ({ clock }: Deps) => {
  const records = recordHandlers(projection, clock);
  const key = (companyId: bigint, id: bigint) => ({ company_id_id: { company_id: companyId, id } });
  return {
    listBuyerFleets: ({ query, db }) => list(query, { db, now: clock(), projection, orders }),
    newBuyerFleet: (call) => records.showUnsaved(call, {}),
    showBuyerFleet: records.show,

    createBuyerFleet: addSingleStatement<'createBuyerFleet'>(
      (call) =>
        records.create(call, async (tx, fields, now) => {
          const data = { ...fields, company_id: tx.company_id, ...createdAt(now) };
          return (await tx.prisma.buyerFleet.create({ data, select: { id: true } })).id;
        }),
      (call, entry) => records.createInStatement(call, entry, { row: omitSerializer(call.body) }),
    ),

    updateBuyerFleet: addSingleStatement<'updateBuyerFleet'>(
      (call) =>
        records.update(call, async (tx, id, { fields, now }) => {
          await tx.prisma.buyerFleet.update({
            where: key(tx.company_id, id),
            data: { ...fields, ...changedAt(now) },
            select: { id: true },
          });
        }),
      (call, entry) => records.updateInStatement(call, entry, { row: omitSerializer(call.body) }),
    ),

    deleteBuyerFleet: (call) =>
      records.delete(call, async (tx, id, now) => {
        await tx.prisma.buyer.updateMany({
          where: { buyer_fleet_id: id },
          data: { buyer_fleet_id: null, updated_at: now },
        });
        await tx.prisma.buyerFleet.update({
          where: key(tx.company_id, id),
          data: deletedAt(now),
        });
      }),
  } satisfies Partial<Handlers>;
};
