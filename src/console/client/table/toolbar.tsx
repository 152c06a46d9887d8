import { useState } from 'preact/hooks';
import type { NounContract } from '../../noun-contract';
import { Dialog } from '../dialog';
import { copyText } from '../clipboard';
import { useAction } from '../loading';
import type { ColumnLayout } from '../nouns/layout';
import { Field, Problem } from '../parts/basics';
import { useSession } from '../session';
import { exportCsv } from './export';
import { FilterBar } from './filter-bar';
import { listChoices, titleColumn, type TableLayout } from './columns';
import type { TableState } from './state';

interface ToolbarProps {
  layout: TableLayout;
  noun: NounContract;
  state: TableState;
  columns: readonly ColumnLayout[];
  fixed: Readonly<Record<string, string>>;
  change: (changes: Readonly<Record<string, string | null>>) => void;
  link: () => string;
}

/** Search, filters, columns, CSV and link of a table. */
export function Toolbar({ layout, noun, state, columns, fixed, change, link }: ToolbarProps) {
  const session = useSession();
  const [isFiltering, setFiltering] = useState(false);
  const [isChoosing, setChoosing] = useState(false);
  const shownFilters = Object.keys(noun.filters).filter(
    (name) =>
      !HANDLED.has(name) && !(name in fixed) && !(layout.hiddenFilters ?? []).includes(name),
  );
  const save = useAction(() =>
    exportCsv(session, {
      layout,
      noun,
      state: { ...state, filters: { ...state.filters, ...fixed } },
      columns,
    }),
  );
  const share = () => copyText(link(), 'The link to this view is on the clipboard.');
  return (
    <>
      <div class="toolbar">
        {'fulltext' in noun.filters && (
          <SearchBox
            layout={layout}
            search={state.search}
            onSearch={(fulltext) => change({ fulltext })}
          />
        )}
        <button
          type="button"
          aria-expanded={isFiltering}
          onClick={() => setFiltering(!isFiltering)}
        >
          Filter
        </button>
        <button type="button" onClick={() => setChoosing(true)}>
          Columns
        </button>
        <button type="button" disabled={save.is_busy} onClick={() => void save.run()}>
          {save.is_busy ? 'Exporting…' : 'CSV'}
        </button>
        <button type="button" onClick={() => void share()}>
          Copy link
        </button>
      </div>
      <Problem error={save.error} />
      {isFiltering && (
        <FilterBar
          noun={noun}
          layout={layout}
          names={shownFilters}
          filters={state.filters}
          change={change}
        />
      )}
      {isChoosing && (
        <ColumnChoice
          layout={layout}
          noun={noun}
          columns={columns}
          change={change}
          onClose={() => setChoosing(false)}
        />
      )}
    </>
  );
}

/** The period has an input of its own; the zone is that of the console. */
const HANDLED: ReadonlySet<string> = new Set([
  'fulltext',
  'time_zone',
  'created_at_from',
  'created_at_to',
]);

interface SearchBoxProps {
  layout: TableLayout;
  search: string;
  onSearch: (text: string) => void;
}

function SearchBox({ layout: { words, searches }, search, onSearch }: SearchBoxProps) {
  const [typed, setTyped] = useState<string>();
  const submit = (event: Event) => {
    event.preventDefault();
    if (typed !== undefined) onSearch(typed.trim());
    setTyped(undefined);
  };
  return (
    <form role="search" onSubmit={submit} class="wide-field field">
      <Field
        label={`Search ${words.plural}`}
        type="search"
        placeholder={searches}
        maxLength={200}
        value={typed ?? search}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={submit}
      />
    </form>
  );
}

interface ColumnChoiceProps {
  layout: TableLayout;
  noun: NounContract;
  columns: readonly ColumnLayout[];
  change: (changes: Readonly<Record<string, string | null>>) => void;
  onClose: () => void;
}

function ColumnChoice({ layout, noun, columns, change, onClose }: ColumnChoiceProps) {
  const chosen = columns.map(({ name }) => name);
  const toggle = (name: string, isShown: boolean) => {
    const next = isShown ? [...chosen, name] : chosen.filter((other) => other !== name);
    if (next.length > 0) change({ columns: next.join(',') });
  };
  return (
    <Dialog title="Columns" onClose={onClose}>
      <div class="columns-choice">
        {listChoices(layout, noun).map((name) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={(event) => toggle(name, event.currentTarget.checked)}
            />
            {titleColumn(layout, { name })}
          </label>
        ))}
      </div>
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
        <button type="button" onClick={() => change({ columns: null })}>
          The usual columns
        </button>
      </div>
    </Dialog>
  );
}
