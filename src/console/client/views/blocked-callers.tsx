import { useState } from 'preact/hooks';
import { changeBlock } from '../calls/block-caller';
import { findNoun } from '../contract';
import { useAction } from '../loading';
import { Problem } from '../parts/basics';
import { useSession } from '../session';
import type { TableLayout } from '../table/columns';
import { DataTable } from '../table/data-table';
import { AddCaller } from './add-caller';
import { BlockedBy } from './blocked-by';

const buildLayout = (changed: () => void): TableLayout => ({
  noun: 'contacts',
  words: { singular: 'blocked caller', plural: 'blocked callers' },
  title: ({ caller_id: number }) => String(number),
  columns: [
    { name: 'caller_id', title: 'Number' },
    { name: 'blocked_at', title: 'Since' },
    {
      name: 'id',
      title: 'Blocked by',
      needs: ['caller_id', 'blocked_at'],
      show: (contact) => <BlockedBy contact={contact} />,
    },
    { name: 'leads_count', title: 'Leads' },
    { name: 'opt_out', title: 'Has opted out', isHidden: true },
    {
      name: 'blocked',
      title: 'Unblock',
      needs: ['caller_id'],
      show: ({ caller_id: number }) => <Unblock number={String(number)} changed={changed} />,
    },
  ],
  hiddenFilters: ['blocked', 'caller_id'],
});

/** The blacklist of the company, for every offer and buyer; suppression lists are for some. */
export function BlockedCallersView() {
  const { contract } = useSession();
  const [version, setVersion] = useState(0);
  const changed = () => setVersion((before) => before + 1);
  const [layout] = useState(() => buildLayout(changed));
  return (
    <>
      <h1>Blocked callers</h1>
      <p class="quiet">
        Their calls are refused, and their leads are neither called, texted nor mailed, whatever the
        offer. A suppression list does the same for some buyers or offers. Who blocked a caller is
        in the change log; a dash stands for a step of a schedule or an older entry. No reason is
        kept.
      </p>
      <AddCaller isForAll reload={async () => changed()} />
      <DataTable
        layout={layout}
        noun={findNoun(contract, 'contacts')}
        fixed={BLOCKED}
        version={version}
        hasPages={false}
      />
    </>
  );
}

const BLOCKED = { blocked: 'true' };

function Unblock({ number, changed }: { number: string; changed: () => void }) {
  const { may, me, transport } = useSession();
  const { run, is_busy, error } = useAction(() =>
    changeBlock(transport, { number, verb: 'unblock', path: '/contacts', changed }),
  );
  if (!may('contacts:update') || me.team_ids !== null) return null;
  return (
    <>
      <button
        type="button"
        aria-label={`Unblock ${number}`}
        disabled={is_busy}
        onClick={() => void run()}
      >
        Unblock
      </button>
      <Problem error={error} />
    </>
  );
}
