import { findNoun } from '../contract';
import { useAction } from '../loading';
import { NewRecordPage } from '../noun/record';
import type { NounLayout } from '../nouns/layout';
import { Field, Panel, Problem } from '../parts/basics';
import { ChoiceLinks, useChoice } from '../parts/choice-links';
import { goTo, linkTo } from '../route';
import { useSession } from '../session';
import { showToast } from '../toast';
import { send, type Json } from '../transport';

const CHOICES = { hand: 'By hand', file: 'From a CSV file' };

/** A list of values or ZIP codes, typed or uploaded. */
export function NewList({ layout }: { layout: NounLayout }) {
  const chosen = useChoice(CHOICES);
  return (
    <>
      <ChoiceLinks label="How to make the list" choices={CHOICES} chosen={chosen} />
      {chosen === 'hand' ? <NewRecordPage layout={layout} /> : <ListFromFile layout={layout} />}
    </>
  );
}

function ListFromFile({ layout }: { layout: NounLayout }) {
  const { transport, contract } = useSession();
  const { singular, plural } = layout.words;
  const create = useAction(async (form: HTMLFormElement) => {
    const { data } = await send(transport, 'POST', `/${layout.noun}`, {
      body: withoutEmptyFields(new FormData(form)),
    });
    const { id } = data[findNoun(contract, layout.noun).record_key] as Json;
    showToast(`The ${singular} was created.`);
    goTo(linkTo(layout.noun, String(id)), { replace: true });
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void create.run(event.currentTarget as HTMLFormElement);
  };
  return (
    <>
      <p>
        <a href={linkTo(layout.noun)}>All {plural}</a>
      </p>
      <h1>New {singular}</h1>
      <Panel title="Name and file">
        <form onSubmit={submit}>
          <Field label="Name" name="name" required maxLength={100} autocomplete="off" />
          <ValuesFile />
          <Problem error={create.error} />
          <button class="primary" disabled={create.is_busy}>
            {create.is_busy ? 'Uploading…' : `Create the ${singular}`}
          </button>
        </form>
      </Panel>
    </>
  );
}

/** The file of a list, and the column that has its values. */
export const ValuesFile = () => (
  <>
    <Field
      label="CSV file"
      type="file"
      name="import_file"
      accept=".csv,text/csv,text/plain"
      required
    />
    <Field
      label="Column with the values"
      name="column_name"
      maxLength={255}
      autocomplete="off"
      placeholder="zip"
      hint="Empty: the only one, or the one with a usual name."
    />
  </>
);

/** An empty text would be a value; a field that was left empty is none. */
export function withoutEmptyFields(form: FormData): FormData {
  const filled = new FormData();
  for (const [name, value] of form) if (value !== '') filled.append(name, value);
  return filled;
}
