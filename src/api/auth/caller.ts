import type { Operation } from '../../platform/contract/contract';
import type { Team } from '../../data/access/scope';
import { HttpProblem } from '../../platform/errors';
import type { CredentialsKind } from './credentials';
import type { TeamRow } from './queries/credentials';

export interface Caller {
  company_id: bigint;
  company_name: string;
  /** 0 for a caller without credentials of the company. */
  access_token_id: bigint;
  kind: CredentialsKind;
  name: string;
  public_key: string;
  /**
   * Owner of idempotency keys: a key pair, or a user with the token's own rights, so that a user
   * keeps the keys with another token; blank for a caller without credentials.
   */
  credentials: string;
  user_id: bigint | null;
  user_email: string | null;
  superuser: boolean;
  /** For a user, everything that the teams allow together. */
  permissions: ReadonlySet<string>;
  /** True for a user's token with permissions of its own, which it does not exceed. */
  is_narrowed?: boolean;
  /** The teams that limit the records of a user; absent for a caller who sees all records. */
  teams?: readonly Team[] | undefined;
}

/** A caller without credentials of the company: allowed only what needs no permission. */
export const anonymousCaller = (companyId: bigint, companyName = ''): Caller => ({
  company_id: companyId,
  company_name: companyName,
  access_token_id: 0n,
  kind: 'key_pair',
  name: '',
  public_key: '',
  credentials: '',
  user_id: null,
  user_email: null,
  superuser: false,
  permissions: new Set(),
});

interface StoredRights {
  kind: Caller['kind'];
  superuser: boolean;
  permissions: string[];
  teams: TeamRow[] | null;
}

/**
 * A key pair has the permissions it names. A user's token has those of the user's teams, narrowed
 * by its own if it has any; the token of a superuser has all. A session has none of its own.
 */
export function buildRights({
  kind,
  superuser,
  permissions,
  teams,
}: StoredRights): Pick<Caller, 'superuser' | 'permissions' | 'teams' | 'is_narrowed'> {
  const ownPermissions = new Set(permissions);
  if (kind === 'key_pair' || superuser)
    return { superuser, permissions: ownPermissions, teams: undefined };
  if (teams?.some((team) => team.superuser))
    return {
      superuser: ownPermissions.size === 0,
      permissions: ownPermissions,
      teams: undefined,
      is_narrowed: ownPermissions.size > 0,
    };
  const narrowed = (teams ?? []).map((team) => ({
    id: team.id,
    permissions: new Set(
      team.permissions.filter(
        (permission) => ownPermissions.size === 0 || ownPermissions.has(permission),
      ),
    ),
  }));
  return {
    superuser: false,
    permissions: new Set(narrowed.flatMap((team) => [...team.permissions])),
    teams: narrowed,
    is_narrowed: ownPermissions.size > 0,
  };
}

/** A limited caller has the permission on some records at least. */
export const isPermitted = (
  { superuser, permissions }: Pick<Caller, 'superuser' | 'permissions'>,
  permission: string,
): boolean => superuser || permissions.has(permission);

/** Permission that limited callers need to change data of the whole company, or shared records. */
export const COMPANY_WIDE = 'company_wide:update';

/**
 * Throws 403 for a caller without the operation's permission, or who is limited to some records
 * where the operation needs all records of the company, or changes what is the whole company's.
 */
export function authorize(
  caller: Caller,
  {
    scope,
    unlimited,
    company_wide,
    credentials,
  }: Pick<Operation, 'scope' | 'unlimited' | 'company_wide' | 'credentials'>,
): void {
  if (credentials !== 'account') return;
  const { teams } = caller;
  if (scope && !isPermitted(caller, scope))
    throw new HttpProblem('not_permitted', `These credentials lack the permission ${scope}.`);
  if (unlimited && teams)
    throw new HttpProblem(
      'access_limited',
      'Only superusers and key pairs of the company may do this:' +
        ' your access is limited to the records of your teams.',
    );
  if (company_wide && teams && !isPermitted(caller, COMPANY_WIDE))
    throw new HttpProblem(
      'not_permitted',
      `These credentials lack the permission ${COMPANY_WIDE}: what you would change belongs to` +
        ' the whole company, and your access is limited to the records of your teams.',
    );
}

/** Throws 422 if a caller is about to give others more rights than the caller has. */
export function requireWithin(
  caller: Caller,
  { permissions, superuser }: { permissions?: readonly string[] | null; superuser?: boolean },
): void {
  if (caller.superuser) return;
  if (superuser)
    throw HttpProblem.field(
      'superuser',
      'beyond_your_rights',
      'must be false: your own credentials are not those of a superuser',
    );
  const beyond = (permissions ?? []).filter((permission) => !caller.permissions.has(permission));
  if (beyond.length > 0)
    throw HttpProblem.field(
      'permissions',
      'beyond_your_rights',
      `must be among your own; you lack ${beyond.join(', ')}`,
    );
}

/** Throws 403 if a caller is about to take away rights that the caller does not have. */
export function requireHolding(
  caller: Caller,
  { permissions, superuser }: { permissions: readonly string[]; superuser: boolean },
): void {
  if (caller.superuser) return;
  const lacked = permissions.filter((permission) => !caller.permissions.has(permission));
  const what = superuser ? 'the rights of a superuser' : lacked.slice(0, MAX_NAMED).join(', ');
  if (what)
    throw new HttpProblem(
      'not_permitted',
      `These credentials lack ${what}: only those who have the same rights may take them from` +
        ' others.',
    );
}

const MAX_NAMED = 10;
