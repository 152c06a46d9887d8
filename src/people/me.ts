import { contract, type Schemas } from '../contract';
import type { Handlers } from '../http/handlers';

/** The caller, and what the caller may do. */
export const me = () =>
  ({
    showMe: async ({ caller }) => {
      const all = contract.document.components.schemas.Scope!.enum as Schemas['Scope'][];
      return {
        status: 200,
        success: true,
        errors: {},
        me: {
          kind: caller.kind,
          name: caller.name,
          public_key: caller.public_key,
          superuser: caller.superuser,
          permissions: caller.superuser
            ? all
            : all.filter((scope) => caller.permissions.has(scope)),
          team_ids: caller.teams ? caller.teams.map(({ id }) => Number(id)) : null,
          company: { id: Number(caller.company_id), name: caller.company_name },
          user:
            caller.user_id === null
              ? null
              : { id: Number(caller.user_id), email: caller.user_email! },
        },
        metadata: { root: 'me' },
      };
    },
  }) satisfies Partial<Handlers>;
