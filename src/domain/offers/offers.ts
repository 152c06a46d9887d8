import type { Schemas } from '../../platform/contract/contract';
import { resolveSuppressions } from '../../data/attachments';
import { commonColumns, type Projection } from '../../data/projection/projection';
import type { Deps } from '../deps';
import { withDefaults } from '../../api/request/defaults';
import type { Handlers } from '../../api/handlers';
import { list } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { buildTokenRevoker, revokeLeadToken } from './lead-token';
import { createOffer, OFFER_DEFAULTS, updateOffer } from './save-offer';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';
import type { Db } from '../../data/db';
import { deletedAt } from '../../data/timestamps';
import type { Queue } from '../../data/jobs/queue';
import { leaveTeams } from '../people/leave-teams';
import { revokeSourceTokens } from './source-tokens';

// Offers: campaigns that receive calls and leads. An offer has the buyers and groups that may get
// its calls, and a lead token for submitting leads. Locks: suppression lists, the offer, buyer
// groups, buyers.

const attached = (table: string, column: string) => `ARRAY(
  SELECT a.${column} FROM ${table} a
  WHERE a.company_id = t.company_id AND a.offer_id = t.id
  ORDER BY 1
)`;

export const projection = {
  schema: 'Offer',
  singular: 'offer',
  plural: 'offers',
  fulltext: `lower(
    coalesce(t.name, '') || E'\\n' || coalesce(t.user_offer_id, '')
    || E'\\n' || coalesce(t.description, '') || E'\\n' || coalesce(t.external_record_id, '')
  )`,
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
    lead_token_powers: true,
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
    schedule_ids: `ARRAY(
      SELECT s.id FROM schedules s
      WHERE s.company_id = t.company_id AND s.offer_id = t.id AND s.deleted_at IS NULL
      ORDER BY 1
    )`,
    abandoned_message: true,
    paused_by_user_id: true,
  },
} as const satisfies Projection<'Offer', 'offer', 'offers'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  user_offer_id: { sql: 't.user_offer_id', type: 'text', nullable: true },
  ...BY_TIMES,
  paused: { sql: 't.paused', type: 'boolean' },
};

export const offers = ({ clock, queue, authenticator }: Deps) => {
  const records = recordHandlers(projection, clock);
  const revokingTokens = buildTokenRevoker(authenticator);
  return {
    listOffers: ({ query, db }) => list(query, { db, now: clock(), projection, orders }),
    newOffer: (call) => records.showUnsaved(call, OFFER_DEFAULTS),
    showOffer: records.show,

    createOffer: (call) =>
      records.create(call, async (tx, body, now) => {
        const input = withDefaults<Schemas['OfferCreate']>(body, OFFER_DEFAULTS);
        const fields = { ...OFFER_DEFAULTS, ...input };
        const lists = await resolveSuppressions(tx, fields);
        return createOffer(tx, fields, { caller: call.caller, now, lists });
      }),

    updateOffer: (call) => {
      const body = withDefaults<Schemas['OfferUpdate']>(call.body, OFFER_DEFAULTS);
      if (body.lead_token_powers !== undefined) call.db.afterCommit(authenticator.forgetPowers);
      return revokingTokens(call.db, (revoked) =>
        records.updateLockingFirst(
          { ...call, body },
          (tx, fields: Schemas['OfferUpdate']) => resolveSuppressions(tx, fields),
          async (tx, id, { fields, now, ahead: lists }) => {
            const saving = { caller: call.caller, now, lists, queue };
            const token = await updateOffer(tx, id, fields, saving);
            if (token !== undefined) revoked.push(token);
          },
        ),
      );
    },

    deleteOffer: (call) =>
      revokingTokens(call.db, (revoked) =>
        records.delete(call, async (tx, id, now) => {
          revoked.push(await deleteOffer(tx, id, { queue, now }));
        }),
      ),
  } satisfies Partial<Handlers>;
};

/**
 * Deletes a locked offer, detaches the records that refer to it, and queues the removal of its
 * leads. Returns its lead token, which is invalid from now on.
 */
async function deleteOffer(
  tx: Db,
  id: bigint,
  { queue, now }: { queue: Queue; now: Date },
): Promise<string> {
  const offer = { offer_id: id };
  const { lead_token } = await tx.prisma.offer.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: deletedAt(now),
  });
  await revokeLeadToken(tx, offer);
  await revokeSourceTokens(tx, offer, now);
  await tx.prisma.schedule.updateMany({ where: offer, data: { offer_id: null } });
  await tx.prisma.number.updateMany({
    where: { ...offer, deleted_at: null },
    data: { offer_id: null, updated_at: now },
  });
  await leaveTeams(tx, { kind: 'offer', id }, now);
  await tx.prisma.offerBuyer.deleteMany({ where: offer });
  await tx.prisma.offerBuyerGroup.deleteMany({ where: offer });
  await tx.prisma.buyerSuppressionOffer.deleteMany({ where: offer });
  await queue.add(tx, 'remove_leads', { company_id: String(tx.company_id), offer_id: String(id) });
  return lead_token;
}
