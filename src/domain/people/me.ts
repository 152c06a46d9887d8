import { contract, type Schemas } from '../../platform/contract/contract';
import type { Caller } from '../../api/auth/caller';
import type { Handlers } from '../../api/handlers';
import { Json } from '../../api/reply/reply';

const SCOPES = contract.document.components.schemas.Scope!.enum as Schemas['Scope'][];

const describeCaller = (caller: Caller) => ({
  status: 200,
  success: true,
  errors: {},
  me: {
    kind: caller.kind,
    name: caller.name,
    public_key: caller.public_key,
    superuser: caller.superuser,
    permissions: caller.superuser
      ? SCOPES
      : SCOPES.filter((scope) => caller.permissions.has(scope)),
    team_ids: caller.teams ? caller.teams.map(({ id }) => Number(id)) : null,
    company: { id: Number(caller.company_id), name: caller.company_name },
    user:
      caller.user_id === null ? null : { id: Number(caller.user_id), email: caller.user_email! },
  },
  metadata: { root: 'me' },
});

/** By caller object: each look-up of credentials creates a new one. */
const replies = new WeakMap<Caller, Json<ReturnType<typeof describeCaller>>>();

export const me = () =>
  ({
    showMe: async ({ caller }) => {
      let reply = replies.get(caller);
      if (!reply) replies.set(caller, (reply = new Json(JSON.stringify(describeCaller(caller)))));
      return reply;
    },
  }) satisfies Partial<Handlers>;
