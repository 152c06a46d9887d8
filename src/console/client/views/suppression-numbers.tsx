import { useState } from 'preact/hooks';
import { ok, type Schemas } from '../api';
import { toLines } from '../editors/lines';
import { count } from '../format';
import { useAction, useLoaded } from '../loading';
import type { PanelProps } from '../nouns/layout';
import { Panel, Problem, Show, Table } from '../parts/basics';
import { useSession } from '../session';
import { showToast } from '../toast';
import { download } from '../transport';
import { PAGE_SIZE, Turn, ValueSearch } from './list-values';

type Result = Schemas['CallerIdsReply'];

/** The numbers of a suppression list: searched, added and taken off. */
export function SuppressionNumbers({ record, reload }: PanelProps) {
  const { api, may, transport } = useSession();
  const id = String(record.id);
  const [search, setSearch] = useState('');
  const [page, setPage] = useState(1);
  const loaded = useLoaded(
    () =>
      ok(
        api.GET('/buyer_suppressions/{id}/caller_ids', {
          params: {
            path: { id },
            query: { page, per_page: PAGE_SIZE, ...(search !== '' && { caller_id: search }) },
          },
        }),
      ),
    [api, id, search, page, record.blocked],
  );
  const save = useAction(() =>
    download(
      transport,
      `/buyer_suppressions/${id}/caller_ids?format=csv`,
      `${String(record.name)}.csv`,
    ),
  );
  const changed = async () => {
    setPage(1);
    await Promise.all([loaded.reload(), reload()]);
  };
  return (
    <Panel
      title="Numbers"
      headerContent={
        <button type="button" disabled={save.is_busy} onClick={() => void save.run()}>
          CSV
        </button>
      }
    >
      <ValueSearch
        label="Is this number on the list?"
        search={(text) => {
          setPage(1);
          setSearch(text);
        }}
      />
      <Problem error={save.error} />
      <Show of={loaded}>
        {({ caller_ids: numbers, metadata: { total_count: total } }) => (
          <>
            <p role="status" class="quiet">
              {describeNumbers(search, total)}
            </p>
            <ul class="chips">
              {numbers.map((number) => (
                <li key={number} class="chip plain-chip">
                  {number}
                </li>
              ))}
            </ul>
            <Turn page={page} total={total} turn={setPage} />
          </>
        )}
      </Show>
      {may('buyer_suppressions:update') && <ChangeNumbers id={id} changed={changed} />}
    </Panel>
  );
}

const describeNumbers = (search: string, total: number): string => {
  if (search === '') return `${count(total)} numbers in all`;
  return total === 0 ? `${search} is not on the list.` : `${search} is on the list.`;
};

function ChangeNumbers({ id, changed }: { id: string; changed: () => Promise<void> }) {
  const { api } = useSession();
  const [text, setText] = useState('');
  const [rejected, setRejected] = useState<Result['rejected']>([]);
  const change = useAction(async (verb: 'caller_block' | 'caller_unblock') => {
    const path = `/buyer_suppressions/{id}/${verb}` as const;
    const body = { caller_ids: toLines(text) };
    const answer = await ok(api.POST(path, { params: { path: { id } }, body }));
    setRejected(answer.rejected);
    setText('');
    await changed();
    showToast(
      verb === 'caller_block'
        ? `${count(answer.added)} added to the list.`
        : `${count(answer.removed)} taken off the list.`,
    );
  });
  const isEmpty = toLines(text).length === 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void change.run('caller_block');
      }}
    >
      <label class="field">
        <span>Add or take off, one number on each line</span>
        <textarea
          rows={3}
          value={text}
          placeholder="(213) 555-0147"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <Problem error={change.error} />
      <RejectedNumbers rejected={rejected} />
      <div class="actions">
        <button disabled={isEmpty || change.is_busy}>Add</button>
        <button
          type="button"
          disabled={isEmpty || change.is_busy}
          onClick={() => void change.run('caller_unblock')}
        >
          Take off
        </button>
      </div>
    </form>
  );
}

/** Texts that are no telephone numbers. */
export const RejectedNumbers = ({ rejected }: { rejected: Result['rejected'] }) =>
  rejected.length > 0 && (
    <div class="notice warn" role="status">
      <Table
        caption="Not taken"
        columns={[
          { name: 'Not taken', of: ({ caller_id: number }) => number },
          { name: 'Why', of: ({ reason }) => reason },
        ]}
        rows={rejected}
        getKey={({ caller_id: number }) => number}
        empty=""
      />
    </div>
  );
