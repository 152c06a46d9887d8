import type { Schemas } from '../../platform/contract/contract';
import { replaceAttached } from '../../data/attachments';
import { resolveReferences } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt, createdAt } from '../../data/timestamps';
import type { Authenticator } from '../../api/auth/authenticator';
import type { Caller } from '../../api/auth/caller';
import { replaceOffers, replaceUsers, type TeamContext } from './edit-team';
import { requireTeamsWithin } from './grantable-teams';

type Fields = Schemas['AccessControlListFields'];

interface Context extends TeamContext {
  authenticator: Authenticator;
}

/** The ids of the records that a request grants; undefined where they stay as they are. */
export interface Grants {
  offers: bigint[] | undefined;
  groups: bigint[] | undefined;
  buyers: bigint[] | undefined;
  sources: bigint[] | undefined;
}

/** Finds and locks the records that a request grants; the team is locked after them. */
export async function resolveGrants(db: Db, fields: Fields): Promise<Grants> {
  const find = async (
    table: 'offers' | 'buyer_groups' | 'buyers' | 'traffic_sources',
    field: 'offer_ids' | 'buyer_group_ids' | 'buyer_ids' | 'traffic_source_ids',
  ) =>
    fields[field] === undefined
      ? undefined
      : resolveReferences(db, table, fields[field] ?? [], { field });
  return {
    offers: await find('offers', 'offer_ids'),
    groups: await find('buyer_groups', 'buyer_group_ids'),
    buyers: await find('buyers', 'buyer_ids'),
    sources: await find('traffic_sources', 'traffic_source_ids'),
  };
}

export async function createTeam(tx: Db, fields: Fields, context: Context): Promise<bigint> {
  const { now } = context;
  const grants = await resolveGrants(tx, fields);
  const { id } = await tx.prisma.accessControlList.create({
    data: {
      ...buildColumns(fields),
      name: fields.name!,
      company_id: tx.company_id,
      ...createdAt(now),
    },
    select: { id: true },
  });
  await writeMembers(tx, { id, fields, grants }, context);
  return id;
}

interface TeamChange {
  id: bigint;
  fields: Fields;
  grants: Grants;
}

/** Changes a locked team, of which the caller must have all rights. */
export async function updateTeam(
  tx: Db,
  change: TeamChange,
  context: Context & { caller: Caller },
): Promise<void> {
  const { caller, now } = context;
  await requireTeamsWithin(tx, caller, [change.id]);
  await tx.prisma.accessControlList.update({
    where: { company_id_id: { company_id: tx.company_id, id: change.id } },
    data: { ...buildColumns(change.fields), ...changedAt(now) },
    select: { id: true },
  });
  await writeMembers(tx, change, context);
}

async function writeMembers(
  db: Db,
  { id, fields, grants: { offers, groups, buyers, sources } }: TeamChange,
  context: Context,
): Promise<void> {
  const team = { access_control_list_id: id };
  if (groups)
    await replaceAttached(db, 'access_control_list_buyer_groups', team, { buyer_group_id: groups });
  if (buyers) await replaceAttached(db, 'access_control_list_buyers', team, { buyer_id: buyers });
  if (sources)
    await replaceAttached(db, 'access_control_list_traffic_sources', team, {
      traffic_source_id: sources,
    });
  if (offers) await replaceOffers(db, id, offers, fields.all_offers);
  if (fields.users_emails !== undefined)
    await replaceUsers(db, id, fields.users_emails ?? [], { ...context, field: 'users_emails' });
  db.afterCommit(() => context.authenticator.forgetRights());
}

function buildColumns({ name, permissions, superuser, all_offers, external_record_id }: Fields) {
  return {
    name,
    permissions: permissions === undefined ? undefined : [...new Set(permissions ?? [])].toSorted(),
    superuser,
    all_offers,
    external_record_id,
  };
}
