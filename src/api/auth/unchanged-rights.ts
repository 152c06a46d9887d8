import type { Sql } from '../../data/sql';
import { FIND_CURRENT_RIGHTS } from './queries/credentials';
import { buildRights, type Caller } from './caller';

type Rights = Pick<Caller, 'superuser' | 'permissions' | 'teams'>;

/** Equal texts for equal rights. */
const formatRights = ({ superuser, permissions, teams }: Rights): string =>
  JSON.stringify([
    superuser,
    [...permissions].sort(),
    teams?.map((team) => [team.id, [...team.permissions].sort()]).sort(),
  ]);

/**
 * The callers of long requests whose credentials are still valid, with exactly the rights that they
 * had when the request began.
 */
export async function unchangedRights<C extends Caller>(
  sql: Sql,
  callers: readonly C[],
  now: Date,
): Promise<Set<C>> {
  const rows = await sql(FIND_CURRENT_RIGHTS, {
    company_ids: callers.map(({ company_id }) => String(company_id)),
    access_token_ids: callers.map(({ access_token_id }) => String(access_token_id)),
    now: now.toISOString(),
  });
  const unchanged = rows.filter(({ n, ...row }) => {
    return formatRights(buildRights(row)) === formatRights(callers[n - 1]!);
  });
  return new Set(unchanged.map(({ n }) => callers[n - 1]!));
}
