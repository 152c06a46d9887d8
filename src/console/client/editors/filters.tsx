import { ReferenceSearch } from '../form/combobox';
import { nameToken } from '../parts/decision-words';
import type { EditorProps } from '../nouns/layout';
import {
  FACTS,
  OPERATORS,
  parseFilter,
  printFilter,
  type Operator,
  type TokenFilter,
} from './filter-text';

const FACTS_ID = 'filter-facts';

/** Token filters: all of them must match. A filter with other parts stays a text. */
export function Filters({ id, label, value, onChange, disabled }: EditorProps) {
  const filters = (value ?? []) as string[];
  const changeAt = (index: number, text: string) => onChange(filters.with(index, text));
  return (
    <div class="structure" role="group" aria-label={label} id={id}>
      <datalist id={FACTS_ID}>
        {FACTS.map((name) => (
          <option key={name} value={name} label={nameToken(name)} />
        ))}
      </datalist>
      <ul class="rows">
        {filters.map((text, index) => (
          <li key={index}>
            <FilterRow
              label={`Filter ${index + 1}`}
              text={text}
              disabled={disabled}
              onChange={(changed) => changeAt(index, changed)}
            />
            <button
              type="button"
              disabled={disabled}
              aria-label={`Remove filter ${index + 1}`}
              onClick={() => onChange(filters.filter((_, other) => other !== index))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      {!disabled && (
        <button type="button" onClick={() => onChange([...filters, NEW_FILTER])}>
          Add a filter
        </button>
      )}
    </div>
  );
}

const NEW_FILTER = 'geo_state:in ';

interface FilterRowProps {
  label: string;
  text: string;
  onChange: (text: string) => void;
  disabled: boolean;
}

function FilterRow({ label, text, onChange, disabled }: FilterRowProps) {
  const filter = parseFilter(text);
  if (!filter)
    return (
      <input
        aria-label={label}
        disabled={disabled}
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    );
  const change = (changes: Partial<TokenFilter>) =>
    onChange(printFilter({ ...filter, ...changes }));
  return (
    <>
      <input
        aria-label={`${label}: token`}
        list={FACTS_ID}
        disabled={disabled}
        value={filter.name}
        onInput={(event) => change({ name: toName(event.currentTarget.value) })}
      />
      <select
        aria-label={`${label}: comparison`}
        disabled={disabled}
        value={filter.operator}
        onChange={(event) => change({ operator: event.currentTarget.value as Operator })}
      >
        {OPERATORS.map(([operator, words]) => (
          <option key={operator} value={operator}>
            {words}
          </option>
        ))}
      </select>
      {filter.operator.endsWith('in_list') ? (
        <ReferenceSearch
          label={`${label}: value list`}
          noun="value_lists"
          shown={filter.value}
          disabled={disabled}
          onChoose={({ title }) => change({ value: title })}
        />
      ) : (
        <input
          aria-label={`${label}: value`}
          disabled={disabled}
          placeholder={filter.operator.endsWith('in') ? 'CA,NV' : ''}
          value={filter.value}
          onInput={(event) => change({ value: event.currentTarget.value })}
        />
      )}
    </>
  );
}

/** Names of tokens are in lower case; a space becomes an underscore. */
const toName = (typed: string): string =>
  typed
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '_')
    .replace(/^$/, '_');
