import { useState } from 'preact/hooks';
import { ok, type Schemas } from '../api';
import { Done, Panel, Problem, Show, Table, type Column } from '../parts/basics';
import { Progress } from '../parts/progress';
import { count, dayTime } from '../format';
import { useAction, useLive, useLoaded } from '../loading';
import { useSession } from '../session';
import { send } from '../transport';

type File = Schemas['BuyerSuppressionFile'];
type Rejected = Schemas['RejectedRow'];

const MAX_FILES = 20;

export function Imports() {
  const { api, may } = useSession();
  const loaded = useLoaded(async () => {
    const query = { per_page: MAX_FILES, order_dir: 'desc' as const };
    return ok(api.GET('/buyer_suppression_files', { params: { query } }));
  }, [api]);
  useLive(({ kind }) => kind === 'import', loaded.reload);
  return (
    <div class="grid">
      {may('buyer_suppression_files:create', 'buyer_suppressions:read') && (
        <Upload uploaded={loaded.reload} />
      )}
      <Panel title="Imports">
        <Show of={loaded}>
          {({ buyer_suppression_files: files }) => (
            <>
              {files.length === 0 && <p class="quiet">No file was uploaded yet.</p>}
              <ul class="plain">
                {files.map((file) => (
                  <li key={file.id}>
                    <Import file={file} />
                  </li>
                ))}
              </ul>
            </>
          )}
        </Show>
      </Panel>
    </div>
  );
}

function Import({ file }: { file: File }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Progress file={file} />
      {file.rejected_count! > 0 && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Rejected rows of {file.name ?? `file ${file.id}`}</summary>
          {isOpen && <RejectedRows file={file} />}
        </details>
      )}
    </>
  );
}

const MAX_ROWS = 100;

function RejectedRows({ file }: { file: File }) {
  const { api } = useSession();
  const loaded = useLoaded(async () => {
    const params = { path: { id: String(file.id) }, query: { per_page: MAX_ROWS } };
    return ok(api.GET('/buyer_suppression_files/{id}/rejected_rows', { params }));
  }, [api, file.id, file.rejected_count]);
  return (
    <Show of={loaded}>
      {({ rejected_rows, metadata }) => (
        <>
          <p class="quiet">
            {count(rejected_rows.length)} of {count(metadata.total_count)} rows
          </p>
          <Table
            caption="Rejected rows"
            columns={REJECTED}
            rows={rejected_rows}
            getKey={({ line }) => line}
            empty="No row was rejected."
          />
        </>
      )}
    </Show>
  );
}

const REJECTED: readonly Column<Rejected>[] = [
  { name: 'Line', of: ({ line }) => count(line), number: true },
  { name: 'Number', of: ({ caller_id }) => caller_id },
  { name: 'Why', of: ({ reason }) => reason },
];

function Upload({ uploaded }: { uploaded: () => void }) {
  const { transport } = useSession();
  const { run, is_busy, error, done } = useAction(async (form: HTMLFormElement) => {
    const { data } = await send(transport, 'POST', '/buyer_suppression_files', {
      body: new FormData(form),
    });
    const file = data.buyer_suppression_file as File;
    form.reset();
    uploaded();
    return `${file.name ?? 'The file'} was uploaded at ${dayTime(file.created_at)}.`;
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void run(event.currentTarget as HTMLFormElement);
  };
  return (
    <Panel title="Upload a list">
      <form onSubmit={submit}>
        <Lists />
        <label class="field">
          <span>CSV file of numbers</span>
          <input type="file" name="import_file" accept=".csv,text/csv,text/plain" required />
        </label>
        <label class="field">
          <span>What to do</span>
          <select name="apply_block_or_unblock">
            <option value="block">Put the numbers on the list</option>
            <option value="unblock">Take them off the list</option>
          </select>
        </label>
        <Problem error={error} />
        <Done text={done} />
        <button class="primary" disabled={is_busy}>
          {is_busy ? 'Uploading…' : 'Upload'}
        </button>
      </form>
    </Panel>
  );
}

function Lists() {
  const { api } = useSession();
  const lists = useLoaded(async () => {
    const query = { columns: ['id', 'name'], per_page: 1_000 };
    return ok(api.GET('/buyer_suppressions', { params: { query } }));
  }, [api]);
  return (
    <Show of={lists}>
      {({ buyer_suppressions }) => (
        <label class="field">
          <span>Suppression list</span>
          <select name="buyer_suppression_id" required>
            {buyer_suppressions.map(({ id, name }) => (
              <option key={id} value={String(id)}>
                {name ?? `List ${id}`}
              </option>
            ))}
          </select>
        </label>
      )}
    </Show>
  );
}
