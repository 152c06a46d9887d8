import { setTerms } from '../money/set-terms';
import { grantToTeams } from '../../data/access/scope';
import { detachBuyer, resolveSuppressions } from '../../data/attachments';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { showBy } from '../../api/records/record';
import { changeTeams, resolveTeamChanges } from '../people/change-teams';
import { leaveTeams } from '../people/leave-teams';
import { buildPauseColumns } from '../people/paused-by';
import { areBidSettings, requireBidSettings, resetBidSecret } from './bid-settings';
import { buyer, projection } from './buyers-columns';
import { enforceHourlyCeiling, isLimit, pickLimits } from '../caps/cap-limits';
import { changeCaps, buildOwnerWrite, openCaps, type OwnerKind } from '../caps/cap-owners';
import { requireZipList } from '../value-lists/require-lists';
import { loadCopiedFields } from './copy-buyer';
import { toColumns, EMPTY_LISTS, applyHiddenLimits, writeParts } from './write-buyer';

// Buyers: the destinations of calls. A write first locks the records that the buyer refers to
// (fleet, number, suppression lists, offers of its teams), then the buyer, in the order in which
// deletions of those records lock them; then it changes the rows that belong to the buyer.

export const buyers = (deps: Deps) => {
  const { clock, config } = deps;
  const handlers = buyer.handlers(deps, {
    reads: ['paused', 'time_zone', 'buyer_type', 'bid_request'],
    unsaved: { ...buyer.defaults, ...EMPTY_LISTS },
    statement: (request) => buildOwnerWrite(KIND, request),

    fill: ({ tx, fields: { copy_another_buyer, copy_buyer_id }, now }) =>
      loadCopiedFields(tx, { copy_another_buyer, copy_buyer_id }, now),

    lock: async ({ tx, fields, isNew, caller }) => {
      if (isNew) requireBidSettings(fields, undefined, config.webhook_allow_networks);
      return {
        lists: await resolveSuppressions(tx, fields),
        teams: await resolveTeamChanges(tx, 'buyer', { fields, caller }),
      };
    },

    columns: async ({ tx, fields, before, references: { zip_list_id }, caller, now }) => {
      if (zip_list_id) await requireZipList(tx, zip_list_id, 'zip_list_id');
      if (before && areBidSettings(fields))
        requireBidSettings(fields, before, config.webhook_allow_networks);
      const pause = buildPauseColumns(before ?? { paused: false }, fields.paused, { caller, now });
      return { ...toColumns(fields), ...pause };
    },

    save: async ({ tx, id, fields, before, locked: { lists, teams }, extra, ...context }) => {
      const { caller, now } = context;
      const owner = { id, fields, caller };
      let { business_hours_schedule: hours } = fields;
      if (before) {
        const change = { ...owner, time_zone: before.time_zone, now };
        const mayRaise = await changeCaps(tx, KIND, change);
        hours &&= await applyHiddenLimits(tx, id, hours);
        if (hours !== undefined)
          await enforceHourlyCeiling(tx, id, { hours: hours ?? [], may_raise: mayRaise });
      } else await openCaps(tx, KIND, owner);
      await setTerms(tx, id, fields);
      const parts = { ...fields, ...(hours && { business_hours_schedule: hours }) };
      await writeParts(tx, id, { fields: parts, lists, now });
      if (!before) await grantToTeams(tx, 'buyer', id);
      await changeTeams(tx, { kind: 'buyer', id }, teams, { ...deps, caller, now });
      if (fields.reset_bid_secret)
        extra.bid_secret = await resetBidSecret(tx, id, { pepper: deps.pepper, now });
    },

    deletion: {
      detach: async ({ tx, id, now }) => {
        await detachBuyer(tx, id);
        await leaveTeams(tx, { kind: 'buyer', id }, now);
        // Calls to numbers that forwarded to this buyer go to the offer.
        await tx.prisma.number.updateMany({
          where: { buyer_id: id, deleted_at: null },
          data: { buyer_id: null, forward_type: 'offer_id', updated_at: now },
        });
        await tx.prisma.buyer.updateMany({ where: { id }, data: { buyer_fleet_id: null } });
      },
    },
  });
  return {
    ...handlers,
    showBuyerByUserBuyerId: ({ params, query: { serializer, columns }, db, if_none_match }) =>
      showBy(
        { db, now: clock(), projection, serializer, columns, if_none_match },
        'user_buyer_id',
        params.user_buyer_id,
      ),
  } satisfies Partial<Handlers>;
};

const KIND: OwnerKind = {
  table: 'buyers',
  key: 'buyer_id',
  isLimitOrColumn: (name) => isLimit(name) || name === 'record_token_additional_list',
  needsTransaction: areBidSettings,
  toColumns,
  toLimits: pickLimits,
};
