import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import { requireWithin, type Caller } from '../../api/auth/caller';
import { accessToken } from './access-token';
import { requireTokenHeld, requireTokenWithin } from './grantable-teams';
import { createCredentials } from './issue-credentials';

/**
 * The company's credentials: key pairs of the company and tokens of its users. The secret is shown
 * once, in the response that creates them.
 */
export const accessTokens = (deps: Deps) => {
  const { pepper, authenticator } = deps;
  return accessToken.handlers(deps, {
    reads: ['public_key'],
    unsaved: { permissions: [], superuser: false },

    insert: async ({ tx, fields, caller, now, extra }) => {
      const { name, kind, permissions = [], superuser = false, user_email, expires_at } = fields;
      requireWithin(caller, { permissions, superuser });
      requireUser(kind, user_email);
      requireOwnToken(caller, { kind, user_email });
      requireLimitedPermissions(caller, { kind, permissions });
      if (user_email !== undefined)
        await requireTokenWithin(tx, caller, { email: user_email, permissions });
      const expires = expires_at ? new Date(expires_at) : null;
      const { id, private_key, token } = await createCredentials(
        tx,
        { name, kind, permissions, superuser, user_email, expires_at: expires },
        { pepper, now },
      );
      Object.assign(extra, private_key ? { private_key } : { token });
      return id;
    },

    deletion: {
      detach: async ({ tx, id, caller, before: { public_key } }) => {
        await requireTokenHeld(tx, caller, id);
        tx.afterCommit(() => authenticator.forget(public_key));
      },
    },
  });
};

function requireUser(kind: string, userEmail: string | undefined): void {
  if (kind === 'user_token' && userEmail === undefined)
    throw HttpProblem.field('user_email', 'missing_field', 'must be given for a user token');
  if (kind === 'key_pair' && userEmail !== undefined)
    throw HttpProblem.field(
      'user_email',
      'conflicting_fields',
      'must be left out for a key pair, which belongs to the company',
    );
}

/**
 * Only a superuser creates a token for another person: people get theirs by an invitation, and a
 * token gains the rights of teams that its user joins later. Callers whose teams are limited to
 * single records create no key pair either, which could see more than they do.
 */
function requireOwnToken(
  { superuser, teams, user_email: ownEmail }: Caller,
  { kind, user_email }: { kind: string; user_email: string | undefined },
): void {
  if (superuser) return;
  if (kind !== 'user_token' && !teams) return;
  if (kind !== 'user_token')
    throw HttpProblem.field(
      'kind',
      'beyond_your_rights',
      'must be user_token: your teams are granted single records, and a key pair sees all of the ' +
        'company',
    );
  if (user_email?.toLowerCase() !== ownEmail)
    throw HttpProblem.field(
      'user_email',
      'beyond_your_rights',
      ownEmail === null
        ? 'must not be given: people get their tokens by an invitation (POST /users/:id/invite)'
        : `must be your own, ${ownEmail}: others get their tokens by an invitation`,
    );
}

/** A token with fewer rights than its user must not make one that has all of them. */
function requireLimitedPermissions(
  { superuser, is_narrowed }: Caller,
  { kind, permissions }: { kind: string; permissions: readonly string[] },
): void {
  if (superuser || !is_narrowed || kind !== 'user_token' || permissions.length > 0) return;
  throw HttpProblem.field(
    'permissions',
    'beyond_your_rights',
    'must be given: your own token has permissions of its own',
  );
}
