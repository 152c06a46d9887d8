import type { ComponentChild } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { NounContract } from '../../noun-contract';
import type { Scope } from '../api';
import { findNoun } from '../contract';
import { RecordForm } from '../form/record-form';
import { toInputs } from '../form/model';
import { useForm } from '../form/use-form';
import { useAction, useLoaded } from '../loading';
import { settleHidden, type ActionLayout, type Deletion, type NounLayout } from '../nouns/layout';
import { LOSSES } from '../nouns/losses';
import { Badge, Problem, Show } from '../parts/basics';
import { goTo, linkTo, useRoute } from '../route';
import { revealSecrets } from '../secrets';
import { useSession, type Session } from '../session';
import { showToast } from '../toast';
import { send, type Answer, type Json } from '../transport';
import { formFields, fullSerializer, mayDo, mayWriteField } from './access';
import { StoredForm } from './stored-form';

interface Shown {
  record: Json;
  tag: string;
}

const read = (noun: NounContract, { data, tag }: Answer): Shown => ({
  record: data[noun.record_key] as Json,
  tag,
});

/** The page of a record: its state, what can be done with it, and its form. */
export function RecordPage({ layout, id }: { layout: NounLayout; id: string }) {
  const session = useSession();
  const noun = findNoun(session.contract, layout.noun);
  const path = `/${layout.noun}/${encodeURIComponent(id)}`;
  const query = { serializer: fullSerializer(noun) };
  const load = async () => read(noun, await send(session.transport, 'GET', path, { query }));
  const loaded = useLoaded(load, [path]);
  return (
    <>
      <p>
        <a href={linkTo(layout.noun)}>All {layout.words.plural}</a>
      </p>
      <Show of={loaded}>
        {(shown) => (
          <StoredRecord
            key={id}
            layout={layout}
            noun={noun}
            path={path}
            shown={shown}
            load={load}
            reload={loaded.reload}
          />
        )}
      </Show>
    </>
  );
}

interface StoredRecordProps {
  layout: NounLayout;
  noun: NounContract;
  path: string;
  shown: Shown;
  load: () => Promise<Shown>;
  reload: () => Promise<void>;
}

function StoredRecord({ layout, noun, path, shown, load, reload }: StoredRecordProps) {
  const session = useSession();
  const fields = useMemo(() => formFields(noun.write, layout.hidden), [noun, layout]);
  const query = { serializer: fullSerializer(noun) };
  const form = useForm({
    fields,
    reads: layout.reads,
    ...shown,
    save: async (changes, tag) => {
      const body = settleHidden(layout, {
        body: changes,
        inputs: form.inputs,
        record: form.record,
      });
      const answer = await send(session.transport, 'PUT', path, { query, body, tag });
      revealSecrets(layout.secrets, answer.data);
      return read(noun, answer);
    },
    loadLatest: load,
  });
  const { record } = form;
  const state = layout.state?.(shown.record);
  return (
    <>
      <div class="title">
        <h1>{layout.title(record)}</h1>
        {state && <Badge tone={state.tone}>{state.text}</Badge>}
        <Actions layout={layout} noun={noun} path={path} record={shown.record} reload={reload} />
      </div>
      {layout.panels && (
        <div class="grid">
          {layout.panels.map((Part, index) => (
            <Part key={index} record={shown.record} reload={reload} />
          ))}
        </div>
      )}
      <StoredForm layout={layout} noun={noun} fields={fields} form={form} reload={reload} />
    </>
  );
}

interface ActionsProps {
  layout: NounLayout;
  noun: NounContract;
  path: string;
  record: Json;
  reload: () => Promise<void>;
}

/** Pause, copy, delete, and what only this noun has. */
function Actions({ layout, noun, path, record, reload }: ActionsProps) {
  const session = useSession();
  const actions = [
    ...(layout.actions ?? []).filter(
      ({ scope, when }) => session.may(scope as Scope) && (!when || when(record, session)),
    ),
    ...(layout.copy && mayDo(session, noun, 'create') ? [copyAction(layout)] : []),
    ...('paused' in noun.write && mayDo(session, noun, 'update')
      ? [pauseAction(path, layout.title(record))]
      : []),
    ...(mayDo(session, noun, 'delete') ? [deleteAction(session, layout, path)] : []),
  ];
  const [error, setError] = useState<unknown>();
  return (
    <>
      {actions.map((action) => (
        <ActionButton
          key={action.title(record)}
          button={action}
          layout={layout}
          record={record}
          reload={reload}
          onError={setError}
        />
      ))}
      <Problem error={error} />
    </>
  );
}

