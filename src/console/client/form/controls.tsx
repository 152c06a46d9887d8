import type { ComponentChild } from 'preact';
import { useState } from 'preact/hooks';
import { words } from '../format';
import type { EditorProps } from '../nouns/layout';
import { ReferenceInput, ReferencesInput } from './combobox';
import { pickControl, type Control } from './model';
import { ZoneInput } from './zones';

// One input for each kind of field. Their labels, help and faults are around them (field.tsx).

interface ControlProps extends EditorProps {
  describedBy: string | undefined;
  placeholder?: string | undefined;
}

/** The input of a field. */
export function ControlFor(props: ControlProps) {
  const Input = CONTROLS[pickControl(props.field)];
  return <Input {...props} />;
}

const attributes = ({ id, errors, disabled, describedBy }: ControlProps) => ({
  id,
  disabled,
  'aria-invalid': errors.length > 0,
  'aria-describedby': describedBy,
});

function TextInput(props: ControlProps) {
  const { field, value, onChange, placeholder } = props;
  const isNumber = ['number', 'money'].includes(pickControl(field));
  return (
    <input
      {...attributes(props)}
      type={TYPES[field.format ?? ''] ?? 'text'}
      inputMode={isNumber ? 'decimal' : undefined}
      autocomplete="off"
      required={field.required}
      placeholder={placeholder}
      value={value as string}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** Numbers are typed as text: the browser hides what it cannot read in its own number fields. */
const TYPES: Readonly<Record<string, string>> = {
  email: 'email',
  telephone: 'tel',
  date: 'date',
};

const LongText = (props: ControlProps) => (
  <textarea
    {...attributes(props)}
    rows={4}
    maxLength={props.field.max_length}
    placeholder={props.placeholder}
    value={props.value as string}
    onInput={(event) => props.onChange(event.currentTarget.value)}
  />
);

const MoneyInput = (props: ControlProps) => (
  <span class="with-unit">
    <span aria-hidden="true">$</span>
    <TextInput {...props} />
  </span>
);

const Switch = (props: ControlProps) => (
  <span class="switch">
    <input
      {...attributes(props)}
      type="checkbox"
      role="switch"
      checked={props.value === true}
      onChange={(event) => props.onChange(event.currentTarget.checked)}
    />
    <span aria-hidden="true">{props.value === true ? 'Yes' : 'No'}</span>
  </span>
);

const Choice = (props: ControlProps) => (
  <select
    {...attributes(props)}
    value={props.value as string}
    onChange={(event) => props.onChange(event.currentTarget.value)}
  >
    {(props.field.nullable || props.value === '') && <option value="">–</option>}
    {(props.field.enum ?? [])
      .filter((name) => name !== '')
      .map((name) => (
        <option key={name} value={name}>
          {words(name)}
        </option>
      ))}
  </select>
);

const DateTime = (props: ControlProps) => (
  <input
    {...attributes(props)}
    type="datetime-local"
    value={props.value as string}
    onInput={(event) => props.onChange(event.currentTarget.value)}
  />
);

const TimeZone = (props: ControlProps) => (
  <ZoneInput
    {...attributes(props)}
    value={props.value as string}
    onInput={(event) => props.onChange(event.currentTarget.value)}
  />
);

const Reference = (props: ControlProps) => (
  <ReferenceInput
    {...toReferenceProps(props)}
    noun={props.field.reference!}
    value={props.value as string}
  />
);

const References = (props: ControlProps) => (
  <ReferencesInput
    {...toReferenceProps(props)}
    noun={(props.field.reference ?? props.field.items?.reference)!}
    value={props.value as string[]}
  />
);

const toReferenceProps = ({ id, disabled, errors, onChange, describedBy }: ControlProps) => ({
  id,
  disabled,
  invalid: errors.length > 0,
  describedBy,
  onChange,
});

/** Several texts, as chips; Enter or a comma adds one, and a pasted list adds all of it. */
export function Texts(props: ControlProps) {
  const [typed, setTyped] = useState('');
  const texts = props.value as string[];
  const add = (text: string) => {
    const added = text.split(/[\s,;]+/).filter((part) => part !== '' && !texts.includes(part));
    if (added.length > 0) props.onChange([...texts, ...added]);
    setTyped('');
  };
  return (
    <>
      <ul class="chips">
        {texts.map((text) => (
          <li key={text} class="chip">
            {text}
            <button
              type="button"
              disabled={props.disabled}
              aria-label={`Remove ${text}`}
              onClick={() => props.onChange(texts.filter((other) => other !== text))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <input
        {...attributes(props)}
        autocomplete="off"
        placeholder={props.placeholder ?? 'Add, then Enter'}
        value={typed}
        onInput={(event) => {
          const { value } = event.currentTarget;
          if (/[\s,;]/.test(value)) add(value);
          else setTyped(value);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || typed === '') return;
          event.preventDefault();
          add(typed);
        }}
        onBlur={() => add(typed)}
      />
    </>
  );
}

/** Several values of a closed list. */
const Choices = (props: ControlProps) => {
  const chosen = props.value as string[];
  return (
    <div class="choices" role="group" aria-label={props.label} id={props.id}>
      {(props.field.items?.enum ?? []).map((name) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            disabled={props.disabled}
            checked={chosen.includes(name)}
            onChange={(event) =>
              props.onChange(
                event.currentTarget.checked
                  ? [...chosen, name]
                  : chosen.filter((other) => other !== name),
              )
            }
          />
          {words(name)}
        </label>
      ))}
    </div>
  );
};

type Pair = [name: string, value: string];

/** Names with values, as headers are. */
export function Pairs(props: ControlProps) {
  const [rows, setRows] = useState<Pair[]>(() =>
    Object.entries((props.value ?? {}) as Record<string, string>),
  );
  const change = (next: Pair[]) => {
    setRows(next);
    const complete = next.filter(([name]) => name.trim() !== '');
    props.onChange(complete.length === 0 ? null : Object.fromEntries(complete));
  };
  const changeAt = (index: number, pair: Pair) =>
    change(rows.map((row, other) => (other === index ? pair : row)));
  return (
    <div role="group" aria-label={props.label} id={props.id}>
      <ul class="rows">
        {rows.map(([name, value], index) => (
          <li key={index}>
            <input
              aria-label={`${props.label}: name ${index + 1}`}
              disabled={props.disabled}
              value={name}
              onInput={(event) => changeAt(index, [event.currentTarget.value, value])}
            />
            <input
              aria-label={`${props.label}: value ${index + 1}`}
              disabled={props.disabled}
              value={value}
              onInput={(event) => changeAt(index, [name, event.currentTarget.value])}
            />
            <button
              type="button"
              disabled={props.disabled}
              aria-label={`Remove ${name}`}
              onClick={() => change(rows.filter((_, other) => other !== index))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <button type="button" disabled={props.disabled} onClick={() => setRows([...rows, ['', '']])}>
        Add
      </button>
    </div>
  );
}

/** Values whose shape the contract leaves open, as JSON. */
function Raw(props: ControlProps) {
  const [text, setText] = useState(() =>
    props.value === null ? '' : JSON.stringify(props.value, null, 2),
  );
  const [fault, setFault] = useState<string>();
  const change = (typed: string) => {
    setText(typed);
    try {
      props.onChange(typed.trim() === '' ? null : (JSON.parse(typed) as unknown));
      setFault(undefined);
    } catch (error) {
      setFault(`This is not JSON: ${(error as Error).message}`);
    }
  };
  return (
    <>
      <textarea
        {...attributes(props)}
        rows={6}
        spellcheck={false}
        class="code"
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
      {fault && <small class="error">{fault}</small>}
    </>
  );
}

const CONTROLS: Record<Control, (props: ControlProps) => ComponentChild> = {
  switch: Switch,
  choice: Choice,
  number: TextInput,
  money: MoneyInput,
  text: TextInput,
  long_text: LongText,
  time_zone: TimeZone,
  date_time: DateTime,
  reference: Reference,
  references: References,
  texts: Texts,
  choices: Choices,
  pairs: Pairs,
  raw: Raw,
};
