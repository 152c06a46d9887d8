import { useState } from 'preact/hooks';
import { ReferencesInput } from '../form/combobox';
import { useAction } from '../loading';
import { Field, Panel, Problem } from '../parts/basics';
import { LabeledReference } from '../parts/labeled-reference';
import { Select } from '../parts/select';
import { goTo, linkTo, useRoute } from '../route';
import { useSession, type Session } from '../session';
import { send, type Json } from '../transport';
import { readColumns } from './csv-header';

const LISTS = { new: 'A new list', stored: 'A list that is there' } as const;
const DIRECTIONS = {
  block: 'Put the numbers on the list',
  unblock: 'Take them off the list',
} as const;

interface Upload {
  into: keyof typeof LISTS;
  /** The stored list, or the new one once it was made. */
  list: string;
  name: string;
  offers: string[];
  direction: keyof typeof DIRECTIONS;
  column: string;
}

/** A file of numbers goes to a new suppression list, or to one that is there. */
export function UploadNumbers() {
  return (
    <>
      <p>
        <a href={linkTo('buyer_suppressions')}>All suppression lists</a>
      </p>
      <h1>Upload a do-not-call list</h1>
      <UploadForm />
    </>
  );
}

export function UploadForm() {
  const session = useSession();
  const stored = useRoute().query.get('list') ?? '';
  const mayMakeLists = session.may('buyer_suppressions:create');
  const [upload, setUpload] = useState<Upload>({
    into: stored === '' && mayMakeLists ? 'new' : 'stored',
    list: stored,
    name: '',
    offers: [],
    direction: 'block',
    column: '',
  });
  const [file, setFile] = useState<File>();
  const [columns, setColumns] = useState<readonly string[]>([]);
  const change = (part: Partial<Upload>) => setUpload((before) => ({ ...before, ...part }));
  const choose = async (chosen: File | undefined) => {
    setFile(chosen);
    change({ column: '' });
    setColumns(chosen ? await readColumns(chosen).catch(() => []) : []);
  };
  const start = useAction(async (chosen: File) => {
    const list = upload.into === 'new' ? await createList(session, upload) : upload.list;
    // Another attempt goes to the list that was made.
    change({ into: 'stored', list });
    const id = await sendFile(session, { ...upload, list }, chosen);
    goTo(linkTo('buyer_suppression_files', id), { replace: true });
  });
  const isReady = file && (upload.into === 'new' ? upload.name.trim() : upload.list) !== '';
  const submit = (event: Event) => {
    event.preventDefault();
    if (file && isReady) void start.run(file);
  };
  return (
    <Panel title="The file and its list">
      <form onSubmit={submit}>
        <FileChoice choose={(chosen) => void choose(chosen)} />
        {columns.length > 0 && (
          <Select
            label="Column of the numbers"
            choices={{ '': 'Find it by itself', ...toChoices(columns) }}
            value={upload.column}
            onChange={(column) => change({ column })}
          />
        )}
        {mayMakeLists && (
          <Select
            label="It goes to"
            choices={LISTS}
            value={upload.into}
            onChange={(into) => change({ into: into as Upload['into'], list: '' })}
          />
        )}
        <ListChoice upload={upload} change={change} />
        <Problem error={start.error} />
        <button class="primary" disabled={start.is_busy || !isReady}>
          {start.is_busy ? 'Uploading…' : 'Upload'}
        </button>
      </form>
    </Panel>
  );
}

const FileChoice = ({ choose }: { choose: (file: File | undefined) => void }) => (
  <Field
    label="File of numbers"
    type="file"
    accept=".csv,.txt,.gz,text/csv,text/plain"
    required
    hint="CSV or plain text, also compressed (.gz). Telephone numbers in any spelling."
    onChange={(event) => choose(event.currentTarget.files?.[0])}
  />
);

interface ListChoiceProps {
  upload: Upload;
  change: (part: Partial<Upload>) => void;
}

function ListChoice({ upload, change }: ListChoiceProps) {
  if (upload.into === 'new')
    return (
      <>
        <Field
          label="Name of the list"
          required
          maxLength={255}
          placeholder="Do not call, November"
          value={upload.name}
          onInput={(event) => change({ name: event.currentTarget.value })}
        />
        <div class="field">
          <label for="upload-offers">Holds for these offers</label>
          <ReferencesInput
            id="upload-offers"
            noun="offers"
            value={upload.offers}
            onChange={(offers) => change({ offers })}
          />
          <small class="quiet">
            Calls of its numbers to them are refused. Buyers can be added later.
          </small>
        </div>
      </>
    );
  return (
    <>
      <LabeledReference
        label="Suppression list"
        noun="buyer_suppressions"
        value={upload.list}
        onChange={(list) => change({ list })}
      />
      <Select
        label="What to do"
        choices={DIRECTIONS}
        value={upload.direction}
        onChange={(direction) => change({ direction: direction as Upload['direction'] })}
      />
    </>
  );
}

const toChoices = (columns: readonly string[]): Record<string, string> =>
  Object.fromEntries(columns.map((column) => [column, column]));

async function createList({ transport }: Session, { name, offers }: Upload): Promise<string> {
  const body = { name: name.trim(), ...(offers.length > 0 && { offer_ids: offers }) };
  const { data } = await send(transport, 'POST', '/buyer_suppressions', { body });
  return String((data.buyer_suppression as Json).id);
}

async function sendFile(
  { transport }: Session,
  { list, direction, column }: Upload,
  file: File,
): Promise<string> {
  const body = new FormData();
  body.set('buyer_suppression_id', list);
  body.set('apply_block_or_unblock', direction);
  if (column !== '') body.set('caller_id_column_name', column);
  body.set('import_file', file);
  const { data } = await send(transport, 'POST', '/buyer_suppression_files', { body });
  return String((data.buyer_suppression_file as Json).id);
}