interface ActionButtonProps {
  button: ActionLayout;
  layout: NounLayout;
  record: Json;
  reload: () => Promise<void>;
  onError: (error: unknown) => void;
}

function ActionButton({ button, layout, record, reload, onError }: ActionButtonProps) {
  const session = useSession();
  const { run, is_busy } = useAction(async () => {
    onError(undefined);
    try {
      const done = await button.run({
        record,
        session,
        reload,
        send: async (method, path, body) => {
          const { data } = await send(session.transport, method, path, body ? { body } : {});
          revealSecrets(layout.secrets, data);
          return data;
        },
      });
      if (typeof done === 'string') showToast(done);
    } catch (error) {
      onError(error);
    }
  });
  return (
    <button
      type="button"
      class={button.isDangerous ? 'danger' : undefined}
      disabled={is_busy}
      onClick={() => void run()}
    >
      {button.title(record)}
    </button>
  );
}

/** Pausing needs no question, since it can be taken back at once. */
const pauseAction = (path: string, name: string): ActionLayout => ({
  title: ({ paused }) => (paused ? 'Resume' : 'Pause'),
  scope: '',
  run: async ({ record, send: change, reload }) => {
    const set = async (paused: boolean) => {
      await change('PUT', path, { paused });
      await reload();
    };
    const isPaused = record.paused === true;
    await set(!isPaused);
    const text = isPaused ? 'is active again.' : 'is paused. What is under way goes on.';
    showToast(`${name} ${text}`, {
      undo: () =>
        void set(isPaused).catch((error: Error) => showToast(error.message, { tone: 'bad' })),
    });
    return undefined;
  },
});

const copyAction = (layout: NounLayout): ActionLayout => ({
  title: () => 'Copy',
  scope: '',
  run: async ({ record }) => {
    goTo(linkTo(layout.noun, 'new', { copy: String(record.id) }));
    return undefined;
  },
});

const DELETION: Deletion = {
  title: 'Delete',
  consequence: 'This cannot be undone.',
  done: 'Deleted.',
};

const deleteAction = (session: Session, layout: NounLayout, path: string): ActionLayout => ({
  title: () => (layout.deletion ?? DELETION).title,
  scope: '',
  isDangerous: true,
  run: async ({ record, send: change }) => {
    const { title, consequence, done, nameKind } = layout.deletion ?? DELETION;
    const losses = await LOSSES[layout.noun]?.(session, record);
    const question = [
      `${title} the ${nameKind?.(record) ?? layout.words.singular} “${layout.title(record)}”?`,
      losses,
      consequence,
    ];
    if (!confirm(question.filter(Boolean).join(' '))) return undefined;
    await change('DELETE', path);
    goTo(linkTo(layout.noun), { replace: true });
    return done;
  },
});

/** A form with the defaults of the API, or with the values of a record that is copied. */
export function NewRecordPage({ layout }: { layout: NounLayout }) {
  const session = useSession();
  const { query } = useRoute();
  const copied = query.get('copy');
  const noun = findNoun(session.contract, layout.noun);
  const loaded = useLoaded(() => loadStart(session, noun, layout, copied), [layout, copied]);
  const { singular } = layout.words;
  return (
    <>
      <p>
        <a href={linkTo(layout.noun)}>All {layout.words.plural}</a>
      </p>
      <h1>
        New {singular}
        {copied !== null && ', copied from another'}
      </h1>
      <p class="quiet">
        {layout.about} {layout.next}
      </p>
      <Show of={loaded}>
        {(start) => <NewRecord layout={layout} noun={noun} {...start} copied={copied} />}
      </Show>
    </>
  );
}

/** A form begins with the defaults, and with values that are sent without being typed. */
interface Start {
  record: Json;
  presets: Json;
}

