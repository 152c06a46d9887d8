import { useState } from 'preact/hooks';
import type { FieldContract, NounContract } from '../../noun-contract';
import { useTitles } from '../form/combobox';
import { toLabel } from '../form/field';
import { dayTime, sentence, words } from '../format';
import { Field } from '../parts/basics';
import { LabeledReference } from '../parts/labeled-reference';
import { fromLocalInput, toLocalInput } from '../zone';
import type { TableLayout } from './columns';
import { PeriodChoice } from './period';

type Change = (changes: Readonly<Record<string, string | null>>) => void;

interface FilterBarProps {
  noun: NounContract;
  layout: TableLayout;
  names: readonly string[];
  filters: Readonly<Record<string, string>>;
  change: Change;
}

/** The filters in their groups: the usual ones have no title. Those of no group are the last. */
export function groupFilters(
  { usualFilters, filterGroups = {} }: TableLayout,
  names: readonly string[],
): { usual: readonly string[]; groups: [title: string, names: string[]][] } {
  if (!usualFilters) return { usual: names, groups: [] };
  const isShown = (name: string) => names.includes(name);
  const placed = [...usualFilters, ...Object.values(filterGroups).flat()];
  const groups: [string, string[]][] = [
    ...Object.entries(filterGroups).map(([title, group]): [string, string[]] => [
      title,
      group.filter(isShown),
    ]),
    ['Others', names.filter((name) => !placed.includes(name))],
  ];
  return {
    usual: usualFilters.filter(isShown),
    groups: groups.filter(([, group]) => group.length > 0),
  };
}

/** An input for each filter of the API: the usual ones, and the others in groups. */
export function FilterBar({ noun, layout, names, filters, change }: FilterBarProps) {
  const { usual, groups } = groupFilters(layout, names);
  const inputs = (group: readonly string[]) =>
    group.map((name) => (
      <FilterInput
        key={name}
        name={name}
        label={layout.labels?.[name] ?? toLabel(name)}
        field={noun.filters[name]!}
        value={filters[name] ?? ''}
        onChange={(value) => change({ [name]: value === '' ? null : value })}
      />
    ));
  return (
    <div class="filters" role="group" aria-label="Filters">
      {'created_at_from' in noun.filters && <PeriodChoice filters={filters} change={change} />}
      {inputs(usual)}
      {groups.length > 0 && (
        <details
          class="more"
          open={groups.some(([, group]) => group.some((name) => name in filters))}
        >
          <summary>More filters</summary>
          {groups.map(([title, group]) => (
            <fieldset key={title}>
              <legend>{title}</legend>
              {inputs(group)}
            </fieldset>
          ))}
        </details>
      )}
    </div>
  );
}

interface FilterInputProps {
  name: string;
  label: string;
  field: FieldContract;
  value: string;
  onChange: (value: string) => void;
}

function FilterInput({ name, label, field, value, onChange }: FilterInputProps) {
  const id = `filter-${name}`;
  if (field.reference)
    return (
      <LabeledReference
        label={label}
        noun={field.reference}
        none="Any"
        value={value}
        onChange={onChange}
      />
    );
  const choices = field.type === 'boolean' ? ['true', 'false'] : field.enum;
  if (choices)
    return (
      <div class="field">
        <label for={id}>{label}</label>
        <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">Any</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {BOOLEANS[choice] ?? words(choice)}
            </option>
          ))}
        </select>
      </div>
    );
  return <TypedFilter name={name} label={label} field={field} value={value} onChange={onChange} />;
}

const BOOLEANS: Readonly<Record<string, string>> = { true: 'yes', false: 'no' };

/** Applied when it is left or Enter is pressed: each change asks the server. */
function TypedFilter({ label, field, value, onChange }: FilterInputProps) {
  const isTime = field.format === 'date-time';
  const shown = isTime && value !== '' ? toLocalInput(new Date(value)) : value;
  const [typed, setTyped] = useState<string>();
  const apply = () => {
    if (typed !== undefined && typed !== shown)
      onChange(isTime && typed !== '' ? fromLocalInput(typed).toISOString() : typed.trim());
    setTyped(undefined);
  };
  return (
    <Field
      label={label}
      type={isTime ? 'datetime-local' : 'text'}
      autocomplete="off"
      value={typed ?? shown}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply();
      }}
    />
  );
}

/** As the inputs of a period say it. */
const PERIOD_LABELS: Readonly<Record<string, string>> = {
  created_at_from: 'From',
  created_at_to: 'Until',
};

/** The filters that are set, as chips that can be taken away. */
export function FilterChips({ noun, layout, filters, change }: Omit<FilterBarProps, 'names'>) {
  const entries = Object.entries(filters);
  if (entries.length === 0) return null;
  return (
    <ul class="chips" aria-label="Set filters">
      {entries.map(([name, value]) => (
        <FilterChip
          key={name}
          label={layout.labels?.[name] ?? PERIOD_LABELS[name] ?? toLabel(name)}
          field={noun.filters[name]!}
          value={value}
          remove={() => change({ [name]: null })}
        />
      ))}
    </ul>
  );
}

interface FilterChipProps {
  label: string;
  field: FieldContract;
  value: string;
  remove: () => void;
}

function FilterChip({ label, field, value, remove }: FilterChipProps) {
  const { reference } = field;
  const titles = useTitles(reference ?? '', reference ? [value] : []);
  return (
    <li class="chip">
      {label}: {titles.get(value) ?? formatFilter(field, value)}
      <button type="button" aria-label={`Remove the filter ${label}`} onClick={remove}>
        ×
      </button>
    </li>
  );
}

function formatFilter(field: FieldContract, value: string): string {
  if (field.format === 'date-time') return dayTime(value);
  if (field.type === 'boolean') return BOOLEANS[value] ?? value;
  return field.enum ? sentence(value) : value;
}
