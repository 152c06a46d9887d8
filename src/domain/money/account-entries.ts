import { CHRONOLOGICAL } from '../../data/projection/list-statements';
import type { Projection } from '../../data/projection/projection';
import { buildReferenceConditions } from '../../data/records';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { list } from '../../api/records/list';
import { show, loadWriteReply } from '../../api/records/record';
import { createEntry } from './create-entry';

export const projection = {
  schema: 'AccountEntry',
  singular: 'account_entry',
  plural: 'account_entries',
  appendOnly: true,
  fulltext: `lower(coalesce(t.note, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    id: true,
    legacy_id: 't.id',
    type: `'AccountEntry'`,
    uuid: true,
    created_at: true,
    routes_show_path: `'/api/v1/account_entries/' || t.id`,
    external_record_id: true,
    company_id: true,
    buyer_id: true,
    traffic_source_id: true,
    kind: true,
    amount: true,
    call_id: true,
    user_id: true,
    note: true,
  },
} as const satisfies Projection<'AccountEntry', 'account_entry', 'account_entries'>;

export const accountEntries = ({ clock }: Deps) =>
  ({
    listAccountEntries: ({ query, db }) => {
      const ofAccount = { buyer_id: 'buyers', traffic_source_id: 'traffic_sources' } as const;
      const filters = { kind: 't.kind = {kind}', ...buildReferenceConditions(query, ofAccount) };
      return list(query, { db, now: clock(), projection, orders: CHRONOLOGICAL, filters });
    },

    showAccountEntry: ({ params, query: { columns }, db, if_none_match }) =>
      show({ db, now: clock(), projection, columns, if_none_match }, params.id),

    createAccountEntry: async ({ body, db, caller: { user_id } }) => {
      const now = clock();
      const id = await db.transaction((tx) => createEntry(tx, body, { user_id, now }));
      return loadWriteReply({ db, now, projection }, id, { status: 201 });
    },
  }) satisfies Partial<Handlers>;
