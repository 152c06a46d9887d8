import { useState } from 'preact/hooks';
import { ok, type Schemas } from '../api';
import { Badge, Field, Show, Table, type Column } from '../parts/basics';
import { count, dayTime, dollars, duration, text, words } from '../format';
import { useLive, useLoaded } from '../loading';
import { linkTo } from '../route';
import { useSession } from '../session';

type Call = Schemas['Call'];

const COLUMN_NAMES = [
  'id',
  'created_at',
  'status',
  'caller_number',
  'offer',
  'buyer',
  'total_duration',
  'revenue',
  'buyer_converted',
  'sandbox',
];

/** The newest calls, or those that match a search. */
export function CallsView() {
  const { api } = useSession();
  const [fulltext, setFulltext] = useState('');
  const loaded = useLoaded(async () => {
    const filter = fulltext === '' ? {} : { fulltext };
    const query = { ...filter, columns: COLUMN_NAMES, per_page: 50, order_dir: 'desc' as const };
    return ok(api.GET('/calls', { params: { query } }));
  }, [api, fulltext]);
  useLive(({ kind }) => kind === 'call', loaded.reload);
  return (
    <>
      <h1>Calls</h1>
      <Search label="Find calls by number, buyer or offer" onSearch={setFulltext} />
      <Show of={loaded}>
        {({ calls, metadata }) => (
          <>
            <p class="quiet">
              {count(calls.length)} of {count(metadata.total_count)} calls
            </p>
            <Table
              caption="Calls"
              columns={COLUMNS}
              rows={calls}
              getKey={({ id }) => id!}
              empty="There are no such calls."
            />
          </>
        )}
      </Show>
    </>
  );
}

const COLUMNS: readonly Column<Call>[] = [
  { name: 'Call', of: ({ id }) => <a href={linkTo('calls', id)}>{id}</a> },
  { name: 'When', of: ({ created_at }) => dayTime(created_at) },
  { name: 'Caller', of: ({ caller_number }) => text(caller_number) },
  { name: 'Offer', of: ({ offer }) => text(offer) },
  { name: 'Buyer', of: ({ buyer }) => text(buyer) },
  {
    name: 'Status',
    of: ({ status, sandbox }) => (
      <>
        <Badge>{words(status)}</Badge> {sandbox && <Badge tone="bad">sandbox</Badge>}
      </>
    ),
  },
  { name: 'Duration', of: ({ total_duration }) => duration(total_duration), number: true },
  {
    name: 'Revenue',
    of: ({ revenue, buyer_converted }) => (
      <>
        {buyer_converted && <Badge tone="good">paid</Badge>} {dollars(revenue)}
      </>
    ),
    number: true,
  },
];

/** Searches for a text when the form is submitted. */
export function Search({ label, onSearch }: { label: string; onSearch: (text: string) => void }) {
  const [typed, setTyped] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    onSearch(typed.trim());
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <Field
        label={label}
        type="search"
        maxLength={200}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <button>Find</button>
    </form>
  );
}
