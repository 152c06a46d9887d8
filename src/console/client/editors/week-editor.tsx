import { useRef, useState } from 'preact/hooks';
import { METRIC_NAMES } from '../parts/caps';
import type { FieldContract } from '../../noun-contract';
import type { EditorProps } from '../nouns/layout';
import {
  clock,
  copyDay,
  DAY_MINUTES,
  DAYS,
  drawWeek,
  paintTimes,
  SHOWN_DAYS,
  timesOn,
  withTimes,
  type Open,
  type Week,
} from './hours';
import { NestedField } from '../form/field';
import { TypedTimes } from './times-input';

type Entry = Readonly<Record<string, unknown>> & { schedule?: Week };

/** Opening hours: one week, or several with limits of their own, the first open one applying. */
export function WeekEditor(props: EditorProps) {
  const limits = Object.keys(props.field.items?.fields ?? {});
  if (!limits.includes('schedule'))
    return (
      <WeekInput
        label={props.label}
        id={props.id}
        week={(props.value ?? []) as Week}
        onChange={props.onChange}
        disabled={props.disabled}
      />
    );
  return <Entries {...props} />;
}

const EMPTY: Entry = { schedule: [] };

function Entries({ id, label, field, value, onChange, disabled }: EditorProps) {
  const entries = (value ?? []) as Entry[];
  const [chosen, setChosen] = useState(0);
  const index = Math.min(chosen, Math.max(entries.length - 1, 0));
  const entry = entries[index] ?? EMPTY;
  const limits = Object.entries(field.items?.fields ?? {}).filter(([name]) => name !== 'schedule');
  const change = (changes: Entry) => {
    const changed = { ...entry, ...changes };
    const next = entries.length === 0 ? [changed] : entries.with(index, changed);
    onChange(next.length === 1 && isEmpty(changed) ? [] : next);
  };
  return (
    <>
      {entries.length > 1 && (
        <div class="tabs" role="group" aria-label={`${label}: which hours`}>
          {entries.map((_, other) => (
            <button
              key={other}
              type="button"
              aria-pressed={other === index}
              onClick={() => setChosen(other)}
            >
              Hours {other + 1}
            </button>
          ))}
        </div>
      )}
      <WeekInput
        key={index}
        id={id}
        label={label}
        week={entry.schedule ?? []}
        onChange={(schedule) => change({ schedule })}
        disabled={disabled}
      />
      <HourLimits
        key={`limits ${index}`}
        limits={limits}
        entry={entry}
        change={change}
        disabled={disabled}
      />
      {!disabled && (
        <div class="actions">
          <button
            type="button"
            onClick={() => {
              onChange([...(entries.length === 0 ? [EMPTY] : entries), { schedule: [] }]);
              setChosen(Math.max(entries.length, 1));
            }}
          >
            Add hours with other limits
          </button>
          {entries.length > 1 && (
            <button
              type="button"
              onClick={() => onChange(entries.filter((_, other) => other !== index))}
            >
              Remove hours {index + 1}
            </button>
          )}
        </div>
      )}
    </>
  );
}

interface HourLimitsProps {
  limits: readonly (readonly [string, FieldContract])[];
  entry: Entry;
  change: (changes: Entry) => void;
  disabled: boolean;
}

function HourLimits({ limits, entry, change, disabled }: HourLimitsProps) {
  if (limits.length === 0) return null;
  return (
    <details>
      <summary>Limits in an hour, while these hours apply</summary>
      <div class="group-fields">
        {limits.map(([name, limit]) => (
          <NestedField
            key={name}
            name={name}
            field={limit}
            layout={{ help: '' }}
            label={nameLimit(name)}
            value={entry[name]}
            disabled={disabled}
            onChange={(limitValue) => change({ [name]: limitValue })}
          />
        ))}
      </div>
    </details>
  );
}

const nameLimit = (name: string): string =>
  METRIC_NAMES[name.replace(/_hourly_limit$/, '') as keyof typeof METRIC_NAMES];

const isEmpty = ({ schedule = [], ...limits }: Entry): boolean =>
  schedule.length === 0 && Object.values(limits).every((limit) => limit === null);

interface WeekInputProps {
  id?: string;
  label: string;
  week: Week;
  onChange: (week: Week) => void;
  disabled: boolean;
}

const WORKDAYS = [1, 2, 3, 4, 5];
const OFFICE_HOURS = '09:00..16:59';

