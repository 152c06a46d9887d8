import type { Authenticator } from '../http/auth/authenticator';
import { requireWithin, type Caller } from '../http/auth/caller';
import { requireTeamsWithin } from './grantable-teams';
import { replaceAttached } from '../db/attachments';
import { resolveReferences, type Reference } from '../db/records';
import {
  GENERATED,
  generatedTeam,
  moveOffer,
  replaceOffers,
  replaceUsers,
  type TeamContext,
  type TeamRecord,
} from './queries/teams';
import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';

/** What a request says about the teams of a buyer or a group. */
export interface TeamFields {
  generate_team?: boolean;
  team_users_emails?: string[] | null;
  team_offer_ids?: Reference[] | null;
  team_ids?: Reference[] | null;
  grant_team_offer_id?: Reference | null;
  revoke_team_offer_id?: Reference | null;
}

/** The same, its offers found and locked. */
export interface TeamChanges extends Pick<
  TeamFields,
  'generate_team' | 'team_users_emails' | 'team_ids'
> {
  offers: bigint[] | undefined;
  granted: bigint | undefined;
  revoked: bigint | undefined;
}

/** Those that give rights to somebody by the team that is generated. */
const MAKING = ['generate_team', 'team_users_emails'] as const;
const NAMES = [
  'generate_team',
  'team_users_emails',
  'team_offer_ids',
  'team_ids',
  'grant_team_offer_id',
  'revoke_team_offer_id',
] as const;

/** What is to become of teams: read before the buyer or the group is locked, since offers are locked first. Undefined when nothing is said. */
export async function teamChanges(
  db: Db,
  kind: TeamRecord['kind'],
  { fields, caller }: { fields: TeamFields; caller: Caller },
): Promise<TeamChanges | undefined> {
  const said = NAMES.find((name) => fields[name] !== undefined && fields[name] !== false);
  if (said === undefined) return undefined;
  if (caller.teams)
    throw HttpProblem.field(
      said,
      'is for superusers and key pairs of the company: your teams are granted single records',
    );
  if (MAKING.some((name) => fields[name] !== undefined))
    requireWithin(caller, { permissions: GENERATED[kind] });
  const one = async (field: 'grant_team_offer_id' | 'revoke_team_offer_id') => {
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
    granted: await one('grant_team_offer_id'),
    revoked: await one('revoke_team_offer_id'),
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
  const { generate_team, team_users_emails, team_ids, offers, granted, revoked } = changes;
  if (team_ids !== undefined) {
    const teams = await resolveReferences(db, 'access_control_lists', team_ids ?? [], {
      field: 'team_ids',
      lock: 'UPDATE',
    });
    await requireTeamsWithin(db, context.caller, teams);
    await replaceAttached(
      db,
      'access_control_list_buyer_groups',
      { buyer_group_id: record.id },
      { access_control_list_id: teams },
    );
  }
  if (generate_team || team_users_emails !== undefined || offers !== undefined) {
    const team = await generatedTeam(db, record, context.now);
    await requireTeamsWithin(db, context.caller, [team]);
    if (offers !== undefined) await replaceOffers(db, team, offers);
    if (team_users_emails !== undefined)
      await replaceUsers(db, team, team_users_emails ?? [], context);
  }
  if (granted !== undefined) await moveOffer(db, record.id, granted, 'grant');
  if (revoked !== undefined) await moveOffer(db, record.id, revoked, 'revoke');
  db.afterCommit(() => context.authenticator.forgetRights());
}
