import { defaultsOf, type Schemas } from '../contract';
import { changeBuyers, replaceAttached, suppressionsOf } from '../db/attachments';
import { commonColumns, type Projection, type SortKey } from '../db/projection';
import { grantToTeams } from '../db/access-scope';
import { resolveReferences } from '../db/records';
import { leaveTeams } from '../people/leave-teams';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { list } from '../http/list';
import { recordHandlers } from '../http/record-handlers';
import { forgetAfter, newLeadToken, revokeLeadToken, setLeadToken } from './lead-token';
import { withDefaults } from '../http/defaults';
import { pauseColumns } from '../people/paused-by';

type Fields = Schemas['OfferFields'];
const DEFAULTS = defaultsOf('OfferFields') as { time_zone: string; paused: boolean };

const attached = (table: string, column: string) =>
  `ARRAY(SELECT a.${column} FROM ${table} a WHERE a.company_id = t.company_id AND a.offer_id = t.id ORDER BY 1)`;

export const projection = {
  schema: 'Offer',
  singular: 'offer',
  plural: 'offers',
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.user_offer_id, '') || E'\\n' || coalesce(t.description, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('offers'),
    type: `'Offer'`,
    name: true,
    user_offer_id: true,
    description: true,
    time_zone: true,
    paused: true,
    paused_at: true,
    unpaused_at: true,
    lead_token: true,
    greeting_message: true,
    fallback_type: true,
    fallback_message: true,
    fallback_number: true,
    callback_behavior: true,
    skip_duplicates: true,
    spacing_seconds: true,
    payouts: true,
    buyer_ids: attached('offer_buyers', 'buyer_id'),
    buyer_group_ids: attached('offer_buyer_groups', 'buyer_group_id'),
    buyer_suppression_ids: attached('buyer_suppression_offers', 'buyer_suppression_id'),
    schedule_ids: `ARRAY(SELECT s.id FROM schedules s WHERE s.company_id = t.company_id AND s.offer_id = t.id AND s.deleted_at IS NULL ORDER BY 1)`,
    paused_by_user_id: true,
  },
} as const satisfies Projection<'Offer', 'offer', 'offers'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  user_offer_id: { sql: 't.user_offer_id', type: 'text', nullable: true },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  updated_at: { sql: 't.updated_at', type: 'timestamptz' },
  paused: { sql: 't.paused', type: 'boolean' },
};

