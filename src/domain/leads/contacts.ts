import type { Schemas } from '../../platform/contract/contract';
import { callerNumber, callerNumbers } from '../../data/phone/caller-number';
import { changeContacts } from './change-contacts';
import type { Deps } from '../deps';
import type { Call, Handlers } from '../../api/handlers';
import { noun } from '../../api/records/noun';

// Contacts: the state of a number in a company, including the blacklist and opt-outs. A contact is
// locked before the leads of its number.

const selectRestrictedIds = (what: 'blocked' | 'opt_out', owner: 'offer' | 'schedule') => `ARRAY(
  SELECT x.${owner}_id FROM contact_restrictions x
  WHERE x.company_id = t.company_id AND x.caller_number = t.caller_number
    AND x.${what} AND x.${owner}_id IS NOT NULL
  ORDER BY 1
)`;

const contact = noun({
  schema: 'Contact',
  singular: 'contact',
  plural: 'contacts',
  search: `lower(t.caller_number::text || E'\\n' || coalesce(t.external_record_id, ''))`,
  computed: {
    routes_edit_path: 'NULL::text',
    caller_id: `'+' || t.caller_number`,
    blocked_offer_ids: selectRestrictedIds('blocked', 'offer'),
    blocked_schedule_ids: selectRestrictedIds('blocked', 'schedule'),
    opt_out_offer_ids: selectRestrictedIds('opt_out', 'offer'),
    opt_out_schedule_ids: selectRestrictedIds('opt_out', 'schedule'),
    leads_count: `(
      SELECT count(*)
      FROM leads l
      WHERE l.company_id = t.company_id
        AND l.caller_number = t.caller_number
        AND l.deleted_at IS NULL
    )`,
  },
  orders: { caller_id: { sql: 't.caller_number', type: 'bigint' } },
  filters: {
    caller_id: 't.caller_number = {caller_id}::bigint',
    blocked: { cases: { true: 't.blocked', false: 'NOT t.blocked' } },
    opt_out: { cases: { true: 't.opt_out', false: 'NOT t.opt_out' } },
  },
});
export const { projection } = contact;

export const contacts = (deps: Deps) => {
  const { clock } = deps;
  return {
    ...contact.handlers(deps),
    listContacts: async ({ query, db }) => {
      const callerId = await callerNumber(db, query.caller_id, 'caller_id');
      return contact.list({ ...query, caller_id: callerId }, { db, now: clock() });
    },
    blockContacts: (call) => change(call, 'block', clock()),
    unblockContacts: (call) => change(call, 'unblock', clock()),
  } satisfies Partial<Handlers>;
};

type Numbers = Pick<Call<'blockContacts'>, 'body' | 'db'>;

async function change(
  { body, db }: Numbers,
  verb: 'block' | 'unblock',
  now: Date,
): Promise<Schemas['ContactCallerIdsReply']> {
  const { numbers, accepted, rejected } = await callerNumbers(db, body.caller_ids);
  const context = {
    now,
    message: `the blacklist was changed`,
  };
  const changed = await db.transaction((tx) => changeContacts(tx, verb, numbers, context));
  const counts = {
    accepted,
    added: verb === 'block' ? changed : 0,
    removed: verb === 'unblock' ? changed : 0,
    rejected,
  };
  return { status: 200, success: true, errors: {}, ...counts, metadata: { root: 'contacts' } };
}
