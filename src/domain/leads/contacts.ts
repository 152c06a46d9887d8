import type { Schemas } from '../../platform/contract/contract';
import { callerNumber, callerNumbers } from '../../data/phone/caller-number';
import { changeContacts } from './change-contacts';
import { commonColumns, type Projection } from '../../data/projection/projection';
import type { SortKey } from '../../data/projection/list-statements';
import type { Deps } from '../deps';
import type { Call, Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';

// Contacts: the state of a number in a company, including the blacklist and opt-outs. A contact is
// locked before the leads of its number.

const selectRestrictedIds = (what: 'blocked' | 'opt_out', owner: 'offer' | 'schedule') => `ARRAY(
  SELECT x.${owner}_id FROM contact_restrictions x
  WHERE x.company_id = t.company_id AND x.caller_number = t.caller_number
    AND x.${what} AND x.${owner}_id IS NOT NULL
  ORDER BY 1
)`;

export const projection = {
  schema: 'Contact',
  singular: 'contact',
  plural: 'contacts',
  fulltext: `lower(t.caller_number::text || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('contacts'),
    type: `'Contact'`,
    routes_edit_path: 'NULL::text',
    caller_id: `'+' || t.caller_number`,
    blocked: true,
    blocked_at: true,
    unblocked_at: true,
    opt_out: true,
    opted_out_at: true,
    opted_in_at: true,
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
    calls_count: true,
    sms_count: true,
    emails_count: true,
    last_contacted_at: true,
  },
} as const satisfies Projection<'Contact', 'contact', 'contacts'>;

const orders: Record<string, SortKey> = {
  caller_id: { sql: 't.caller_number', type: 'bigint' },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
};

export const contacts = ({ clock }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listContacts: async ({ query, db }) => {
      const callerId = await callerNumber(db, query.caller_id, 'caller_id');
      const filters = {
        caller_id: 't.caller_number = {caller_id}::bigint',
        blocked: query.blocked ? 't.blocked' : 'NOT t.blocked',
        opt_out: query.opt_out ? 't.opt_out' : 'NOT t.opt_out',
      };
      const narrowed = { ...query, caller_id: callerId };
      return page(narrowed, { db, now: clock(), projection, orders, filters });
    },
    showContact: records.show,
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
