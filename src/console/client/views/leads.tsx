import { useState } from 'preact/hooks';
import { findNoun } from '../contract';
import { useLive } from '../loading';
import { Badge } from '../parts/basics';
import { linkTo, useRoute } from '../route';
import { useSession } from '../session';
import type { TableLayout } from '../table/columns';
import { DataTable } from '../table/data-table';

const LEADS: TableLayout = {
  noun: 'leads',
  words: { singular: 'lead', plural: 'leads' },
  title: ({ id }) => `Lead ${String(id)}`,
  order: 'created_at',
  labels: { caller_id: 'Number', has_next_action: 'Something is planned', buyer_converted: 'Sold' },
  columns: [
    { name: 'full_name', title: 'Name', show: nameLead, needs: ['caller_id'] },
    'caller_id',
    { name: 'created_at', title: 'Came in' },
    {
      name: 'human_status',
      title: 'Status',
      show: ({ human_status, is_live }) => (
        <Badge tone={is_live ? 'good' : 'plain'}>{String(human_status)}</Badge>
      ),
      needs: ['is_live'],
    },
    { name: 'next_action_at', title: 'Next action' },
    { name: 'email', isHidden: true },
    { name: 'revenue', isHidden: true },
  ],
};

function nameLead({ full_name, id }: Record<string, unknown>): string {
  return typeof full_name === 'string' && full_name !== '' ? full_name : `Lead ${String(id)}`;
}

/** All leads, found by name, number, e-mail, schedule, state or period. */
export function LeadsView() {
  const { contract, may } = useSession();
  const { query } = useRoute();
  const [version, setVersion] = useState(0);
  useLive(
    ({ kind }) => kind === 'lead' && !query.has('page'),
    () => setVersion((before) => before + 1),
  );
  return (
    <>
      <div class="title">
        <h1>Leads</h1>
        {may('leads:create') && (
          <a class="button" href={linkTo('test-lead')}>
            Test lead
          </a>
        )}
      </div>
      <DataTable layout={LEADS} noun={findNoun(contract, 'leads')} version={version} />
    </>
  );
}
