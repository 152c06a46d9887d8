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

type Mode = 'none' | 'amount' | 'until';

const MODES: Readonly<Record<Mode, string>> = {
  none: 'Right after the step before',
  amount: 'For some time',
  until: 'Until a time of the day',
};

/** The inputs of a choice when it is made; those of the others are emptied. */
const INPUTS: Readonly<Record<Mode, readonly [amount: string, unit: string, until: string]>> = {
  none: ['', '', ''],
  amount: ['1', 'hours', ''],
  until: ['', '', '09:00'],
};

/** A wait is a time from now on, or lasts until a time of the day. */
export const WaitChoice = (props: GroupEditorProps) => (
  <WaitInputs {...props} legend="How long to wait" modes={['amount', 'until']} />
);

/** A new step may be done some time after the one before: a wait is then put before it. */
export const DelayChoice = (props: GroupEditorProps) => (
  <WaitInputs {...props} legend="Wait first" modes={['none', 'amount', 'until']} />
);

interface WaitInputsProps extends GroupEditorProps {
  legend: string;
  modes: readonly Mode[];
}

function findMode({ inputs, modes }: WaitInputsProps): Mode {
  if (inputs.wait_until !== '') return 'until';
  const isEmpty = inputs.wait_amount === '' && inputs.wait_unit === '';
  return isEmpty && modes.includes('none') ? 'none' : 'amount';
}

function WaitInputs(props: WaitInputsProps) {
  const { inputs, change, errors, disabled, legend, modes } = props;
  const mode = findMode(props);
  const choose = (next: Mode) => {
    const [amount, unit, until] = INPUTS[next];
    change('wait_amount', amount);
    change('wait_unit', unit);
    change('wait_until', until);
  };
  return (
    <>
      <fieldset class="choice" disabled={disabled}>
        <legend class="hidden">{legend}</legend>
        {modes.map((name) => (
          <label key={name}>
            <input type="radio" checked={mode === name} onChange={() => choose(name)} />
            {MODES[name]}
          </label>
        ))}
      </fieldset>
      {mode === 'until' && (
        <Field
          label="Until"
          type="time"
          hint="In the zone of the schedule, when it is that late next: today, if it is earlier now."
          error={joinFaults(errors, ['wait_until'])}
          disabled={disabled}
          value={inputs.wait_until as string}
          onInput={(event) => change('wait_until', event.currentTarget.value)}
        />
      )}
      {mode === 'amount' && <AmountInputs {...props} />}
    </>
  );
}

function AmountInputs({ inputs, change, errors, disabled, fields }: GroupEditorProps) {
  const { wait_amount: amount, wait_unit: unit } = inputs;
  return (
    <div class="fields" data-field="wait_amount">
      <Field
        label="Wait"
        inputMode="numeric"
        error={joinFaults(errors, ['wait_amount', 'wait_unit'])}
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
  );
}

function joinFaults(errors: GroupEditorProps['errors'], names: readonly string[]) {
  const faults = names.flatMap((name) => errors[name] ?? []);
  return faults.length === 0 ? undefined : faults.join('. ');
}
