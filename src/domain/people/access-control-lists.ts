import type { Deps } from '../deps';
import { resolveReferences } from '../../data/records';
import { requireWithin } from '../../api/auth/caller';
import { noun, selectIds } from '../../api/records/noun';
import { replaceOffers, replaceUsers } from './edit-team';
import { requireTeamsHeld, requireTeamsWithin } from './grantable-teams';
import { emptyTeam } from './leave-teams';

const team = noun({
  schema: 'AccessControlList',
  singular: 'access_control_list',
  plural: 'access_control_lists',
  search: ['name', 'external_record_id'],
  computed: {
    users_emails: `ARRAY(
      SELECT u.email
      FROM access_control_list_users a
      JOIN users u ON u.company_id = a.company_id AND u.id = a.user_id
      WHERE a.company_id = t.company_id AND a.access_control_list_id = t.id
      ORDER BY 1
    )`,
    user_ids: selectIds('access_control_list_users', 'access_control_list_id', 'user_id'),
    offer_ids: selectIds('access_control_list_offers', 'access_control_list_id', 'offer_id'),
    permissions: `coalesce(t.permissions, '{}')`,
    superuser: `coalesce(t.superuser, false)`,
    all_offers: `coalesce(t.all_offers, true)`,
  },
  parts: {
    buyer_group_ids: {
      pairs: 'access_control_list_buyer_groups',
      column: 'buyer_group_id',
      locked: 'before',
    },
    buyer_ids: { pairs: 'access_control_list_buyers', column: 'buyer_id', locked: 'before' },
    traffic_source_ids: {
      pairs: 'access_control_list_traffic_sources',
      column: 'traffic_source_id',
      locked: 'before',
    },
  },
});

export const accessControlLists = (deps: Deps) => {
  const { queue, authenticator, config } = deps;
  return team.handlers(deps, {
    unsaved: {},

    lock: async ({ tx, fields, caller }) => {
      requireWithin(caller, fields);
      const { offer_ids: offers } = fields;
      return offers === undefined
        ? undefined
        : resolveReferences(tx, 'offers', offers ?? [], { field: 'offer_ids' });
    },

    columns: async ({ tx, id, fields: { permissions }, caller }) => {
      if (id !== undefined) await requireTeamsWithin(tx, caller, [id]);
      const unique = [...new Set(permissions ?? [])].toSorted();
      return permissions === undefined ? {} : { permissions: unique };
    },

    save: async ({ tx, id, fields, locked: offers, now }) => {
      if (offers) await replaceOffers(tx, id, offers, fields.all_offers);
      const { users_emails: emails } = fields;
      if (emails !== undefined)
        await replaceUsers(tx, id, emails ?? [], { queue, config, now, field: 'users_emails' });
      tx.afterCommit(authenticator.forgetRights);
    },

    deletion: {
      detach: async ({ tx, id, caller }) => {
        await requireTeamsHeld(tx, caller, [id]);
        await emptyTeam(tx, id);
        tx.afterCommit(authenticator.forgetRights);
      },
    },
  });
};
