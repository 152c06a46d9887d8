import type { Schemas } from '../../platform/contract/contract';
import { grantToTeams } from '../../data/access/scope';
import { changeBuyers } from '../../data/attachments';
import { resolveReferences } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { noun, selectIds } from '../../api/records/noun';
import { leaveTeams } from '../people/leave-teams';
import { buildPauseColumns } from '../people/paused-by';
import { chooseLeadToken, revokeLeadToken, saveLeadToken } from './lead-token';
import { SET_LEAD_TOKEN_POWERS } from './queries/lead-token-powers';
import { revokeSourceTokens } from './source-tokens';

// Offers: campaigns that receive calls and leads. An offer has the buyers and groups that may get
// its calls, and a lead token for submitting leads. Locks: suppression lists, the offer, buyer
// groups, buyers.

const offer = noun({
  schema: 'Offer',
  singular: 'offer',
  plural: 'offers',
  search: ['name', 'user_offer_id', 'description', 'external_record_id'],
  computed: {
    buyer_ids: selectIds('offer_buyers', 'offer_id', 'buyer_id'),
    schedule_ids: `ARRAY(
      SELECT s.id FROM schedules s
      WHERE s.company_id = t.company_id AND s.offer_id = t.id AND s.deleted_at IS NULL
      ORDER BY 1
    )`,
  },
  parts: {
    buyer_suppression_ids: {
      pairs: 'buyer_suppression_offers',
      column: 'buyer_suppression_id',
      locked: 'before',
    },
    buyer_group_ids: { pairs: 'offer_buyer_groups', column: 'buyer_group_id', locked: 'after' },
  },
  detach: { deleted: ['offerBuyer', 'offerBuyerGroup', 'buyerSuppressionOffer'] },
});
export const { projection } = offer;

export const offers = (deps: Deps) => {
  const { queue, authenticator } = deps;
  return offer.handlers(deps, {
    reads: ['paused', 'lead_token'],

    columns: async ({ tx, fields, before, caller, now }) => ({
      ...(await resolvePayouts(tx, fields)),
      ...buildPauseColumns(before ?? { paused: false }, fields.paused, { caller, now }),
      lead_token: chooseLeadToken(fields, before),
      lead_token_powers: undefined,
    }),

    save: async ({ tx, id, fields, before, row }) => {
      const token = row.lead_token as string;
      await saveLeadToken(tx, { offer_id: id }, { token, before }, authenticator);
      await savePowers(tx, id, fields);
      if (fields.lead_token_powers !== undefined) tx.afterCommit(authenticator.forgetPowers);
      await changeBuyers(tx, 'offer_buyers', id, fields);
      if (!before) await grantToTeams(tx, 'offer', id);
      if (before?.paused && fields.paused === false)
        await queue.add(tx, 'resume_leads', toJob(tx, id));
    },

    deletion: {
      detach: async ({ tx, id, now, before: { lead_token } }) => {
        const ofOffer = { offer_id: id };
        await revokeLeadToken(tx, ofOffer, lead_token, authenticator);
        await revokeSourceTokens(tx, ofOffer, now);
        await tx.prisma.schedule.updateMany({ where: ofOffer, data: { offer_id: null } });
        await tx.prisma.number.updateMany({
          where: { ...ofOffer, deleted_at: null },
          data: { offer_id: null, updated_at: now },
        });
        await leaveTeams(tx, { kind: 'offer', id }, now);
        await queue.add(tx, 'remove_leads', toJob(tx, id));
      },
    },
  });
};

const toJob = ({ company_id }: Db, id: bigint) => ({
  company_id: String(company_id),
  offer_id: String(id),
});

type Fields = Schemas['OfferFields'];

/** Replaces references to traffic sources by their ids. */
async function resolvePayouts(db: Db, { payouts }: Fields): Promise<Pick<Fields, 'payouts'>> {
  if (!payouts) return {};
  const resolvedPayouts = [];
  for (const [n, payout] of payouts.entries()) {
    const { traffic_source_id: source } = payout;
    const field = `payouts.${n}.traffic_source_id`;
    const [id] =
      source === null || source === undefined
        ? []
        : await resolveReferences(db, 'traffic_sources', [source], { field });
    resolvedPayouts.push(id === undefined ? payout : { ...payout, traffic_source_id: Number(id) });
  }
  return { payouts: resolvedPayouts };
}

/** In SQL: Prisma cannot set a list to null. */
async function savePowers(
  { sql }: Db,
  id: bigint,
  { lead_token_powers: powers }: Fields,
): Promise<void> {
  if (powers === undefined) return;
  await sql(SET_LEAD_TOKEN_POWERS, { id, powers: powers && [...new Set(powers)] });
}
