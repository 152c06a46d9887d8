import { useState } from 'preact/hooks';
import { useAction, useKeptTag } from '../loading';
import { Done, Field, Panel, Problem } from '../parts/basics';
import { DAYS, toEntries, openIn, formatTimes, toWeek } from '../parts/week';
import type { FormProps } from './buyer-form';

export function HoursForm({ buyer, tag, save, reload }: FormProps) {
  const entries = buyer.business_hours_schedule ?? [];
  const shown = toWeek(entries).map(formatTimes);
  const [changed, setChanged] = useState<Record<number, string>>({});
  const keptTag = useKeptTag(tag, Object.keys(changed).length > 0);
  const { run, is_busy, error, done } = useAction(async () => {
    const week = DAYS.map((day, n) => openIn(changed[n] ?? shown[n]!, day));
    await save({ business_hours_schedule: toEntries(week, entries[0]) }, keptTag);
    setChanged({});
    return 'Saved.';
  });
  const reset = () => {
    setChanged({});
    reload();
  };
  if (entries.length > 1)
    return (
      <Panel title="Edit hours">
        <p class="quiet">Its hours have limits of their own: change them with the API.</p>
      </Panel>
    );
  return (
    <Panel title="Edit hours">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <Days
          shown={DAYS.map((_, n) => changed[n] ?? shown[n]!)}
          change={(n, text) => setChanged((before) => ({ ...before, [n]: text }))}
        />
        <p class="quiet">Such as 09:00–12:00, 13:00–17:30. Without any, it is always open.</p>
        <Problem error={error} onReload={reset} />
        <Done text={done} />
        <button class="primary" disabled={is_busy || Object.keys(changed).length === 0}>
          Save hours
        </button>
      </form>
    </Panel>
  );
}

interface DaysProps {
  shown: readonly string[];
  change: (day: number, text: string) => void;
}

const Days = ({ shown, change }: DaysProps) => (
  <div class="fields">
    {DAYS.map((day, n) => (
      <Field
        key={day}
        label={day}
        name={`hours_${day.toLowerCase()}`}
        placeholder="closed"
        value={shown[n]}
        onInput={(event) => change(n, event.currentTarget.value)}
      />
    ))}
  </div>
);
