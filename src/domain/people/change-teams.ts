import { replaceAttached } from '../../data/attachments';
import { resolveReferences, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { type Authenticator } from '../../api/auth/authenticator';
import type { Caller } from '../../api/auth/caller';
import {
  GENERATED_PERMISSIONS,
  lockOrCreateTeam,
  grantOffer,
  replaceOffers,
  replaceUsers,
  revokeOffer,
  type TeamContext,
  type TeamRecord,
} from './edit-team';
import { requireTeamsHeld, requireTeamsWithin } from './grantable-teams';
import { requireWithin } from '../../api/auth/caller';

export interface TeamFields {
  generate_team?: boolean;
  team_users_emails?: string[] | null;
  team_offer_ids?: Reference[] | null;
  team_ids?: Reference[] | null;
  grant_team_offer_id?: Reference | null;
  revoke_team_offer_id?: Reference | null;
}

/** The changes that a request makes, with the ids of its offers, which are locked. */
export interface TeamChanges extends Pick<
  TeamFields,
  'generate_team' | 'team_users_emails' | 'team_ids'
> {
  offers: bigint[] | undefined;
  grantedOffer: bigint | undefined;
  revokedOffer: bigint | undefined;
}

const GRANTING_FIELDS = ['generate_team', 'team_users_emails'] as const;
const FIELDS = [
  'generate_team',
  'team_users_emails',
  'team_offer_ids',
  'team_ids',
  'grant_team_offer_id',
  'revoke_team_offer_id',
] as const;

/**
 * Resolves the changes of teams in a request; undefined when there are none. Call it before the
 * buyer or the group is locked, since offers are locked first. Throws a 422 problem for rights that
 * the caller may not grant and for unknown offers.
 */
export async function resolveTeamChanges(
  db: Db,
  kind: TeamRecord['kind'],
  { fields, caller }: { fields: TeamFields; caller: Caller },
): Promise<TeamChanges | undefined> {
  const firstField = FIELDS.find((name) => fields[name] !== undefined && fields[name] !== false);
  if (firstField === undefined) return undefined;
  if (caller.teams)
    throw HttpProblem.field(
      firstField,
      'beyond_your_rights',
      'is for superusers and key pairs of the company: your teams are granted single records',
    );
  if (GRANTING_FIELDS.some((name) => fields[name] !== undefined))
    requireWithin(caller, { permissions: GENERATED_PERMISSIONS[kind] });
  const offerNamed = async (field: 'grant_team_offer_id' | 'revoke_team_offer_id') => {
    const reference = fields[field];
    return reference === undefined || reference === null || reference === ''
      ? undefined
      : (await resolveReferences(db, 'offers', [reference], { field }))[0];
  };
  return {
    generate_team: fields.generate_team,
    team_users_emails: fields.team_users_emails,
    team_ids: fields.team_ids,
    offers:
      fields.team_offer_ids === undefined
        ? undefined
        : await resolveReferences(db, 'offers', fields.team_offer_ids ?? [], {
            field: 'team_offer_ids',
          }),
    grantedOffer: await offerNamed('grant_team_offer_id'),
    revokedOffer: await offerNamed('revoke_team_offer_id'),
  };
}

interface Context extends TeamContext {
  caller: Caller;
  authenticator: Authenticator;
}

/** Changes the teams of a locked buyer or group. */
export async function changeTeams(
  db: Db,
  record: TeamRecord,
  changes: TeamChanges | undefined,
  context: Context,
): Promise<void> {
  if (!changes) return;
  const { generate_team, team_users_emails, team_ids, offers, grantedOffer, revokedOffer } =
    changes;
  if (team_ids !== undefined) {
    const teams = await resolveReferences(db, 'access_control_lists', team_ids ?? [], {
      field: 'team_ids',
      lock: 'UPDATE',
    });
    await requireTeamsWithin(db, context.caller, teams);
    const before =
      record.kind === 'traffic_source'
        ? await db.prisma.accessControlListTrafficSource.findMany({
            where: { traffic_source_id: record.id },
            select: { access_control_list_id: true },
          })
        : await db.prisma.accessControlListBuyerGroup.findMany({
            where: { buyer_group_id: record.id },
            select: { access_control_list_id: true },
          });
    const lost = before
      .map(({ access_control_list_id: id }) => id)
      .filter((id) => !teams.includes(id));
    await requireTeamsHeld(db, context.caller, lost);
    await replaceAttached(
      db,
      `access_control_list_${record.kind}s`,
      { [`${record.kind}_id`]: record.id },
      { access_control_list_id: teams },
    );
  }
  const makes = generate_team || team_users_emails?.length || offers?.length;
  const team =
    makes || team_users_emails !== undefined || offers !== undefined
      ? await lockOrCreateTeam(db, record, { now: context.now, onlyExisting: !makes })
      : undefined;
  if (team !== undefined) {
    await requireTeamsWithin(db, context.caller, [team]);
    if (offers !== undefined) await replaceOffers(db, team, offers);
    if (team_users_emails !== undefined)
      await replaceUsers(db, team, team_users_emails ?? [], {
        ...context,
        field: 'team_users_emails',
      });
  }
  if (grantedOffer !== undefined) await grantOffer(db, record.id, grantedOffer);
  if (revokedOffer !== undefined) await revokeOffer(db, record.id, revokedOffer);
  db.afterCommit(context.authenticator.forgetRights);
}
