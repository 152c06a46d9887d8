import { useState } from 'preact/hooks';
import { ApiError, ok, type Schemas } from '../api';
import { Field, Panel, Show, Table, Tile, type Column } from '../parts/basics';
import { Chart } from '../parts/chart';
import { count, dollars, percent, shortDollars, words } from '../format';
import { useLoaded } from '../loading';
import { useSession } from '../session';

type Row = Schemas['CallReportRow'];

export const ReportsView = () => (
  <>
    <h1>Reports</h1>
    <Reports />
  </>
);

const DAY_MS = 86_400_000;
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const formatDay = (at: Date): string =>
  [at.getFullYear(), at.getMonth() + 1, at.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');

const CATEGORIES = [
  { category: 'day', title: 'By day', of: 'Day' },
  { category: 'buyer', title: 'By buyer', of: 'Buyer' },
  { category: 'traffic_source', title: 'By source', of: 'Source' },
] as const;

function Reports() {
  const { api } = useSession();
  const [from, setFrom] = useState(formatDay(new Date(Date.now() - 13 * DAY_MS)));
  const [to, setTo] = useState(formatDay(new Date()));
  const loaded = useLoaded(() => {
    const end = new Date(`${to}T00:00`);
    end.setDate(end.getDate() + 1);
    const period = {
      created_at_from: new Date(`${from}T00:00`).toISOString(),
      created_at_to: new Date(end.getTime() - 1).toISOString(),
      time_zone: ZONE,
    };
    return Promise.all(
      CATEGORIES.map(({ category }) =>
        unlessHidden(ok(api.GET('/calls/reports', { params: { query: { category, ...period } } }))),
      ),
    );
  }, [api, from, to]);
  return (
    <>
      <form class="search" onSubmit={(event) => event.preventDefault()}>
        <DayField label="From" value={from} onChange={setFrom} />
        <DayField label="To" value={to} onChange={setTo} />
      </form>
      <Show of={loaded}>
        {(reports) => (
          <>
            {reports[0] && <Totals figures={reports[0].totals} />}
            <div class="grid">
              {reports[0]?.totals.unbilled_reasons && (
                <UnbilledCalls counts={reports[0].totals.unbilled_reasons} />
              )}
              {reports.map(
                (report, n) =>
                  report && (
                    <Report key={CATEGORIES[n]!.category} {...CATEGORIES[n]!} rows={report.rows} />
                  ),
              )}
            </div>
          </>
        )}
      </Show>
    </>
  );
}

/** Undefined for a report that would reveal hidden values to the caller. */
const unlessHidden = <T,>(report: Promise<T>): Promise<T | undefined> =>
  report.catch((error: unknown) => {
    if (error instanceof ApiError && error.problem?.code === 'beyond_your_rights') return undefined;
    throw error;
  });

interface DayFieldProps {
  label: string;
  value: string;
  onChange: (day: string) => void;
}

const DayField = ({ label, value, onChange }: DayFieldProps) => (
  <Field
    label={label}
    type="date"
    value={value}
    onInput={({ currentTarget }) => currentTarget.value !== '' && onChange(currentTarget.value)}
  />
);

const Totals = ({ figures }: { figures: Schemas['CallReportFigures'] }) => (
  <dl class="tiles">
    <Tile
      name="Calls"
      value={count(figures.calls)}
      note={
        figures.sandbox_calls > 0
          ? `${count(figures.sandbox_calls)} of them in the sandbox, where no telephone rang`
          : undefined
      }
    />
    <Tile
      name="Connected"
      value={count(figures.connects)}
      note={figures.calls > 0 ? percent(figures.connects / figures.calls) : undefined}
    />
    <Tile name="Paid for" value={count(figures.conversions)} />
    <Tile name="Revenue" value={dollars(figures.revenue)} />
    <Tile name="Payout" value={dollars(figures.payout)} />
    <Tile name="Profit" value={dollars(figures.profit)} />
  </dl>
);

/** How many calls no buyer pays for, and why. */
const UnbilledCalls = ({ counts }: { counts: Record<string, number> }) => (
  <Panel title="Why calls were not paid">
    <Table
      caption="Calls that no buyer pays for, by reason"
      columns={[
        { name: 'Reason', of: ([reason]: [string, number]) => words(reason) },
        { name: 'Calls', of: ([, calls]: [string, number]) => count(calls), number: true },
      ]}
      rows={Object.entries(counts).toSorted(([, a], [, b]) => b - a)}
      getKey={([reason]) => reason}
      empty="There are no such calls."
    />
  </Panel>
);

interface ReportProps {
  category: (typeof CATEGORIES)[number]['category'];
  title: string;
  /** The name of a row's category. */
  of: string;
  rows: readonly Row[];
}

/** Dollars as a plot, or calls for those who may not see dollars; the rest as a table. */
function Report({ category, title, of, rows }: ReportProps) {
  const hasDollars = rows.some(({ revenue }) => revenue !== null);
  const series = hasDollars
    ? {
        name: 'Revenue',
        values: rows.map(({ revenue }) => revenue),
        format: dollars,
        tick: shortDollars,
      }
    : { name: 'Calls', values: rows.map(({ calls }) => calls), format: count, tick: count };
  const isDay = category === 'day';
  return (
    <Panel title={title} wide={isDay}>
      {rows.length > 0 && (
        <Chart
          title={`${series.name} ${title.toLowerCase()}`}
          x={rows.map(toRowName)}
          x_name={of}
          formatLabel={(name) => (isDay ? String(name).slice(5) : short(String(name)))}
          series={[series]}
          hasTable
        />
      )}
      <Table
        caption={title}
        columns={[{ name: of, of: toRowName }, ...FIGURES]}
        rows={rows}
        getKey={(row) => row.key ?? ''}
        empty="There were no calls."
      />
    </Panel>
  );
}

const MAX_LABEL = 14;
const short = (name: string): string =>
  name.length > MAX_LABEL ? `${name.slice(0, MAX_LABEL - 1)}…` : name;

const toRowName = ({ name, key }: Row): string => name ?? key ?? 'none';

/** Says how many calls rang no telephone. */
const formatCalls = ({ calls, sandbox_calls }: Row): string =>
  sandbox_calls > 0 ? `${count(calls)} (${count(sandbox_calls)} sandbox)` : count(calls);

const FIGURES: readonly Column<Row>[] = [
  { name: 'Calls', of: formatCalls, number: true },
  { name: 'Connected', of: ({ connects }) => count(connects), number: true },
  { name: 'Paid for', of: ({ conversions }) => count(conversions), number: true },
  { name: 'Revenue', of: ({ revenue }) => dollars(revenue), number: true },
  { name: 'Profit', of: ({ profit }) => dollars(profit), number: true },
];
