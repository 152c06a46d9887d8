import { useState } from 'preact/hooks';
import { ok, type Schemas } from '../api';
import { Badge, Show, Table, type Column } from '../parts/basics';
import { count, dayTime, text } from '../format';
import { useLive, useLoaded } from '../loading';
import { linkTo } from '../route';
import { useSession } from '../session';
import { Search } from './calls';

type Lead = Schemas['Lead'];

const COLUMN_NAMES = [
  'id',
  'created_at',
  'full_name',
  'caller_id',
  'human_status',
  'next_action_at',
  'is_live',
];

/** The newest leads, or those that match a search. */
export function LeadsView() {
  const { api } = useSession();
  const [fulltext, setFulltext] = useState('');
  const loaded = useLoaded(async () => {
    const filter = fulltext === '' ? {} : { fulltext };
    const query = { ...filter, columns: COLUMN_NAMES, per_page: 50, order_dir: 'desc' as const };
    return ok(api.GET('/leads', { params: { query } }));
  }, [api, fulltext]);
  useLive(({ kind }) => kind === 'lead', loaded.reload);
  return (
    <>
      <h1>Leads</h1>
      <Search label="Find leads by number, name or token" onSearch={setFulltext} />
      <Show of={loaded}>
        {({ leads, metadata }) => (
          <>
            <p class="quiet">
              {count(leads.length)} of {count(metadata.total_count)} leads
            </p>
            <Table
              caption="Leads"
              columns={COLUMNS}
              rows={leads}
              getKey={({ id }) => id!}
              empty="There are no such leads."
            />
          </>
        )}
      </Show>
    </>
  );
}

const COLUMNS: readonly Column<Lead>[] = [
  { name: 'Lead', of: ({ id }) => <a href={linkTo('leads', id)}>{id}</a> },
  { name: 'Came in', of: ({ created_at }) => dayTime(created_at) },
  { name: 'Name', of: ({ full_name }) => text(full_name) },
  { name: 'Number', of: ({ caller_id }) => text(caller_id) },
  {
    name: 'Status',
    of: ({ human_status, is_live }) => (
      <Badge tone={is_live ? 'good' : 'plain'}>{human_status}</Badge>
    ),
  },
  { name: 'Next action', of: ({ next_action_at }) => dayTime(next_action_at) },
];
