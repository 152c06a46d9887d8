import type { ComponentChild } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { FieldContract, Fields } from '../../noun-contract';
import {
  toFieldLayout,
  type FieldLayout,
  type GroupLayout,
  type NounLayout,
} from '../nouns/layout';
import { Problem } from '../parts/basics';
import { useLeaveGuard } from '../route';
import { findLabel, FormField } from './field';
import { FoldedSummary } from './folded-summary';
import { Jumps } from './jumps';
import { MergeNotice } from './merge-notice';
import type { Form } from './use-form';

interface RecordFormProps {
  layout: NounLayout;
  /** The fields that the caller may see. */
  fields: Fields;
  mayWrite: (name: string) => boolean;
  form: Form;
  isNew: boolean;
  /** Called after it was stored. */
  onSaved: () => void;
  onCancel?: () => void;
  children?: ComponentChild;
}

/** The form of a record, group by group. */
export function RecordForm(props: RecordFormProps) {
  const { layout, fields, mayWrite, form, isNew, onSaved } = props;
  const box = useRef<HTMLFormElement>(null);
  const { written, errors, is_busy } = form;
  useLeaveGuard(written.length > 0 && !is_busy);
  useFocusOnFault(box, errors);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await form.submit()) onSaved();
  };
  const canSave = Object.keys(fields).some(mayWrite);
  const groups = layout.groups.filter(
    (group) => listShown(group, props).length > 0 && (group.when?.(form.inputs) ?? true),
  );
  return (
    <form
      ref={box}
      class="record-form"
      noValidate
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit(event);
      }}
    >
      <MergeNotice form={form} layout={layout} />
      <Jumps box={box} groups={groups} />
      {groups.some((group) => hasRequired(group, props)) && (
        <p class="quiet">* must be filled in</p>
      )}
      {groups.map((group) => (
        <Group key={group.title} {...props} group={group} />
      ))}
      {props.children}
      <Problem error={form.error} />
      {canSave && <SaveBar form={form} isNew={isNew} layout={layout} onCancel={props.onCancel} />}
    </form>
  );
}

const hasRequired = (group: GroupLayout, props: RecordFormProps): boolean =>
  listShown(group, props).some(
    ({ field, isRequired }) => isRequired || props.fields[field]!.required,
  );

interface GroupProps extends RecordFormProps {
  group: GroupLayout;
}

/** The fields of a group that this caller and this record have. */
function listShown(group: GroupLayout, { fields, form, isNew }: RecordFormProps): FieldLayout[] {
  const { only } = group;
  if (only !== undefined && (only === 'create') !== isNew) return [];
  return group.fields
    .map(toFieldLayout)
    .filter(({ field, when }) => isShown(fields, field, isNew) && (!when || when(form.inputs)));
}

function Group({ group, ...props }: GroupProps) {
  const { layout, fields, mayWrite, form } = props;
  const { inputs, errors } = form;
  const entries = listShown(group, props);
  const Editor = group.editor;
  const hasFault = entries.some(({ field }) => hasFaults(errors, field));
  const set = entries.filter(({ field }) => isSet(form, field, fields[field]!));
  const body = (
    <div class="group-body">
      {group.help && <p class="quiet">{group.help}</p>}
      {Editor ? (
        <Editor
          inputs={inputs}
          change={form.change}
          errors={errors}
          disabled={!entries.some(({ field }) => mayWrite(field))}
          record={form.record}
          fields={Object.fromEntries(entries.map(({ field }) => [field, fields[field]!]))}
        />
      ) : (
        <div class="group-fields">
          {entries.map((entry) => (
            <FormField
              key={entry.field}
              layout={entry}
              label={layout.labels?.[entry.field]}
              name={entry.field}
              field={fields[entry.field]!}
              value={inputs[entry.field]}
              errors={errors[entry.field] ?? []}
              disabled={!mayWrite(entry.field)}
              isChanged={form.changes.includes(entry.field)}
              onChange={(value) => form.change(entry.field, value)}
              inputs={inputs}
              record={form.record}
            />
          ))}
        </div>
      )}
    </div>
  );
  if (!group.isClosed)
    return (
      <section class="group" aria-label={group.title} data-group={group.title} tabIndex={-1}>
        <h2>{group.title}</h2>
        {body}
      </section>
    );
  return (
    <details open={hasFault || undefined} data-group={group.title}>
      <summary>
        <h2>{group.title}</h2>
        <FoldedSummary
          group={group}
          entries={set}
          {...{ layout, fields, inputs, record: form.record }}
        />
      </summary>
      {body}
    </details>
  );
}

const isShown = (fields: Fields, name: string, isNew: boolean): boolean => {
  const field = fields[name];
  return field !== undefined && field.only !== (isNew ? 'update' : 'create');
};

const hasFaults = (errors: Form['errors'], name: string): boolean =>
  (errors[name]?.length ?? 0) > 0;

/** A folded group says how much it holds that is not so by default. */
function isSet({ record, changes, inputs }: Form, name: string, field: FieldContract): boolean {
  if (changes.includes(name)) return true;
  const value = inputs[name];
  const isUsual =
    value === '' || value === null || value === false || String(value) === String(field.default);
  return record.id !== undefined && !isUsual && !(Array.isArray(value) && value.length === 0);
}

interface SaveBarProps {
  form: Form;
  isNew: boolean;
  layout: NounLayout;
  onCancel: (() => void) | undefined;
}

function SaveBar({ form, isNew, layout, onCancel }: SaveBarProps) {
  const { changes, is_busy, clash } = form;
  if (!isNew && changes.length === 0) return null;
  const isOpen = (clash?.conflicts.length ?? 0) > 0;
  return (
    <div class="save-bar">
      <button class="primary" disabled={is_busy || isOpen}>
        {isNew ? `Create the ${layout.words.singular}` : 'Save'}
      </button>
      <button type="button" disabled={is_busy} onClick={isNew ? onCancel : form.reset}>
        {isNew ? 'Cancel' : 'Discard changes'}
      </button>
      {!isNew && (
        <span class="quiet" role="status">
          Changed<span aria-hidden="true"> (•)</span>:{' '}
          {changes.map((name) => `“${findLabel(layout, name)}”`).join(', ')}
        </span>
      )}
    </div>
  );
}

/** The keyboard continues at the first field with a fault. */
function useFocusOnFault(
  box: { current: HTMLFormElement | null },
  errors: Readonly<Record<string, readonly string[]>>,
): void {
  const key = Object.keys(errors)
    .filter((name) => hasFaults(errors, name))
    .join(',');
  useEffect(() => {
    if (key === '') return;
    const field = [...(box.current?.querySelectorAll<HTMLElement>('[data-field]') ?? [])].find(
      ({ dataset }) => dataset.field !== undefined && hasFaults(errors, dataset.field),
    );
    field?.querySelector<HTMLElement>('input, select, textarea, button')?.focus();
  }, [key]);
}
