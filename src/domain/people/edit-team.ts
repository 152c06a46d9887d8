import { replaceAttached } from '../../data/attachments';
import { moveCount } from '../../data/counts/counters';
import type { Db } from '../../data/db';
import { createdAt } from '../../data/timestamps';
import { findOrCreateUsers } from './find-or-create-users';
import { REINVITE_MINUTES, inviteUsers, type InviteContext } from './invite-users';
import {
  LOCK_GENERATED_TEAM_OF_GROUP,
  LOCK_TEAM_OF_BUYER,
  LOCK_TEAM_OF_SOURCE,
  LOCK_TEAMS_OF_GROUP,
  SET_ALL_OFFERS,
} from './queries/teams';

export type TeamContext = InviteContext;

const MINUTE_MS = 60_000;

/**
 * Replaces the users of a locked team by those with these e-mail addresses. Users who are new to
 * the team, and have neither an access token nor signed in, are invited, unless they were just
 * invited: that invitation includes this team.
 */
export async function replaceUsers(
  db: Db,
  teamId: bigint,
  addresses: readonly string[],
  context: TeamContext & { field: string },
): Promise<void> {
  const { now } = context;
  const userIds = await findOrCreateUsers(db, addresses, now);
  const justBefore = new Date(now.getTime() - REINVITE_MINUTES * MINUTE_MS);
  const uninvited = await db.prisma.user.findMany({
    where: {
      id: { in: userIds },
      NOT: { invitation_open: true, invited_at: { gt: justBefore } },
      access_tokens: { none: { deleted_at: null } },
      logins: { none: {} },
      teams: { none: { access_control_list_id: teamId } },
    },
    select: { id: true },
  });
  await replaceAttached(
    db,
    'access_control_list_users',
    { access_control_list_id: teamId },
    { user_id: userIds },
  );
  const ids = uninvited.map(({ id }) => id);
  await inviteUsers(db, ids, context);
}

/**
 * Grants a team exactly these offers. The team sees the calls of its buyers at those offers only;
 * at all offers when there are none.
 */
export async function replaceOffers(
  db: Db,
  teamId: bigint,
  offers: readonly bigint[],
  allOffers = offers.length === 0,
): Promise<void> {
  await replaceAttached(
    db,
    'access_control_list_offers',
    { access_control_list_id: teamId },
    { offer_id: offers },
  );
  await db.sql(SET_ALL_OFFERS, { team_ids: [teamId], all_offers: allOffers });
}

/** Grants the teams of a locked buyer group an offer. */
export async function grantOffer(db: Db, buyerGroupId: bigint, offerId: bigint): Promise<void> {
  const teamIds = await lockTeamsOfGroup(db, buyerGroupId);
  await db.prisma.accessControlListOffer.createMany({
    data: teamIds.map((id) => ({
      company_id: db.company_id,
      access_control_list_id: BigInt(id),
      offer_id: offerId,
    })),
    skipDuplicates: true,
  });
  await db.sql(SET_ALL_OFFERS, { team_ids: teamIds, all_offers: false });
}

/** Revokes an offer from the teams of a locked buyer group. */
export async function revokeOffer(db: Db, buyerGroupId: bigint, offerId: bigint): Promise<void> {
  const teamIds = await lockTeamsOfGroup(db, buyerGroupId);
  await db.prisma.accessControlListOffer.deleteMany({
    where: { offer_id: offerId, access_control_list_id: { in: teamIds.map(BigInt) } },
  });
}

async function lockTeamsOfGroup(db: Db, buyerGroupId: bigint): Promise<string[]> {
  return (await db.sql(LOCK_TEAMS_OF_GROUP, { buyer_group_id: buyerGroupId })).map(({ id }) => id);
}

export interface TeamRecord {
  kind: 'buyer' | 'buyer_group' | 'traffic_source';
  id: bigint;
}

const LOCK_TEAM = {
  buyer: LOCK_TEAM_OF_BUYER,
  buyer_group: LOCK_GENERATED_TEAM_OF_GROUP,
  traffic_source: LOCK_TEAM_OF_SOURCE,
};

export const GENERATED_PERMISSIONS: Record<TeamRecord['kind'], string[]> = {
  buyer: ['buyers:read', 'buyers:update', 'calls:read', 'calls:update'],
  buyer_group: [
    'buyer_groups:read',
    'buyer_groups:update',
    'buyers:read',
    'buyers:update',
    'calls:read',
    'calls:update',
  ],
  traffic_source: ['traffic_sources:read', 'calls:read', 'leads:read'],
};

/**
 * Returns the id of the team of a locked record, and locks it. A missing team is created, unless
 * `onlyExisting`: blank fields create no team.
 */
export async function lockOrCreateTeam(
  db: Db,
  record: TeamRecord,
  { now, onlyExisting }: { now: Date; onlyExisting: boolean },
): Promise<bigint | undefined> {
  const { kind, id } = record;
  const [existingTeam] = await db.sql(LOCK_TEAM[kind], { id });
  if (existingTeam) return BigInt(existingTeam.id);
  if (onlyExisting) return undefined;
  const team = await db.prisma.accessControlList.create({
    data: {
      company_id: db.company_id,
      name: await loadTeamName(db, record),
      permissions: GENERATED_PERMISSIONS[kind],
      [`generated_for_${kind}_id`]: id,
      ...createdAt(now),
    },
    select: { id: true },
  });
  await moveCount(db, 'access_control_lists', 1);
  await replaceAttached(
    db,
    `access_control_list_${kind}s`,
    { access_control_list_id: team.id },
    { [`${kind}_id`]: [id] },
  );
  return team.id;
}

async function loadTeamName(db: Db, { kind, id }: TeamRecord): Promise<string> {
  const query = { where: { id }, select: { name: true } };
  if (kind === 'buyer') {
    const buyer = await db.prisma.buyer.findFirst(query);
    return `${buyer?.name || `Buyer ${id}`} team`;
  }
  if (kind === 'traffic_source')
    return `${(await db.prisma.trafficSource.findFirst(query))!.name} team`;
  const group = await db.prisma.buyerGroup.findFirst(query);
  return `${group?.name || `Group ${id}`} team`;
}
