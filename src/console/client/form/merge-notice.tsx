import type { NounLayout } from '../nouns/layout';
import { Table, type Column } from '../parts/basics';
import { findLabel } from './field';
import type { Conflict } from './model';
import type { Form } from './use-form';

/** Says what somebody else changed meanwhile, and lets one decide where both did. */
export function MergeNotice({ form, layout }: { form: Form; layout: NounLayout }) {
  const { clash } = form;
  if (!clash) return null;
  const { theirs, conflicts } = clash;
  const toName = (name: string) => findLabel(layout, name);
  return (
    <section class="notice warn merge" role="alert" aria-label="Changed by somebody else">
      <p>
        Somebody else saved this {layout.words.singular} while you were changing it. Nothing of
        yours is stored yet.
      </p>
      {theirs.length > 0 && (
        <p>
          They changed {theirs.map(({ name }) => `“${toName(name)}”`).join(', ')}; you did not, so
          their {theirs.length === 1 ? 'value stays' : 'values stay'}.
        </p>
      )}
      {conflicts.length > 0 && (
        <Table
          caption="Changed by both"
          columns={buildColumns(form, toName)}
          rows={conflicts}
          getKey={({ name }) => name}
          empty=""
        />
      )}
      {conflicts.length === 0 && (
        <p>
          Your changes go with theirs: save again to store both.{' '}
          <button type="button" onClick={form.dismissClash}>
            I have seen it
          </button>
        </p>
      )}
    </section>
  );
}

const buildColumns = (form: Form, toName: (name: string) => string): Column<Conflict>[] => [
  { name: 'Field', of: ({ name }) => toName(name) },
  { name: 'Before', of: ({ base }) => showInput(base) },
  { name: 'Theirs', of: ({ theirs }) => showInput(theirs) },
  { name: 'Yours', of: ({ mine }) => showInput(mine) },
  {
    name: 'Take',
    of: ({ name }) => (
      <>
        <button type="button" onClick={() => form.settle(name, false)}>
          Theirs
        </button>{' '}
        <button type="button" onClick={() => form.settle(name, true)}>
          Mine
        </button>
      </>
    ),
  },
];

function showInput(value: unknown): string {
  if (value === '' || value === null || value === undefined) return 'nothing';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string'))
    return value.join(', ') || 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