/** A week to type, with a drawing of it that the mouse changes. */
export function WeekInput({ id, label, week, onChange, disabled }: WeekInputProps) {
  return (
    <div class="week-editor" role="group" aria-label={label} id={id}>
      {week.length === 0 && <p>Always open. Type or draw hours to limit them.</p>}
      <div class="week-hours" aria-hidden="true">
        {[0, 6, 12, 18, 24].map((hour) => (
          <span key={hour}>{hour}:00</span>
        ))}
      </div>
      {SHOWN_DAYS.map((day) => (
        <DayRow key={day} day={day} week={week} onChange={onChange} disabled={disabled} />
      ))}
      {!disabled && (
        <div class="actions">
          <button
            type="button"
            onClick={() => onChange(copyDay([{ day: 1, times: [OFFICE_HOURS] }], 1, WORKDAYS))}
          >
            Mon–Fri 9 to 5
          </button>
          <button type="button" onClick={() => onChange(copyDay(week, 1, WORKDAYS))}>
            Copy Monday to Tue–Fri
          </button>
          <button type="button" onClick={() => onChange([])}>
            Always open
          </button>
        </div>
      )}
    </div>
  );
}

interface DayRowProps {
  day: number;
  week: Week;
  onChange: (week: Week) => void;
  disabled: boolean;
}

function DayRow({ day, week, onChange, disabled }: DayRowProps) {
  const name = DAYS[day]!;
  return (
    <div class="week-day">
      <span class="week-name">{name}</span>
      <DayDrawing day={day} week={week} onChange={onChange} disabled={disabled} />
      <TypedTimes
        aria-label={name}
        disabled={disabled}
        placeholder={week.length === 0 ? 'open' : 'closed'}
        times={timesOn(week, day)}
        onChange={(times) => onChange(withTimes(week, day, times))}
      />
    </div>
  );
}

/** A stroke sets whole steps. */
const STEP_MINUTES = 30;
const STEPS = DAY_MINUTES / STEP_MINUTES;

interface Stroke {
  first: number;
  last: number;
  isOpening: boolean;
}

const toOpen = ({ first, last }: Stroke): Open => ({
  from: Math.min(first, last) * STEP_MINUTES,
  to: (Math.max(first, last) + 1) * STEP_MINUTES,
});

/** Drawn for the eye and the mouse; the keyboard has the text next to it. */
function DayDrawing({ day, week, onChange, disabled }: DayRowProps) {
  const box = useRef<SVGSVGElement>(null);
  const [stroke, setStroke] = useState<Stroke>();
  const drawn = drawWeek(week)[day]!;
  const isAlways = week.length === 0;
  const stepAt = ({ clientX }: PointerEvent): number => {
    const { left, width } = box.current!.getBoundingClientRect();
    const step = Math.floor(((clientX - left) / width) * STEPS);
    return Math.min(Math.max(step, 0), STEPS - 1);
  };
  const begin = (event: PointerEvent) => {
    if (disabled) return;
    box.current!.setPointerCapture(event.pointerId);
    const step = stepAt(event);
    const middle = (step + 0.5) * STEP_MINUTES;
    const isOpen = drawn.own.some(({ from, to }) => from <= middle && middle < to);
    setStroke({ first: step, last: step, isOpening: !isOpen });
  };
  const end = () => {
    if (stroke)
      onChange(
        withTimes(week, day, paintTimes(timesOn(week, day), toOpen(stroke), stroke.isOpening)),
      );
    setStroke(undefined);
  };
  return (
    <svg
      ref={box}
      class="week-drawing"
      viewBox={`0 0 ${DAY_MINUTES} 20`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onPointerDown={begin}
      onPointerMove={(event) => stroke && setStroke({ ...stroke, last: stepAt(event) })}
      onPointerUp={end}
      onPointerCancel={() => setStroke(undefined)}
    >
      <title>
        {DAYS[day]} {stroke ? `${clock(toOpen(stroke).from)}–${clock(toOpen(stroke).to)}` : ''}
      </title>
      <rect class={isAlways ? 'always' : 'closed'} width={DAY_MINUTES} height="20" />
      {drawn.before.map((range) => (
        <Range key={range.to} range={range} kind="before" />
      ))}
      {drawn.own.map((range) => (
        <Range key={range.from} range={range} kind="open" />
      ))}
      {stroke && <Range range={toOpen(stroke)} kind={stroke.isOpening ? 'opening' : 'closing'} />}
      {[6, 12, 18].map((hour) => (
        <line key={hour} x1={hour * 60} x2={hour * 60} y1="0" y2="20" />
      ))}
    </svg>
  );
}

const Range = ({ range: { from, to }, kind }: { range: Open; kind: string }) => (
  <rect class={kind} x={from} width={to - from} height="20" />
);
