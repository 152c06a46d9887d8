import { Field } from '../../parts/basics';
import { LabeledReference } from '../../parts/labeled-reference';
import { Select } from '../../parts/select';
import { PeriodChoice } from '../../table/period';
import { useSession } from '../../session';
import type { Figure } from './figures';
import { listGroups, type GroupName } from './groups';
import type { RecordFilter, ReportState } from './state';

interface ControlsProps {
  state: ReportState;
  shown: readonly Figure[];
  change: (changes: Readonly<Record<string, string | null>>) => void;
}

const DIRECTIONS = { inbound: 'Incoming', outbound: 'Outgoing', all: 'Both' };
const GROUP_LABELS = ['Group by', 'then by', 'and by'];
const MAX_GROUPS = GROUP_LABELS.length;
const RECORDS = [
  { name: 'buyer_id', label: 'Only the buyer', noun: 'buyers' },
  { name: 'offer_id', label: 'Only the offer', noun: 'offers' },
  { name: 'traffic_source_id', label: 'Only the source', noun: 'traffic_sources' },
] as const satisfies readonly { name: RecordFilter; label: string; noun: string }[];

/** All that a report depends on. */
export function Controls({ state, shown, change }: ControlsProps) {
  const { may } = useSession();
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
      {RECORDS.filter(({ noun }) => may(`${noun}:read`)).map(({ name, label, noun }) => (
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
        choices={Object.fromEntries(shown.map(({ name, title }) => [name, title]))}
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

function GroupChoice({ state: { groups, tokenKey }, change }: Omit<ControlsProps, 'shown'>) {
  const titles = listGroups(useSession());
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
          choices={{ ...(index > 0 && { '': 'Nothing' }), ...leaveOut(titles, groups, group) }}
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
const leaveOut = (
  titles: Partial<Record<GroupName, string>>,
  chosen: readonly GroupName[],
  own: string,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(titles).filter(([name]) => name === own || !chosen.includes(name as GroupName)),
  );
