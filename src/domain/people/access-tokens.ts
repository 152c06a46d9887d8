import { deletedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { Caller } from '../../api/auth/caller';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { projection } from './access-token-columns';
import { requireTokenHeld, requireTokenWithin } from './grantable-teams';
import { createCredentials } from './issue-credentials';
import { requireWithin } from '../../api/auth/caller';
import { type SortKey } from '../../data/projection/list-statements';

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
};

/**
 * The company's credentials: key pairs of the company and tokens of its users. The secret is shown
 * once, in the response that creates them.
 */
export const accessTokens = ({ clock, pepper, authenticator }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listAccessTokens: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newAccessToken: (call) =>
      records.showUnsaved({ ...call, query: {} }, { permissions: [], superuser: false }),
    showAccessToken: records.show,

    createAccessToken: async (call) => {
      const { kind, permissions = [], superuser = false, user_email } = call.body;
      requireWithin(call.caller, { permissions, superuser });
      requireUser(kind, user_email);
      requireOwnToken(call.caller, { kind, user_email });
      requireLimitedPermissions(call.caller, { kind, permissions });
      if (user_email !== undefined)
        await requireTokenWithin(call.db, call.caller, { email: user_email, permissions });
      let secret: { private_key?: string; token?: string } = {};
      return records.create(
        { ...call, query: {} },
        async (tx, { name, expires_at }, now) => {
          const expires = expires_at ? new Date(expires_at) : null;
          const { id, private_key, token } = await createCredentials(
            tx,
            { name, kind, permissions, superuser, user_email, expires_at: expires },
            { pepper, now },
          );
          secret = private_key ? { private_key } : { token };
          return id;
        },
        () => secret,
      );
    },

    revokeAccessToken: (call) =>
      records.delete({ ...call, query: {} }, async (tx, id, now) => {
        await requireTokenHeld(tx, call.caller, id);
        const { public_key } = await tx.prisma.accessToken.update({
          where: { company_id_id: { company_id: tx.company_id, id } },
          data: deletedAt(now),
          select: { public_key: true },
        });
        tx.afterCommit(() => authenticator.forget(public_key));
      }),
  } satisfies Partial<Handlers>;
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
