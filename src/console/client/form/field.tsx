import type { ComponentType } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { FieldContract } from '../../noun-contract';
import { sentence } from '../format';
import {
  toFieldLayout,
  type EditorProps,
  type FieldLayout,
  type NounLayout,
} from '../nouns/layout';
import { ControlFor } from './controls';
import { fromInput, isEqual, pickControl, toInput } from './model';

// A field of a form, and the fields within structured values, which are fields again.

interface FormFieldProps extends Omit<EditorProps, 'id' | 'label'> {
  layout: FieldLayout;
  label: string | undefined;
  isChanged: boolean;
}

export const CHANGED = 'Changed, and not saved yet';

/** An input with its label, help and faults. */
export function FormField({ layout, label: nounLabel, isChanged, ...props }: FormFieldProps) {
  const id = useId();
  const { field, name, errors } = props;
  const label = layout.label ?? nounLabel ?? toLabel(name);
  const help = describeField(layout, field);
  const helpId = help === undefined ? [] : [`${id}-help`];
  const errorId = errors.length > 0 ? [`${id}-error`] : [];
  const changedId = isChanged ? [`${id}-changed`] : [];
  const describedBy = [...errorId, ...helpId, ...changedId].join(' ') || undefined;
  const Editor = layout.editor ?? pickEditor(field);
  const isWhole = layout.isWide ?? (Editor !== undefined || WHOLE.has(pickControl(field)));
  return (
    <div
      class={['field', isWhole && 'whole', isChanged && 'changed'].filter(Boolean).join(' ')}
      data-field={name}
    >
      <label for={id} title={isChanged ? CHANGED : undefined}>
        {label}
        {layout.unit && <span class="quiet">, {layout.unit}</span>}
        {(field.required || layout.isRequired) && (
          <span aria-hidden="true" title="Must be filled in">
            {' '}
            *
          </span>
        )}
      </label>
      {isChanged && (
        <span class="hidden" id={`${id}-changed`}>
          {CHANGED}
        </span>
      )}
      {Editor ? (
        <Editor {...props} id={id} label={label} />
      ) : (
        <ControlFor
          {...props}
          id={id}
          label={label}
          describedBy={describedBy}
          placeholder={layout.placeholder}
        />
      )}
      {errors.length > 0 && (
        <small class="error" id={`${id}-error`}>
          {errors.map((error) => `${label} ${error}`).join('. ')}
        </small>
      )}
      {help !== undefined && (
        <small class="quiet" id={`${id}-help`}>
          {help}
        </small>
      )}
    </div>
  );
}

/** Structures whose shape the contract says are edited field by field. */
function pickEditor(field: FieldContract): ComponentType<EditorProps> | undefined {
  if (pickControl(field) !== 'raw') return undefined;
  if (field.fields) return ObjectEditor;
  return field.items?.fields ? ListEditor : undefined;
}

const WHOLE: ReadonlySet<string> = new Set([
  'references',
  'long_text',
  'texts',
  'choices',
  'pairs',
  'raw',
]);

/** `user_buyer_id` as `User buyer id`; ids of records by the name of the record. */
export const toLabel = (name: string): string =>
  sentence(name.replace(/_ids$/, 's').replace(/_id$/, ''));

/** The label under which a form shows a field. */
export function findLabel({ groups, labels }: Pick<NounLayout, 'groups' | 'labels'>, name: string) {
  for (const group of groups) {
    const layout = group.fields.map(toFieldLayout).find(({ field }) => field === name);
    const label = layout && (layout.label ?? group.labels?.[name]);
    if (label !== undefined) return layout?.unit ? `${label}, ${layout.unit}` : label;
  }
  return labels?.[name] ?? toLabel(name);
}

const describeField = (layout: FieldLayout, { help }: FieldContract): string | undefined =>
  (layout.help ?? help?.replaceAll('`', '')) || undefined;

export interface NestedFieldProps {
  name: string;
  field: FieldContract;
  label?: string | undefined;
  layout?: Omit<FieldLayout, 'field'>;
  /** As the API has it, unlike the inputs of the form itself. */
  value: unknown;
  onChange: (value: unknown) => void;
  disabled: boolean;
}

