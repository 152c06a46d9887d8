import { replaceAttached } from '../../data/attachments';
import { resolveReferences, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import type { Authenticator } from '../../api/auth/authenticator';
import type { Caller } from '../../api/auth/caller';
import { requireTeamsHeld, requireTeamsWithin } from './grantable-teams';

interface Context {
  caller: Caller;
  authenticator: Authenticator;
}

/** Replaces the teams that are granted a locked traffic source. */
export async function grantTrafficSource(
  db: Db,
  trafficSourceId: bigint,
  teamIds: readonly Reference[],
  { caller, authenticator }: Context,
): Promise<void> {
  const field = 'team_ids';
  if (caller.teams)
    throw HttpProblem.field(
      field,
      'beyond_your_rights',
      'is for superusers and key pairs of the company: your teams are granted single records',
    );
  const teams = await resolveReferences(db, 'access_control_lists', teamIds, {
    field,
    lock: 'UPDATE',
  });
  await requireTeamsWithin(db, caller, teams);
  const before = await db.prisma.accessControlListTrafficSource.findMany({
    where: { traffic_source_id: trafficSourceId },
  });
  const lost = before
    .map(({ access_control_list_id: id }) => id)
    .filter((id) => !teams.includes(id));
  await requireTeamsHeld(db, caller, lost);
  await replaceAttached(
    db,
    'access_control_list_traffic_sources',
    { traffic_source_id: trafficSourceId },
    { access_control_list_id: teams },
  );
  db.afterCommit(() => authenticator.forgetRights());
}
