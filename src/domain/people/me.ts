import { contract, type Schemas } from '../../platform/contract/contract';
import { loadVisibleMoney } from '../../data/access/money';
import type { VisibleMoney } from '../../data/db';
import type { Caller } from '../../api/auth/caller';
import type { Handlers } from '../../api/handlers';
import { Json } from '../../api/reply/reply';

const SCOPES = contract.document.components.schemas.Scope!.enum as Schemas['Scope'][];

const PARTS = ['revenue', 'payout'] as const;

const describeCaller = (caller: Caller, { sale, purchase }: VisibleMoney) => ({
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
    visible_money: PARTS.filter((part) => (part === 'revenue' ? sale : purchase)),
    company: { id: Number(caller.company_id), name: caller.company_name },
    user:
      caller.user_id === null ? null : { id: Number(caller.user_id), email: caller.user_email! },
  },
  metadata: { root: 'me' },
});

type Reply = Json<ReturnType<typeof describeCaller>>;

/**
 * By caller object: each look-up of credentials creates a new one. Grants of limited callers change
 * what they see without a new one.
 */
const replies = new WeakMap<Caller, Reply>();

const toReply = (caller: Caller, visible: VisibleMoney): Reply =>
  new Json(JSON.stringify(describeCaller(caller, visible)));

export const me = () =>
  ({
    showMe: async ({ caller, db }) => {
      if (caller.teams) return toReply(caller, await loadVisibleMoney(db));
      let reply = replies.get(caller);
      if (!reply) replies.set(caller, (reply = toReply(caller, { sale: true, purchase: true })));
      return reply;
    },
  }) satisfies Partial<Handlers>;