/** A field within a structured value. The typed text is kept: `1.` is on its way to `1.5`. */
export function NestedField({ layout, value, onChange, label, ...props }: NestedFieldProps) {
  const { field, name } = props;
  const [typed, setTyped] = useState<unknown>();
  const isTyping = typed !== undefined && isEqual(readInput(field, typed), value ?? null);
  return (
    <FormField
      {...props}
      layout={{ ...layout, field: name }}
      label={label}
      value={isTyping ? typed : toInput(field, value)}
      errors={[]}
      isChanged={false}
      inputs={{}}
      record={{}}
      onChange={(input) => {
        setTyped(input);
        onChange(readInput(field, input));
      }}
    />
  );
}

/** A text that is no number stays a text, which the API refuses by name. */
function readInput(field: FieldContract, input: unknown): unknown {
  const value = fromInput(field, input);
  return typeof value === 'number' && !Number.isFinite(value) ? input : (value ?? null);
}

type Part = Readonly<Record<string, unknown>>;

/** How the fields of a structured value are shown; those that are left out come last. */
export type Parts = Readonly<Record<string, Omit<FieldLayout, 'field'>>>;

interface ObjectFieldsProps {
  fields: Readonly<Record<string, FieldContract>>;
  value: Part;
  onChange: (value: Part) => void;
  disabled: boolean;
  parts?: Parts | undefined;
}

/** The fields of an object. */
export function ObjectFields({ fields, value, onChange, disabled, parts = {} }: ObjectFieldsProps) {
  const names = [...new Set([...Object.keys(parts), ...Object.keys(fields)])];
  return (
    <div class="group-fields">
      {names
        .filter((name) => fields[name] && (parts[name]?.when?.(value) ?? true))
        .map((name) => (
          <NestedField
            key={name}
            name={name}
            field={fields[name]!}
            layout={parts[name] ?? {}}
            value={value[name]}
            disabled={disabled}
            onChange={(part) => onChange({ ...value, [name]: part })}
          />
        ))}
    </div>
  );
}

/** An object that may be missing as a whole. */
export function ObjectEditor({ field, label, value, onChange, disabled, id, parts }: ObjectProps) {
  const isMissing = value === null || value === undefined;
  return (
    <div class="structure" role="group" aria-label={label} id={id}>
      {isMissing ? (
        <button type="button" disabled={disabled} onClick={() => onChange({})}>
          Set
        </button>
      ) : (
        <>
          <ObjectFields
            fields={field.fields ?? {}}
            value={value as Part}
            onChange={onChange}
            disabled={disabled}
            parts={parts}
          />
          {field.nullable && !disabled && (
            <button type="button" onClick={() => onChange(null)}>
              Remove
            </button>
          )}
        </>
      )}
    </div>
  );
}

interface ObjectProps extends EditorProps {
  parts?: Parts;
}

interface ListProps extends ObjectProps {
  /** An entry in a word: `payout`. */
  entry?: string;
  /** A new entry. */
  fresh?: Part;
}

/** A list of objects, in an order that counts. */
export function ListEditor({ field, label, value, onChange, disabled, id, ...props }: ListProps) {
  const { parts, entry = 'entry', fresh = {} } = props;
  const entries = (value ?? []) as Part[];
  const move = (index: number, to: number) => {
    const moved = entries.filter((_, other) => other !== index);
    onChange(moved.toSpliced(to, 0, entries[index]!));
  };
  return (
    <div class="structure" role="group" aria-label={label} id={id}>
      <ol class="entries">
        {entries.map((part, index) => (
          <li key={index} aria-label={`${entry} ${index + 1}`}>
            <ObjectFields
              fields={field.items?.fields ?? {}}
              value={part}
              onChange={(changed) => onChange(entries.with(index, changed))}
              disabled={disabled}
              parts={parts}
            />
            {!disabled && (
              <div class="actions">
                <button type="button" disabled={index === 0} onClick={() => move(index, index - 1)}>
                  Move up
                </button>
                <button
                  type="button"
                  disabled={index === entries.length - 1}
                  onClick={() => move(index, index + 1)}
                >
                  Move down
                </button>
                <button
                  type="button"
                  onClick={() => onChange(entries.filter((_, other) => other !== index))}
                >
                  Remove this {entry}
                </button>
              </div>
            )}
          </li>
        ))}
      </ol>
      {!disabled && (
        <button type="button" onClick={() => onChange([...entries, fresh])}>
          Add a {entry}
        </button>
      )}
    </div>
  );
}
