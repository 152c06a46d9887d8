import { Field } from '../../parts/basics';
import type { EditorProps, GroupEditorProps } from '../../nouns/layout';
import { ACTION_TITLES, type ActionType } from './steps';

// Inputs of a step that choose what its other inputs are.

/** The kind of a step, in words. */
export function KindChoice({ id, field, value, onChange, disabled }: EditorProps) {
  return (
    <select
      id={id}
      disabled={disabled}
      value={value as string}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {(field.enum ?? []).map((name) => (
        <option key={name} value={name}>
          {ACTION_TITLES[name as ActionType] ?? name}
        </option>
      ))}
    </select>
  );
}

/** A wait is a time from now on, or lasts until a time of the day. */
export function WaitChoice({ inputs, change, errors, disabled, fields }: GroupEditorProps) {
  const { wait_amount: amount, wait_unit: unit, wait_until: until } = inputs;
  const isUntil = until !== '';
  const choose = (isTimeOfDay: boolean) => {
    change('wait_until', isTimeOfDay ? '09:00' : '');
    change('wait_amount', isTimeOfDay ? '' : '1');
    change('wait_unit', isTimeOfDay ? '' : 'hours');
  };
  const faultOf = (...names: string[]) => {
    const faults = names.flatMap((name) => errors[name] ?? []);
    return faults.length === 0 ? undefined : faults.join('. ');
  };
  return (
    <>
      <fieldset class="choice" disabled={disabled}>
        <legend class="hidden">How long to wait</legend>
        <label>
          <input type="radio" checked={!isUntil} onChange={() => choose(false)} />
          For some time
        </label>
        <label>
          <input type="radio" checked={isUntil} onChange={() => choose(true)} />
          Until a time of the day
        </label>
      </fieldset>
      {isUntil ? (
        <Field
          label="Until"
          type="time"
          hint="In the zone of the schedule, when it is that late next: today, if it is earlier now."
          error={faultOf('wait_until')}
          disabled={disabled}
          value={until as string}
          onInput={(event) => change('wait_until', event.currentTarget.value)}
        />
      ) : (
        <div class="fields" data-field="wait_amount">
          <Field
            label="Wait"
            inputMode="numeric"
            error={faultOf('wait_amount', 'wait_unit')}
            disabled={disabled}
            value={amount as string}
            onInput={(event) => {
              change('wait_amount', event.currentTarget.value);
              if (unit === '') change('wait_unit', 'hours');
            }}
          />
          <div class="field">
            <label for="wait-unit">Unit</label>
            <select
              id="wait-unit"
              disabled={disabled}
              value={unit === '' ? 'hours' : (unit as string)}
              onChange={(event) => change('wait_unit', event.currentTarget.value)}
            >
              {(fields.wait_unit?.enum ?? []).map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </div>
        </div>
      )}
    </>
  );
}
