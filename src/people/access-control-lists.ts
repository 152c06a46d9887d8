import type { Schemas } from '../contract';
import { replaceAttached } from '../db/attachments';
import { commonColumns, type Projection, type SortKey } from '../db/projection';
import { resolveReferences } from '../db/records';
import { emptyTeam, replaceOffers, replaceUsers } from './queries/teams';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import { requireWithin } from '../http/auth/caller';
import type { Handlers } from '../http/handlers';
import { page } from '../http/list';
import { recordHandlers } from '../http/record-handlers';
import { requireTeamsWithin } from './grantable-teams';

type Fields = Schemas['AccessControlListFields'];

const attached = (kind: 'user' | 'buyer' | 'buyer_group' | 'offer') =>
  `ARRAY(SELECT a.${kind}_id FROM access_control_list_${kind}s a WHERE a.company_id = t.company_id AND a.access_control_list_id = t.id ORDER BY 1)`;

export const projection = {
  schema: 'AccessControlList',
  singular: 'access_control_list',
  plural: 'access_control_lists',
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('access_control_lists'),
    type: `'AccessControlList'`,
    name: true,
    users_emails: `ARRAY(SELECT u.email FROM access_control_list_users a JOIN users u ON u.company_id = a.company_id AND u.id = a.user_id
      WHERE a.company_id = t.company_id AND a.access_control_list_id = t.id ORDER BY 1)`,
    user_ids: attached('user'),
    permissions: `coalesce(t.permissions, '{}')`,
    superuser: `coalesce(t.superuser, false)`,
    buyer_ids: attached('buyer'),
    buyer_group_ids: attached('buyer_group'),
    offer_ids: attached('offer'),
    all_offers: `coalesce(t.all_offers, true)`,
    generated_for_buyer_id: true,
    generated_for_buyer_group_id: true,
  },
} as const satisfies Projection<'AccessControlList', 'access_control_list', 'access_control_lists'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  updated_at: { sql: 't.updated_at', type: 'timestamptz' },
};

interface Granted {
  offers: bigint[] | undefined;
  groups: bigint[] | undefined;
  buyers: bigint[] | undefined;
}

/** The records that a request grants, locked before the team is. */
async function grantedBy(db: Db, fields: Fields): Promise<Granted> {
  const find = async (
    table: 'offers' | 'buyer_groups' | 'buyers',
    field: 'offer_ids' | 'buyer_group_ids' | 'buyer_ids',
  ) =>
    fields[field] === undefined
      ? undefined
      : resolveReferences(db, table, fields[field] ?? [], { field });
  return {
    offers: await find('offers', 'offer_ids'),
    groups: await find('buyer_groups', 'buyer_group_ids'),
    buyers: await find('buyers', 'buyer_ids'),
  };
}

/** Teams: what their users may do, and with which records. */
export const accessControlLists = ({ clock, queue, authenticator }: Deps) => {
  const records = recordHandlers(projection, clock);
  const where = (db: Db, id: bigint) => ({ company_id_id: { company_id: db.company_id, id } });

  const writeParts = async (
    db: Db,
    id: bigint,
    { fields, granted, now }: { fields: Fields; granted: Granted; now: Date },
  ) => {
    const { offers, groups, buyers } = granted;
    const team = { access_control_list_id: id };
    if (groups)
      await replaceAttached(db, 'access_control_list_buyer_groups', team, {
        buyer_group_id: groups,
      });
    if (buyers) await replaceAttached(db, 'access_control_list_buyers', team, { buyer_id: buyers });
    if (offers) await replaceOffers(db, id, offers, fields.all_offers);
    if (fields.users_emails !== undefined)
      await replaceUsers(db, id, fields.users_emails ?? [], { queue, now });
    db.afterCommit(() => authenticator.forgetRights());
  };

  return {
    listAccessControlLists: ({ query, db }) =>
      page(query, { db, now: clock(), projection, orders }),
    newAccessControlList: (call) => records.unsaved({ ...call, query: {} }, {}),
    showAccessControlList: (call) => records.show({ ...call, query: {} }),

    createAccessControlList: async (call) => {
      requireWithin(call.caller, call.body);
      return records.create({ ...call, query: {} }, async (tx, fields, now) => {
        const granted = await grantedBy(tx, fields);
        const data = {
          ...columnsOf(fields),
          name: fields.name!,
          company_id: tx.company_id,
          user_updated_at: now,
          created_at: now,
          updated_at: now,
        };
        const { id } = await tx.prisma.accessControlList.create({ data, select: { id: true } });
        await writeParts(tx, id, { fields, granted, now });
        return id;
      });
    },

    updateAccessControlList: async (call) => {
      requireWithin(call.caller, call.body);
      return records.updateAfter(
        { ...call, query: {} },
        grantedBy,
        async (tx, id, { fields, now, ahead: granted }) => {
          await requireTeamsWithin(tx, call.caller, [id]);
          const data = { ...columnsOf(fields), user_updated_at: now, updated_at: now };
          await tx.prisma.accessControlList.update({
            where: where(tx, id),
            data,
            select: { id: true },
          });
          await writeParts(tx, id, { fields, granted, now });
        },
      );
    },

    deleteAccessControlList: async (call) => {
      return records.delete({ ...call, query: {} }, async (tx, id, now) => {
        await emptyTeam(tx, id);
        await tx.prisma.accessControlList.update({
          where: where(tx, id),
          data: { deleted_at: now, updated_at: now, user_updated_at: now },
          select: { id: true },
        });
        tx.afterCommit(() => authenticator.forgetRights());
      });
    },
  } satisfies Partial<Handlers>;
};

/** The columns of the team's row among the fields. */
function columnsOf({ name, permissions, superuser, all_offers, external_record_id }: Fields) {
  return {
    name,
    permissions: permissions === undefined ? undefined : [...new Set(permissions ?? [])].toSorted(),
    superuser,
    all_offers,
    external_record_id,
  };
}
