import { useState } from 'preact/hooks';
import type { Schemas } from '../api';
import { count } from '../format';
import { useAction } from '../loading';
import { Panel, Problem, Table, type Column } from '../parts/basics';
import { linkTo } from '../route';
import { useSession } from '../session';
import { send } from '../transport';

type Result = Schemas['PhoneNumberImportReply'];
type Rejected = Result['rejected'][number];

/** Many numbers at once, as a file or as text, with the result row by row. */
export function ImportNumbers() {
  const { transport } = useSession();
  const [result, setResult] = useState<Result>();
  const enter = useAction(async (form: HTMLFormElement) => {
    setResult(undefined);
    const { data } = await send(transport, 'POST', '/phone_numbers/import', {
      body: toImport(new FormData(form)),
    });
    setResult(data as unknown as Result);
    form.reset();
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void enter.run(event.currentTarget as HTMLFormElement);
  };
  return (
    <Panel title="Many numbers you have">
      <form onSubmit={submit}>
        <p class="quiet">
          Nothing is bought. A CSV file has a column <code>number</code>, and may have{' '}
          <code>name</code>, <code>offer_id</code>, <code>buyer_id</code>,{' '}
          <code>traffic_source_id</code> and <code>external_record_id</code>; at most 1,000 rows.
        </p>
        <label class="field">
          <span>CSV file</span>
          <input type="file" name="import_file" accept=".csv,text/csv,text/plain" />
        </label>
        <label class="field">
          <span>Or one number on each line</span>
          <textarea name="numbers" rows={5} placeholder="(213) 555-0142" />
        </label>
        <Problem error={enter.error} />
        <button class="primary" disabled={enter.is_busy}>
          {enter.is_busy ? 'Entering…' : 'Enter the numbers'}
        </button>
      </form>
      {result && <ImportResult {...result} />}
    </Panel>
  );
}

function toImport(form: FormData): FormData | { numbers: string[] } {
  const file = form.get('import_file');
  if (file instanceof File && file.size > 0) {
    const body = new FormData();
    body.set('import_file', file);
    return body;
  }
  const lines = String(form.get('numbers') ?? '').split(/\r?\n/);
  const numbers = lines.map((line) => line.trim()).filter((line) => line !== '');
  if (numbers.length === 0) throw new Error('Choose a file, or type the numbers.');
  return { numbers };
}

function ImportResult({ added, rejected, ignored_columns: ignored = [] }: Result) {
  return (
    <>
      <div class={rejected.length === 0 ? 'notice good' : 'notice warn'} role="status">
        <p>
          {count(added)} {added === 1 ? 'number was' : 'numbers were'} entered
          {rejected.length > 0 && `, ${count(rejected.length)} not`}.{' '}
          <a href={linkTo('phone_numbers')}>See your numbers</a>
        </p>
        {ignored.length > 0 && <p>Columns without a meaning here: {ignored.join(', ')}.</p>}
      </div>
      {rejected.length > 0 && (
        <Table
          caption="Not entered"
          columns={REJECTED}
          rows={rejected}
          getKey={({ line }) => line}
          empty=""
        />
      )}
    </>
  );
}

const REJECTED: readonly Column<Rejected>[] = [
  { name: 'Line', of: ({ line }) => count(line), number: true },
  { name: 'Number', of: ({ number }) => number },
  { name: 'Why it was not entered', of: ({ reason }) => reason },
];
