import { commonColumns, type Projection, type SortKey } from '../db/projection';
import { lockRecord } from '../db/records';
import type { Deps } from '../deps';
import { requireWithin, type Caller } from '../http/auth/caller';
import type { Handlers } from '../http/handlers';
import { page } from '../http/list';
import { requireUnchanged, show, unsaved, written } from '../http/record';
import { HttpProblem } from '../errors';
import { requireTokenWithin } from './grantable-teams';
import { issueCredentials, revokeCredentials } from './issue-credentials';

export const projection = {
  schema: 'AccessToken',
  singular: 'access_token',
  plural: 'access_tokens',
  joins: { u: 'LEFT JOIN users u ON u.company_id = t.company_id AND u.id = t.user_id' },
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.public_key, ''))`,
  columns: {
    ...commonColumns('access_tokens'),
    // Credentials are made and revoked, never changed.
    routes_edit_path: 'NULL::text',
    type: `'AccessToken'`,
    name: true,
    kind: true,
    public_key: true,
    permissions: `coalesce(t.permissions, '{}')`,
    superuser: `coalesce(t.superuser, false)`,
    user_id: true,
    user_email: 'u.email',
    expires_at: true,
  },
} as const satisfies Projection<'AccessToken', 'access_token', 'access_tokens'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
};

/** The company's credentials. */
export const accessTokens = ({ clock, pepper, authenticator }: Deps) =>
  ({
    listAccessTokens: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),

    newAccessToken: ({ db }) =>
      unsaved({ db, now: clock(), projection }, { permissions: [], superuser: false }),

    showAccessToken: ({ params, db, if_none_match }) =>
      show({ db, now: clock(), projection, if_none_match }, params.id),

    createAccessToken: async ({ body, db, caller }) => {
      const now = clock();
      const { name, kind, permissions = [], superuser = false, user_email, expires_at } = body;
      requireWithin(caller, { permissions, superuser });
      if (user_email !== undefined)
        await requireTokenWithin(db, caller, { email: user_email, permissions });
      requireUser(kind, user_email);
      requireOwn(caller, { kind, user_email });
      const wanted = {
        name,
        kind,
        permissions,
        superuser,
        user_email,
        expires_at: expires_at ? new Date(expires_at) : null,
      };
      const { id, private_key, token } = await db.transaction((tx) =>
        issueCredentials(tx, wanted, { pepper, now }),
      );
      return written({ db, now, projection }, id, {
        status: 201,
        extra: private_key ? { private_key } : { token },
      });
    },

    revokeAccessToken: async ({ params, db, if_match }) => {
      const now = clock();
      const { id, public_key } = await db.transaction(async (tx) => {
        const row = await lockRecord(tx, 'access_tokens', params.id, ['public_key']);
        await requireUnchanged({ db: tx, now, projection, if_match }, params.id);
        await revokeCredentials(tx, row.id, now);
        return row;
      });
      db.afterCommit(() => authenticator.forget(public_key));
      return written({ db, now, projection }, id);
    },
  }) satisfies Partial<Handlers>;

function requireUser(kind: string, user_email: string | undefined): void {
  if (kind === 'user_token' && user_email === undefined)
    throw HttpProblem.field('user_email', 'must be given for a user token');
  if (kind === 'key_pair' && user_email !== undefined)
    throw HttpProblem.field(
      'user_email',
      'must be left out for a key pair, which belongs to the company',
    );
}

/** A caller who is limited to the records of teams gets no further by credentials that are not. */
function requireOwn(
  { teams, user_email: own }: Caller,
  { kind, user_email }: { kind: string; user_email: string | undefined },
): void {
  if (!teams) return;
  if (kind !== 'user_token')
    throw HttpProblem.field(
      'kind',
      'must be user_token: your teams are granted single records, and a key pair sees all of the company',
    );
  if (user_email?.toLowerCase() !== own)
    throw HttpProblem.field('user_email', `must be your own, ${own}`);
}