/** What calls and leads come to. */
export const offers = ({ clock, queue, authenticator }: Deps) => {
  const records = recordHandlers(projection, clock);
  const forgetting = forgetAfter(authenticator);
  return {
    listOffers: ({ query, db }) => list(query, { db, now: clock(), projection, orders }),
    newOffer: (call) => records.unsaved(call, DEFAULTS),
    showOffer: records.show,

    createOffer: (call) =>
      records.create(call, async (tx, body, now) => {
        const fields = { ...DEFAULTS, ...withDefaults<Fields>(body, DEFAULTS) };
        const lists = await suppressionsOf(tx, fields);
        const lead_token = newLeadToken();
        const pause = pauseColumns({ paused: false }, fields.paused, { caller: call.caller, now });
        const data = {
          ...columnsOf(fields),
          name: body.name!,
          time_zone: fields.time_zone ?? DEFAULTS.time_zone,
          ...pause,
          lead_token,
        };
        const { id } = await tx.prisma.offer.create({
          data: {
            ...data,
            company_id: tx.company_id,
            user_updated_at: now,
            created_at: now,
            updated_at: now,
          },
          select: { id: true },
        });
        await setLeadToken(tx, { offer_id: id }, lead_token);
        await writeParts(tx, id, fields, lists);
        await grantToTeams(tx, 'offer', id);
        return id;
      }),

    updateOffer: (call) =>
      forgetting(call.db, (replaced) =>
        records.updateAfter(
          { ...call, body: withDefaults<Schemas['OfferUpdate']>(call.body, DEFAULTS) },
          (tx, fields: Schemas['OfferUpdate']) => suppressionsOf(tx, fields),
          async (tx, id, { fields, now, ahead }) => {
            const where = { company_id_id: { company_id: tx.company_id, id } };
            const before = await tx.prisma.offer.findUniqueOrThrow({
              where,
              select: { paused: true, lead_token: true },
            });
            const lead_token = fields.reset_lead_token ? newLeadToken() : before.lead_token;
            const pause = pauseColumns(before, fields.paused, { caller: call.caller, now });
            await tx.prisma.offer.update({
              where,
              data: {
                ...columnsOf(fields),
                ...pause,
                lead_token,
                user_updated_at: now,
                updated_at: now,
              },
            });
            if (lead_token !== before.lead_token) {
              await setLeadToken(tx, { offer_id: id }, lead_token);
              replaced.push(before.lead_token);
            }
            await writeParts(tx, id, fields, ahead);
            if (before.paused && fields.paused === false)
              await queue.add(tx, 'resume_leads', {
                company_id: String(tx.company_id),
                offer_id: String(id),
              });
          },
        ),
      ),

    deleteOffer: (call) =>
      forgetting(call.db, (replaced) =>
        records.delete(call, async (tx, id, now) => {
          const where = { company_id_id: { company_id: tx.company_id, id } };
          const { lead_token } = await tx.prisma.offer.update({
            where,
            data: { deleted_at: now, updated_at: now, user_updated_at: now },
          });
          await revokeLeadToken(tx, { offer_id: id });
          await tx.prisma.schedule.updateMany({
            where: { offer_id: id },
            data: { offer_id: null },
          });
          await tx.prisma.number.updateMany({
            where: { offer_id: id, deleted_at: null },
            data: { offer_id: null, updated_at: now },
          });
          await leaveTeams(tx, { kind: 'offer', id }, now);
          await tx.prisma.offerBuyer.deleteMany({ where: { offer_id: id } });
          await tx.prisma.offerBuyerGroup.deleteMany({ where: { offer_id: id } });
          await tx.prisma.buyerSuppressionOffer.deleteMany({ where: { offer_id: id } });
          await queue.add(tx, 'remove_leads', {
            company_id: String(tx.company_id),
            offer_id: String(id),
          });
          replaced.push(lead_token);
        }),
      ),
  } satisfies Partial<Handlers>;
};

const OWN = [
  'name',
  'user_offer_id',
  'description',
  'time_zone',
  'paused',
  'external_record_id',
  'greeting_message',
  'fallback_type',
  'fallback_message',
  'fallback_number',
  'callback_behavior',
  'skip_duplicates',
  'spacing_seconds',
  'payouts',
] as const satisfies readonly (keyof Fields)[];

/** The columns of the offer's row among the fields. */
const columnsOf = (fields: Fields) =>
  Object.fromEntries(
    OWN.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );

/** What is attached to an offer: suppression lists, then groups, then buyers, in the order of locks. */
async function writeParts(
  db: Db,
  offer_id: bigint,
  fields: Fields,
  lists: bigint[] | undefined,
): Promise<void> {
  const sources = fields.payouts?.flatMap(({ traffic_source_id }) => traffic_source_id ?? []) ?? [];
  await resolveReferences(db, 'traffic_sources', sources, { field: 'payouts' });
  if (lists)
    await replaceAttached(
      db,
      'buyer_suppression_offers',
      { offer_id },
      { buyer_suppression_id: lists },
    );
  if (fields.buyer_group_ids !== undefined) {
    const buyer_group_id = await resolveReferences(
      db,
      'buyer_groups',
      fields.buyer_group_ids ?? [],
      { field: 'buyer_group_ids' },
    );
    await replaceAttached(db, 'offer_buyer_groups', { offer_id }, { buyer_group_id });
  }
  await changeBuyers(db, 'offer_buyers', offer_id, fields);
}
