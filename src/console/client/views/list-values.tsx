import { useState } from 'preact/hooks';
import { toLines } from '../editors/lines';
import { count } from '../format';
import { useAction, useLoaded } from '../loading';
import type { PanelProps } from '../nouns/layout';
import { Panel, Problem, Show } from '../parts/basics';
import { TurnPages } from '../parts/turn-pages';
import { useRoute } from '../route';
import { useSession, type Session } from '../session';
import { showToast } from '../toast';
import { download, send } from '../transport';
import { ValuesFile, withoutEmptyFields } from './new-list';

export const PAGE_SIZE = 100;

interface Page {
  values: readonly string[];
  total: number;
}

/** The values of a list: searched one by one, added and removed by hand or by a file. */
export function ListValues({ record, reload }: PanelProps) {
  const session = useSession();
  const { view } = useRoute();
  const path = `/${view}/${String(record.id)}`;
  const [search, setSearch] = useState('');
  const [page, setPage] = useState(1);
  const loaded = useLoaded(
    () => loadValues(session, path, search, page),
    [session, path, search, page],
  );
  const save = useAction(() =>
    download(session.transport, `${path}/values?format=csv`, `${String(record.name)}.csv`),
  );
  const changed = async () => {
    setPage(1);
    await Promise.all([loaded.reload(), reload()]);
  };
  const remove = useAction(async (values: readonly string[]) => {
    await send(session.transport, 'POST', `${path}/remove_values`, { body: { values } });
    await changed();
    showToast(`${values.join(', ')} was taken off.`);
  });
  const mayChange =
    session.may('value_lists:update') &&
    (session.me.team_ids === null || session.may('company_wide:update'));
  return (
    <Panel
      title={record.kind === 'zip_codes' ? 'ZIP codes' : 'Values'}
      wide
      headerContent={
        <button type="button" disabled={save.is_busy} onClick={() => void save.run()}>
          CSV
        </button>
      }
    >
      <ValueSearch
        search={(text) => {
          setPage(1);
          setSearch(text);
        }}
      />
      <Problem error={save.error ?? remove.error} />
      <Show of={loaded}>
        {({ values, total }) => (
          <>
            <p class="quiet" role="status">
              {describeResult(search, total)}
            </p>
            <Values
              values={values}
              disabled={remove.is_busy}
              onRemove={mayChange ? (value) => void remove.run([value]) : undefined}
            />
            <Turn page={page} total={total} turn={setPage} />
          </>
        )}
      </Show>
      {mayChange && <AddValues path={path} added={changed} />}
    </Panel>
  );
}

interface ValuesProps {
  values: readonly string[];
  disabled: boolean;
  onRemove: ((value: string) => void) | undefined;
}

const Values = ({ values, disabled, onRemove }: ValuesProps) => (
  <ul class="chips">
    {values.map((value) => (
      <li key={value} class={onRemove ? 'chip' : 'chip plain-chip'}>
        {value}
        {onRemove && (
          <button
            type="button"
            aria-label={`Take ${value} off`}
            disabled={disabled}
            onClick={() => onRemove(value)}
          >
            ×
          </button>
        )}
      </li>
    ))}
  </ul>
);

const describeResult = (search: string, total: number): string => {
  if (search === '') return `${count(total)} in all`;
  return total === 0 ? `“${search}” is not on the list.` : `“${search}” is on the list.`;
};

async function loadValues(
  { transport }: Session,
  path: string,
  value: string,
  page: number,
): Promise<Page> {
  const query = { value, page, per_page: PAGE_SIZE };
  const { data } = await send(transport, 'GET', `${path}/values`, { query });
  return {
    values: data.values as string[],
    total: (data.metadata as { total_count: number }).total_count,
  };
}

interface TurnProps {
  page: number;
  total: number;
  turn: (page: number) => void;
}

/** Pages of a list within a panel. */
export function Turn({ page, total, turn }: TurnProps) {
  const pages = Math.ceil(total / PAGE_SIZE);
  if (pages <= 1) return null;
  return (
    <nav class="pages" aria-label="Pages">
      <TurnPages page={page} pages={pages} turn={turn} />
    </nav>
  );
}

/** Asks for one value: whether it is on the list. */
export function ValueSearch({
  search,
  label = 'Is it on the list?',
}: {
  search: (text: string) => void;
  label?: string;
}) {
  const [typed, setTyped] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    search(typed.trim());
  };
  return (
    <form role="search" class="toolbar" onSubmit={submit}>
      <label class="field wide-field">
        <span>{label}</span>
        <input
          type="search"
          maxLength={255}
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            if (event.currentTarget.value === '') search('');
          }}
        />
      </label>
      <button>Search</button>
    </form>
  );
}

function AddValues({ path, added }: { path: string; added: () => Promise<void> }) {
  const { transport } = useSession();
  const [text, setText] = useState('');
  const change = useAction(async (verb: 'add' | 'remove') => {
    const values = toLines(text);
    const { data } = await send(transport, 'POST', `${path}/${verb}_values`, { body: { values } });
    setText('');
    await added();
    showToast(describeChange(verb, data));
  });
  const upload = useAction(async (form: HTMLFormElement) => {
    const { data } = await send(transport, 'POST', `${path}/add_values`, {
      body: withoutEmptyFields(new FormData(form)),
    });
    form.reset();
    await added();
    showToast(describeChange('add', data));
  });
  const isEmpty = toLines(text).length === 0;
  return (
    <div class="grid">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void change.run('add');
        }}
      >
        <label class="field">
          <span>Add or take off, one on each line</span>
          <textarea rows={4} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <Problem error={change.error} />
        <div class="actions">
          <button disabled={isEmpty || change.is_busy}>Add</button>
          <button
            type="button"
            disabled={isEmpty || change.is_busy}
            onClick={() => void change.run('remove')}
          >
            Take off
          </button>
        </div>
      </form>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void upload.run(event.currentTarget);
        }}
      >
        <ValuesFile />
        <Problem error={upload.error} />
        <button disabled={upload.is_busy}>{upload.is_busy ? 'Uploading…' : 'Add the file'}</button>
      </form>
    </div>
  );
}

/** The counts of an answer in a sentence. */
function describeChange(
  verb: 'add' | 'remove',
  { added, removed, accepted }: Record<string, unknown>,
): string {
  const changes = Number(verb === 'add' ? added : removed);
  const unchanged = Number(accepted) - changes;
  const rest = unchanged > 0 ? ` ${count(unchanged)} needed no change.` : '';
  return `${count(changes)} ${verb === 'add' ? 'added' : 'taken off'}.${rest}`;
}
