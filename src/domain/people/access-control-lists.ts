import { commonColumns, type Projection } from '../../data/projection/projection';
import { deletedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { requireWithin } from '../../api/auth/caller';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { emptyTeam } from './leave-teams';
import { requireTeamsHeld } from './grantable-teams';
import { createTeam, resolveGrants, updateTeam } from './save-team';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';

const selectAttachedIds = (
  kind: 'user' | 'buyer' | 'buyer_group' | 'offer' | 'traffic_source',
) => `ARRAY(
  SELECT a.${kind}_id
  FROM access_control_list_${kind}s a
  WHERE a.company_id = t.company_id AND a.access_control_list_id = t.id
  ORDER BY 1
)`;

export const projection = {
  schema: 'AccessControlList',
  singular: 'access_control_list',
  plural: 'access_control_lists',
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('access_control_lists'),
    type: `'AccessControlList'`,
    name: true,
    users_emails: `ARRAY(
      SELECT u.email
      FROM access_control_list_users a
      JOIN users u ON u.company_id = a.company_id AND u.id = a.user_id
      WHERE a.company_id = t.company_id AND a.access_control_list_id = t.id
      ORDER BY 1
    )`,
    user_ids: selectAttachedIds('user'),
    permissions: `coalesce(t.permissions, '{}')`,
    superuser: `coalesce(t.superuser, false)`,
    buyer_ids: selectAttachedIds('buyer'),
    buyer_group_ids: selectAttachedIds('buyer_group'),
    offer_ids: selectAttachedIds('offer'),
    traffic_source_ids: selectAttachedIds('traffic_source'),
    all_offers: `coalesce(t.all_offers, true)`,
    generated_for_buyer_id: true,
    generated_for_buyer_group_id: true,
  },
} as const satisfies Projection<'AccessControlList', 'access_control_list', 'access_control_lists'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  ...BY_TIMES,
};

export const accessControlLists = ({ clock, queue, authenticator, config }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listAccessControlLists: ({ query, db }) =>
      page(query, { db, now: clock(), projection, orders }),
    newAccessControlList: (call) => records.showUnsaved({ ...call, query: {} }, {}),
    showAccessControlList: records.show,

    createAccessControlList: async (call) => {
      requireWithin(call.caller, call.body);
      return records.create({ ...call, query: {} }, (tx, fields, now) =>
        createTeam(tx, fields, { queue, config, authenticator, now }),
      );
    },

    updateAccessControlList: async (call) => {
      const { caller } = call;
      requireWithin(caller, call.body);
      return records.updateLockingFirst(
        { ...call, query: {} },
        resolveGrants,
        (tx, id, { fields, now, ahead: grants }) =>
          updateTeam(tx, { id, fields, grants }, { caller, queue, config, authenticator, now }),
      );
    },

    deleteAccessControlList: (call) =>
      records.delete({ ...call, query: {} }, async (tx, id, now) => {
        await requireTeamsHeld(tx, call.caller, [id]);
        await emptyTeam(tx, id);
        await tx.prisma.accessControlList.update({
          where: { company_id_id: { company_id: tx.company_id, id } },
          data: deletedAt(now),
          select: { id: true },
        });
        tx.afterCommit(() => authenticator.forgetRights());
      }),
  } satisfies Partial<Handlers>;
};
