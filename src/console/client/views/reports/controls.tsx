import { LabeledReference } from '../../parts/labeled-reference';
import { Field } from '../../parts/basics';
import { Select } from '../../parts/select';
import { PeriodChoice } from '../../table/period';
import { FIGURES } from './figures';
import { GROUPS, type GroupName } from './groups';
import type { RecordFilter, ReportState } from './state';

interface ControlsProps {
  state: ReportState;
  change: (changes: Readonly<Record<string, string | null>>) => void;
}

const DIRECTIONS = { inbound: 'Incoming', outbound: 'Outgoing', all: 'Both' };
const GROUP_LABELS = ['Group by', 'then by', 'and by'];
const MAX_GROUPS = GROUP_LABELS.length;
const FIGURE_TITLES = Object.fromEntries(FIGURES.map(({ name, title }) => [name, title]));
const RECORDS: readonly { name: RecordFilter; label: string; noun: string }[] = [
  { name: 'buyer_id', label: 'Only the buyer', noun: 'buyers' },
  { name: 'offer_id', label: 'Only the offer', noun: 'offers' },
  { name: 'traffic_source_id', label: 'Only the source', noun: 'traffic_sources' },
];

/** All that a report depends on. */
export function Controls({ state, change }: ControlsProps) {
  const { filters, isCompared, figure } = state;
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <PeriodChoice filters={filters} change={change} zone={filters.time_zone} isRequired />
      <GroupChoice state={state} change={change} />
      <Select
        label="Calls"
        choices={DIRECTIONS}
        value={filters.call_category ?? 'all'}
        onChange={(value) => change({ call_category: value })}
      />
      {RECORDS.map(({ name, label, noun }) => (
        <LabeledReference
          key={name}
          label={label}
          noun={noun}
          value={filters[name] ?? ''}
          onChange={(id) => change({ [name]: id })}
        />
      ))}
      <Select
        label="Chart"
        choices={FIGURE_TITLES}
        value={figure}
        onChange={(value) => change({ figure: value })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isCompared}
          onChange={(event) => change({ compare: event.currentTarget.checked ? 'true' : null })}
        />
        Compare with the period before
      </label>
    </form>
  );
}

function GroupChoice({ state: { groups, tokenKey }, change }: ControlsProps) {
  const set = (index: number, name: string) => {
    const next = [...groups.slice(0, index), name, ...groups.slice(index + 1)];
    change({ group_by: next.filter((group) => group !== '').join(','), order: null, dir: null });
  };
  return (
    <>
      {[...groups, ''].slice(0, MAX_GROUPS).map((group, index) => (
        <Select
          key={index}
          label={GROUP_LABELS[index]!}
          choices={{ ...(index > 0 && { '': 'Nothing' }), ...leaveOut(groups, group) }}
          value={group}
          onChange={(name) => set(index, name)}
        />
      ))}
      {groups.includes('token') && (
        <Field
          label="Name of the token"
          value={tokenKey}
          onChange={(event) => change({ token_key: event.currentTarget.value.trim() })}
        />
      )}
    </>
  );
}

/** The groups that are not chosen elsewhere. */
const leaveOut = (chosen: readonly GroupName[], own: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(GROUPS).filter(([name]) => name === own || !chosen.includes(name as GroupName)),
  );
