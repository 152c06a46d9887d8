import { count, dayTime } from '../../format';
import { useEvery } from '../../loading';
import type { PanelProps } from '../../nouns/layout';
import { Facts, Panel } from '../../parts/basics';

const REFRESH_MS = 10_000;

/** How a trunk does now: calls through it, and why it is avoided if it is. */
export function TrunkState({ record, reload }: PanelProps) {
  useEvery(REFRESH_MS, () => void reload());
  const limit = record.max_calls === null ? '' : ` of ${count(record.max_calls as number)}`;
  return (
    <Panel title="State">
      {record.down_until !== null && (
        <p class="notice bad">
          Calls avoid it until {dayTime(record.down_until as string)}: {String(record.last_fault)}
        </p>
      )}
      <Facts
        facts={[
          ['Calls through it', `${count(record.calls_in_use as number)}${limit}`],
          ['Faults in a row', count(record.faults as number)],
          ['Last fault', record.last_fault as string | null],
        ]}
      />
    </Panel>
  );
}
