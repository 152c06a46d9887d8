import { useState } from 'preact/hooks';
import { ok, type Schemas } from '../api';
import { count } from '../format';
import { useAction, useLive, useLoaded } from '../loading';
import type { PanelProps } from '../nouns/layout';
import { Panel, Problem, Show, Table, type Column } from '../parts/basics';
import { Progress } from '../parts/progress';
import { Select } from '../parts/select';
import { linkTo } from '../route';
import { useSession } from '../session';
import { showToast } from '../toast';
import { download } from '../transport';

type File = Schemas['BuyerSuppressionFile'];
type Rejected = Schemas['RejectedRow'];

/** The import of a file, as it happens, and the rows that it could not use. */
export function SuppressionFile({ record, reload }: PanelProps) {
  const file = record as unknown as File;
  const { api, may, transport } = useSession();
  useLive(
    ({ kind }) => kind === 'import',
    () => void reload(),
  );
  const stop = useAction(async () => {
    const params = { path: { id: String(file.id) } };
    await ok(api.POST('/buyer_suppression_files/{id}/stop', { params }));
    await reload();
    showToast('Stopped. What was imported stays.');
  });
  const save = useAction(() =>
    download(
      transport,
      `/buyer_suppression_files/${file.id}/import_file`,
      file.name ?? 'numbers.csv',
    ),
  );
  const isUnderWay = file.status === 'running' || file.status === 'pending';
  const mayChange = may('buyer_suppression_files:update');
  return (
    <>
      <Panel title="Import">
        <Progress file={file} />
        <p>
          {count(file.added_count)} numbers added to the list, {count(file.removed_count)} taken
          off.{' '}
          {typeof file.buyer_suppression_id === 'number' && (
            <a href={linkTo('buyer_suppressions', file.buyer_suppression_id)}>See the list</a>
          )}
        </p>
        <Problem error={stop.error ?? save.error} />
        {file.import_file_url && (
          <button type="button" disabled={save.is_busy} onClick={() => void save.run()}>
            Download the file
          </button>
        )}
        {isUnderWay && mayChange && (
          <button type="button" disabled={stop.is_busy} onClick={() => void stop.run()}>
            Stop the import
          </button>
        )}
        {file.status === 'failed' && mayChange && <ColumnChoice file={file} reload={reload} />}
      </Panel>
      {file.rejected_count! > 0 && <RejectedRows file={file} />}
    </>
  );
}

/** An import that could not find the numbers starts again with the column that a person names. */
function ColumnChoice({ file, reload }: { file: File; reload: () => Promise<void> }) {
  const { api } = useSession();
  const headers = file.headers ?? [];
  const [column, setColumn] = useState(headers[0] ?? '');
  const start = useAction(async () => {
    const params = { path: { id: String(file.id) } };
    const body = { caller_id_column_name: column };
    await ok(api.PUT('/buyer_suppression_files/{id}', { params, body }));
    await reload();
  });
  if (headers.length === 0) return null;
  return (
    <>
      <Select
        label="Which column has the numbers?"
        choices={Object.fromEntries(headers.map((name) => [name, name]))}
        value={column}
        onChange={setColumn}
      />
      <Problem error={start.error} />
      <button type="button" class="primary" disabled={start.is_busy} onClick={() => start.run()}>
        Start again with this column
      </button>
    </>
  );
}

const MAX_ROWS = 100;

function RejectedRows({ file }: { file: File }) {
  const { api, transport } = useSession();
  const id = String(file.id);
  const loaded = useLoaded(async () => {
    const params = { path: { id }, query: { per_page: MAX_ROWS } };
    return ok(api.GET('/buyer_suppression_files/{id}/rejected_rows', { params }));
  }, [api, id, file.rejected_count]);
  const save = useAction(() =>
    download(
      transport,
      `/buyer_suppression_files/${id}/rejected_rows?format=csv`,
      'rejected-rows.csv',
    ),
  );
  return (
    <Panel
      title="Rejected rows"
      headerContent={
        <button type="button" disabled={save.is_busy} onClick={() => void save.run()}>
          CSV
        </button>
      }
    >
      <Problem error={save.error} />
      <Show of={loaded}>
        {({ rejected_rows: rows, metadata }) => (
          <>
            <p class="quiet">
              {count(rows.length)} of {count(metadata.total_count)} rows
            </p>
            <Table
              caption="Rejected rows of the file"
              columns={REJECTED}
              rows={rows}
              getKey={({ line }) => line}
              empty="No row was rejected."
            />
          </>
        )}
      </Show>
    </Panel>
  );
}

const REJECTED: readonly Column<Rejected>[] = [
  { name: 'Line', of: ({ line }) => count(line), number: true },
  { name: 'Number', of: ({ caller_id }) => caller_id },
  { name: 'Why', of: ({ reason }) => reason },
];