async function loadStart(
  session: Session,
  noun: NounContract,
  layout: NounLayout,
  copied: string | null,
): Promise<Start> {
  const load = async (id: string) => {
    const query = { serializer: fullSerializer(noun) };
    const path = `/${layout.noun}/${encodeURIComponent(id)}`;
    const { data } = await send(session.transport, 'GET', path, { query });
    return data[noun.record_key] as Json;
  };
  const defaults = { ...findDefaults(noun), ...layout.initial };
  const original = copied === null ? undefined : await load(copied);
  const name = original && nameCopy(noun, original.name);
  if (original && layout.copy && 'field' in layout.copy)
    return { record: { ...defaults, ...original, id: undefined, ...name }, presets: { ...name } };
  // It has no id yet, which forms ask about.
  const record = { ...defaults, ...(noun.verbs.new && (await load('new'))), id: undefined };
  if (!original) return { record, presets: {} };
  const except = layout.copy && 'except' in layout.copy ? layout.copy.except : [];
  const fields = Object.entries(formFields(noun.write, layout.hidden)).filter(
    ([fieldName, field]) =>
      field.only !== 'update' && !except.includes(fieldName) && mayWriteField(session, noun, field),
  );
  const values = toInputs(Object.fromEntries(fields), original, layout.reads);
  return { record, presets: { ...values, ...name } };
}

/** The name of a copy, within the characters that names of the noun may have. */
function nameCopy({ write }: NounContract, name: unknown): Json | undefined {
  if (typeof name !== 'string') return undefined;
  return { name: write.name?.pattern === undefined ? `${name} (copy)` : `${name} copy` };
}

/** Also of fields that no record has, such as whether a user is invited. */
const findDefaults = (noun: NounContract): Json =>
  Object.fromEntries(
    Object.entries(noun.write).flatMap(([name, field]) =>
      field.default === undefined ? [] : [[name, field.default]],
    ),
  );

interface NewRecordProps extends Start {
  layout: NounLayout;
  noun: NounContract;
  copied: string | null;
}

function NewRecord({ layout, noun, record, copied, ...start }: NewRecordProps): ComponentChild {
  const session = useSession();
  const { query } = useRoute();
  const fields = useMemo(() => formFields(noun.write, layout.hidden), [noun, layout]);
  const linked = Object.fromEntries(
    (layout.presets ?? []).flatMap((name) => {
      const value = query.get(name);
      return value === null
        ? []
        : [[name, fields[name]?.type === 'array' ? value.split(',') : value]];
    }),
  );
  const form = useForm({
    fields,
    reads: layout.reads,
    record,
    tag: '',
    presets: { ...linked, ...start.presets },
    save: async (changes) => {
      const body = settleHidden(layout, {
        body: { ...layout.initial, ...changes },
        inputs: form.inputs,
        record,
      });
      const { data, tag } = await send(session.transport, 'POST', `/${layout.noun}`, {
        body: { ...buildCopy(layout, copied), ...keepName(start.presets), ...body },
      });
      const created = data[noun.record_key] as Json;
      revealSecrets(layout.secrets, data);
      if (copied !== null) await copyParts(session, layout, copied, String(created.id));
      goTo(linkTo(layout.noun, String(created.id)), { replace: true });
      return { record: created, tag };
    },
    loadLatest: async () => ({ record, tag: '' }),
  });
  return (
    <RecordForm
      layout={layout}
      fields={fields}
      mayWrite={(name) => mayWriteField(session, noun, fields[name]!)}
      form={form}
      isNew
      onSaved={() => showToast(`The ${layout.words.singular} was created.`)}
      onCancel={() => history.back()}
    />
  );
}

/** The name of a copy is sent also where it was not changed. */
const keepName = ({ name }: Json): Json => (name === undefined ? {} : { name });

function buildCopy({ copy }: NounLayout, id: string | null): Json {
  if (id === null || !copy || !('field' in copy)) return {};
  const { field, idField } = copy;
  return idField === undefined ? { [field]: id } : { [field]: 'true', [idField]: id };
}

/** A part that cannot be copied is said; the copy and what was made of it stay. */
async function copyParts(
  { transport }: Session,
  { copy }: NounLayout,
  from: string,
  to: string,
): Promise<void> {
  if (!copy || !('after' in copy) || !copy.after) return;
  try {
    await copy.after({
      from,
      to,
      send: async (method, path, body) =>
        (await send(transport, method, path, body ? { body } : {})).data,
    });
  } catch (error) {
    showToast(`Not everything was copied: ${(error as Error).message}`, { tone: 'bad' });
  }
}
