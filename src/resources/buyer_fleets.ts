import type { Schemas } from '../contract';
import { commonColumns, type Projection, type SortKey } from '../db/projection';
import { lockRecord, moveCount } from '../db/records';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { list } from '../http/list';
import { requireUnchanged, show, unsaved, written } from '../http/record';

const MEMBERS = 'buyers m WHERE m.company_id = t.company_id AND m.buyer_fleet_id = t.id';

export const projection = {
  schema: 'BuyerFleet',
  singular: 'buyer_fleet',
  plural: 'buyer_fleets',
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.user_fleet_id, '') || E'\\n' || coalesce(t.description, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
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
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  updated_at: { sql: 't.updated_at', type: 'timestamptz' },
};

/** Named sets of buyers. */
export const buyerFleets = ({ clock }: Deps) =>
  ({
    listBuyerFleets: ({ query, db }) => list(query, { db, now: clock(), projection, orders }),

    newBuyerFleet: ({ query, db }) => unsaved({ db, now: clock(), projection, serializer: query.serializer }, {}),

    showBuyerFleet: ({ params, query, db, if_none_match }) => show({ db, now: clock(), projection, serializer: query.serializer, if_none_match }, params.id),

    createBuyerFleet: async ({ query, body: { serializer = query.serializer, ...body }, db }) => {
      const now = clock();
      const id = await db.transaction(async (tx) => {
        const { name, user_fleet_id } = body as Schemas['BuyerFleetCreate'] & { name: string; user_fleet_id: string };
        const fleet = await tx.prisma.buyerFleet.create({
          data: { ...body, name, user_fleet_id, company_id: tx.company_id, user_updated_at: now, created_at: now, updated_at: now },
          select: { id: true },
        });
        await moveCount(tx, 'buyer_fleets', 1);
        return fleet.id;
      });
      return written({ db, now, projection, serializer }, id, { status: 201 });
    },

    updateBuyerFleet: async ({ params, query, body: { serializer = query.serializer, ...body }, db, if_match }) => {
      const now = clock();
      const id = await db.transaction(async (tx) => {
        const { id } = await lockRecord(tx, 'buyer_fleets', params.id);
        await requireUnchanged({ db: tx, now, projection, serializer, if_match }, params.id);
        await tx.prisma.buyerFleet.update({
          where: { company_id_id: { company_id: tx.company_id, id } },
          data: { ...body, user_updated_at: now, updated_at: now },
          select: { id: true },
        });
        return id;
      });
      return written({ db, now, projection, serializer }, id);
    },

    deleteBuyerFleet: async ({ params, query, db, if_match }) => {
      const now = clock();
      const id = await db.transaction(async (tx) => {
        const { id } = await lockRecord(tx, 'buyer_fleets', params.id);
        await requireUnchanged({ db: tx, now, projection, serializer: query.serializer, if_match }, params.id);
        await tx.prisma.buyer.updateMany({ where: { buyer_fleet_id: id }, data: { buyer_fleet_id: null, updated_at: now } });
        await tx.prisma.buyerFleet.update({
          where: { company_id_id: { company_id: tx.company_id, id } },
          data: { deleted_at: now, updated_at: now, user_updated_at: now },
        });
        await moveCount(tx, 'buyer_fleets', -1);
        return id;
      });
      return written({ db, now, projection, serializer: query.serializer }, id);
    },
  }) satisfies Partial<Handlers>;
