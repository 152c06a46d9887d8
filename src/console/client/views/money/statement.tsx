import { ok, type Schemas } from '../../api';
import { count, day, dayTime, dollars, text } from '../../format';
import { useAction, useLoaded } from '../../loading';
import type { PanelProps } from '../../nouns/layout';
import { Facts, Panel, Problem, Show, Table, type Column } from '../../parts/basics';
import { linkTo } from '../../route';
import { useSession } from '../../session';
import { buildPath, download, type Json } from '../../transport';
import { AccountName } from './account-name';
import { describePeriod } from './describe-period';
import { ENTRY_KINDS, TOTAL_NAMES } from './words';

type Line = Schemas['StatementLine'];
type Kind = Schemas['AccountEntryKind'];

/** Balances and totals of a statement, and its lines; to be printed or kept as a file. */
export function StatementPanel({ record }: PanelProps) {
  const totals = Object.entries(record.totals as Record<Kind, number>).filter(
    ([, amount]) => amount !== 0,
  );
  return (
    <>
      <Panel title="Summary">
        <Facts
          facts={[
            ['Account', <AccountName record={record} />],
            ['Period', describePeriod(record)],
            ['Time zone', text(record.time_zone as string)],
            ['Drawn up', day(record.created_at as string)],
            ['Balance before', dollars(record.opening_balance as number)],
            ...totals.map(([kind, amount]): [string, string] => [
              TOTAL_NAMES[kind as Kind],
              dollars(amount),
            ]),
            ['Balance after', dollars(record.closing_balance as number)],
          ]}
        />
        {endsEarly(record) && (
          <p class="quiet">
            Its period was not over: entries of the two minutes before it was drawn up, and later
            ones, are for the next statement.
          </p>
        )}
        <WrongStatement record={record} />
      </Panel>
      <Lines id={String(record.id)} />
    </>
  );
}

/** No statement is withdrawn or changed: the ways to put one right are others. */
const WrongStatement = ({ record }: { record: Json }) => {
  const owner = record.buyer_id === null ? 'traffic_source_id' : 'buyer_id';
  const query = { [owner]: String(record[owner]) };
  return (
    <details class="on-screen">
      <summary>Is something wrong with it?</summary>
      <p>
        A statement stays as it was drawn up; it changes no balance, so that a wrong one does no
        harm to the account. Of another period or account,{' '}
        <a href={linkTo('statements', null, query)}>draw up a new one</a>, and tell your partner
        that it replaces number {String(record.id)}. Where an amount is wrong,{' '}
        <a href={linkTo(record.buyer_id === null ? 'payouts' : 'accounts')}>adjust the account</a>{' '}
        with a note: the next statement has the correction as a line.
      </p>
    </details>
  );
};

/** Until when the end of a period is the moment at which its statement was drawn up. */
const AT_ONCE_MS = 5 * 60_000;

const endsEarly = ({ created_at: drawnUp, period_to: end }: Json): boolean =>
  Date.parse(String(drawnUp)) - Date.parse(String(end)) < AT_ONCE_MS;

/** More than a page of a screen, so that what is printed is mostly whole. */
const MAX_LINES = 1_000;

function Lines({ id }: { id: string }) {
  const { api, transport } = useSession();
  const loaded = useLoaded(
    () =>
      ok(
        api.GET('/statements/{id}/lines', {
          params: { path: { id }, query: { per_page: MAX_LINES } },
        }),
      ),
    [api, id],
  );
  const save = useAction(() =>
    download(
      transport,
      buildPath(`/statements/${id}/lines`, { format: 'csv' }),
      `statement-${id}.csv`,
    ),
  );
  return (
    <Panel title="Lines" wide>
      <div class="toolbar">
        <button type="button" disabled={save.is_busy} onClick={() => void save.run()}>
          CSV
        </button>
        <button type="button" onClick={() => print()}>
          Print
        </button>
      </div>
      <Problem error={save.error} />
      <Show of={loaded}>
        {({ lines, metadata }) => (
          <>
            <Table
              caption="Lines"
              columns={COLUMNS}
              rows={lines}
              getKey={({ id: key }) => key}
              empty="Nothing was entered in this period."
            />
            {metadata.total_count > lines.length && (
              <p class="quiet">
                {count(lines.length)} of {count(metadata.total_count)} lines; the CSV has all.
              </p>
            )}
          </>
        )}
      </Show>
    </Panel>
  );
}

const COLUMNS: readonly Column<Line>[] = [
  { name: 'When', of: ({ at }) => dayTime(at) },
  { name: 'Kind', of: ({ kind }) => ENTRY_KINDS[kind] },
  {
    name: 'Call',
    of: ({ call_id: id }) => (id === null ? '' : <a href={linkTo('calls', id)}>{id}</a>),
  },
  { name: 'Offer', of: ({ offer }) => text(offer) },
  { name: 'Note', of: ({ note }) => text(note) },
  { name: 'Amount', of: ({ amount }) => dollars(amount), number: true },
  { name: 'Balance', of: ({ balance }) => dollars(balance), number: true },
];
