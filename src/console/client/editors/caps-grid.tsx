import { count, dollars } from '../format';
import type { GroupEditorProps } from '../nouns/layout';
import { isMoney, METRIC_NAMES } from '../parts/caps';

// Caps as a grid of metrics and windows; its columns are the flat names of the API.

const METRICS = Object.entries(METRIC_NAMES);
const WINDOWS = [
  ['hourly', 'in an hour'],
  ['daily', 'in a day'],
  ['monthly', 'in a month'],
  ['total', 'in all'],
] as const;
/** When a call counts, which the names alone do not say. */
const METRIC_HELP: Readonly<Record<keyof typeof METRIC_NAMES, string>> = {
  attempt: 'each time a buyer is dialed, answered or not',
  connection: 'answered by a buyer, paid or not',
  buyer_conversion: 'conversions: calls that a buyer pays for',
  revenue: 'what buyers pay for the calls',
  earned_revenue: 'revenue, less what sources are paid',
};
const AT_ONCE = ['concurrency_cap', 'concurrency_cap_limit'] as const;

/** The labels of the fields, which the save bar and notes call them by. */
export const CAP_LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(AT_ONCE.map((name) => [name, 'Calls at once'])),
  ...Object.fromEntries(
    METRICS.flatMap(([metric, title]) =>
      WINDOWS.map(([window, windowTitle]) => [
        `${metric}_${window}_limit`,
        `${title} ${windowTitle}`,
      ]),
    ),
  ),
};

/** All fields that a noun with caps may have; a layout names those of its own. */
export const CAP_FIELDS: readonly string[] = [
  ...AT_ONCE,
  ...METRICS.flatMap(([metric]) => WINDOWS.map(([window]) => `${metric}_${window}_limit`)),
];

/** The caps of a record, each next to what is used of it. An empty limit is none. */
export function CapsGrid(props: GroupEditorProps) {
  const { fields } = props;
  const windows = WINDOWS.filter(([window]) =>
    METRICS.some(([metric]) => fields[`${metric}_${window}_limit`]),
  );
  const metrics = METRICS.filter(([metric]) =>
    windows.some(([window]) => fields[`${metric}_${window}_limit`]),
  );
  const atOnce = AT_ONCE.find((name) => fields[name]);
  return (
    <div class="scroll" role="region" aria-label="Caps" tabIndex={0}>
      {atOnce && (
        <p class="at-once">
          <Cell {...props} name={atOnce} used="concurrency_cap_used" isLabelled />
          <small class="quiet"> (ringing or under way)</small>
        </p>
      )}
      <table class="caps">
        <caption class="hidden">Limits, with what is used of them</caption>
        <thead>
          <tr>
            <th scope="col">At most</th>
            {windows.map(([window, title]) => (
              <th key={window} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {metrics.map(([metric, title]) => (
            <tr key={metric}>
              <th scope="row">
                {title}
                {isMoney(metric) && ', $'}
                <small class="quiet">{METRIC_HELP[metric as keyof typeof METRIC_NAMES]}</small>
              </th>
              {windows.map(([window]) => (
                <td key={window}>
                  <Cell
                    {...props}
                    name={`${metric}_${window}_limit`}
                    used={`${metric}_${window}_used`}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps extends GroupEditorProps {
  name: string;
  /** The column with what is used. */
  used: string;
  isLabelled?: boolean;
}

function Cell({ name, used, isLabelled, ...props }: CellProps) {
  const { fields, inputs, errors, change, disabled, record } = props;
  if (!fields[name]) return null;
  const usedValue = record[used];
  const format = isMoney(name) ? dollars : count;
  const faults = errors[name] ?? [];
  return (
    <label class="cap" data-field={name}>
      <span class={isLabelled ? '' : 'hidden'}>{CAP_LABELS[name]}</span>
      <input
        inputMode="decimal"
        autocomplete="off"
        placeholder="no limit"
        disabled={disabled}
        aria-invalid={faults.length > 0}
        value={String(inputs[name] ?? '')}
        onInput={(event) => change(name, event.currentTarget.value)}
      />
      {typeof usedValue === 'number' && record.id !== undefined && (
        <small class="quiet">{format(usedValue)} used</small>
      )}
      {faults.length > 0 && <small class="error">{faults.join('. ')}</small>}
    </label>
  );
}
