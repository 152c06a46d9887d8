import { ok, type Api } from '../../api';
import { copyText } from '../../clipboard';
import { count, percent } from '../../format';
import { useAction, useLoaded } from '../../loading';
import { Panel, Problem, Show, Tile } from '../../parts/basics';
import { Chart, type Series } from '../../parts/chart';
import { TurnPages } from '../../parts/turn-pages';
import { linkTo } from '../../route';
import { useSession } from '../../session';
import { fromDayInputs } from '../../table/period';
import { currentZone, toDay } from '../../zone';
import { findDaysBefore, joinKey, type DaySpan } from './compare';
import { Controls } from './controls';
import { listFigures, type Figure } from './figures';
import { nameGroup } from './groups';
import { saveReport } from './save-report';
import { findSumKey, ReportTable, type Before, type Report } from './report-table';
import {
  MAX_ROWS,
  toLinkQuery,
  toQuery,
  useReportState,
  type ReportFilters,
  type ReportState,
} from './state';
import { UnbilledCalls } from './unbilled';

const PAGE_SIZE = 100;

/** Calls, rates and dollars, by what a person groups them by. */
export function ReportsView() {
  const { api, me } = useSession();
  const { state, change, turn } = useReportState();
  const shown = listFigures(me);
  const key = JSON.stringify(state);
  const loaded = useLoaded(() => loadReport(api, state), [api, key]);
  return (
    <>
      <h1>Reports</h1>
      <details class="settings" open={!isNarrow()}>
        <summary>Period, groups and filters</summary>
        <Controls state={state} shown={shown} change={change} />
      </details>
      <ZoneNote zone={state.filters.time_zone} reset={() => change({ time_zone: null })} />
      <Tools state={state} shown={shown} />
      <Show of={loaded}>
        {({ report, before, first, sums }) => (
          <>
            <Totals report={report} shown={shown} />
            <div class="grid">
              <Panel title="Report" wide>
                <ReportChart {...{ state, shown, report, before, first }} />
                <ReportTable
                  state={state}
                  shown={shown}
                  report={report}
                  before={before}
                  first={first}
                  sums={sums}
                  sort={(order, direction) => change({ order, dir: direction })}
                />
                <Pages report={report} turn={turn} />
              </Panel>
              <UnbilledCalls filters={state.filters} />
            </div>
          </>
        )}
      </Show>
    </>
  );
}

/** On a telephone the settings would be all that one sees first. */
const isNarrow = (): boolean => matchMedia('(max-width: 620px)').matches;

async function loadReport(api: Api, state: ReportState) {
  const query = toQuery(state);
  const load = (more: Partial<ReturnType<typeof toQuery>> & { page?: number; per_page: number }) =>
    ok(api.GET('/calls/reports/grouped', { params: { query: { ...query, ...more } } }));
  const span = findDays(state.filters);
  const daysBefore = findDaysBefore(span);
  const { from, to } = fromDayInputs(...daysBefore, state.filters.time_zone);
  const [report, earlier, summed] = await Promise.all([
    load({ page: state.page, per_page: PAGE_SIZE }),
    state.isCompared
      ? load({ created_at_from: from, created_at_to: to, per_page: MAX_ROWS })
      : undefined,
    hasSums(state) ? load({ group_by: state.groups.slice(0, 1), per_page: MAX_ROWS }) : undefined,
  ]);
  const before: Before | undefined = earlier && {
    rows: new Map(earlier.rows.map((row) => [joinKey(row, daysBefore[0]), row])),
    totals: earlier.totals,
  };
  const sums = new Map(summed?.rows.map((row) => [findSumKey(row), row]));
  return { report, before, first: span[0], sums };
}

/** Rows of one first group follow each other unless they are sorted by a figure. */
const hasSums = ({ groups, order }: ReportState): boolean => groups.length > 1 && !order;

const findDays = (filters: ReportFilters): DaySpan => [
  toDay(new Date(filters.created_at_from), filters.time_zone),
  toDay(new Date(filters.created_at_to), filters.time_zone),
];

function ZoneNote({ zone, reset }: { zone: string; reset: () => void }) {
  return (
    <p class="quiet">
      Days and hours are those of {zone}.{' '}
      {zone !== currentZone() && (
        <button type="button" onClick={reset}>
          Use {currentZone()}
        </button>
      )}
    </p>
  );
}

function Tools({ state, shown }: { state: ReportState; shown: readonly Figure[] }) {
  const { api } = useSession();
  const save = useAction(() => saveReport(api, { state, shown }));
  const share = () => {
    const link = new URL(linkTo('reports', null, toLinkQuery(state)), location.href);
    return copyText(link.href, 'The link to this report is on the clipboard.');
  };
  return (
    <>
      <div class="toolbar">
        <button type="button" disabled={save.is_busy} onClick={() => void save.run()}>
          CSV
        </button>
        <button type="button" onClick={() => void share()}>
          Copy link
        </button>
      </div>
      <Problem error={save.error} />
    </>
  );
}

interface TotalsProps {
  report: Report;
  shown: readonly Figure[];
}

const TILES: readonly Figure['name'][] = ['conversions', 'revenue', 'payout', 'profit'];

const Totals = ({ report: { totals, metadata }, shown }: TotalsProps) => (
  <dl class="tiles">
    <Tile
      name="Calls"
      value={count(totals.calls)}
      {...(metadata.sandbox_calls > 0 && {
        note: `${count(metadata.sandbox_calls)} of them in the sandbox, where no telephone rang`,
      })}
    />
    <Tile name="Connect rate" value={totals.calls > 0 ? percent(totals.connect_rate) : '–'} />
    {shown
      .filter(({ name }) => TILES.includes(name))
      .map(({ name, title, format }) => (
        <Tile key={name} name={title} value={format(totals[name])} />
      ))}
  </dl>
);

interface ReportChartProps {
  state: ReportState;
  shown: readonly Figure[];
  report: Report;
  before: Before | undefined;
  first: string;
}

/** The chosen figure; calls for those who do not see it. */
function ReportChart({ state, shown, report: { rows }, before, first }: ReportChartProps) {
  if (rows.length === 0) return null;
  const { name, title, ...formats } =
    shown.find((figure) => figure.name === state.figure) ?? shown[0]!;
  const now: Series = { name: title, values: rows.map((row) => row[name]), ...formats };
  const earlier: Series | undefined = before && {
    name: 'Period before',
    values: rows.map((row) => before.rows.get(joinKey(row, first))?.[name] ?? null),
    ...formats,
  };
  return (
    <Chart
      title={title}
      x={rows.map(({ groups }) => groups.map(nameGroup).join(BETWEEN))}
      x_name="Row"
      formatLabel={shorten}
      series={earlier ? [now, earlier] : [now]}
      hasTable
    />
  );
}

const BETWEEN = ' · ';
const MAX_LABEL = 24;
/** The last group of a row, below its bar; the bar's own text has them all. */
const shorten = (name: number | string): string => {
  const text = String(name).split(BETWEEN).at(-1)!;
  return text.length > MAX_LABEL ? `${text.slice(0, MAX_LABEL - 1)}…` : text;
};

function Pages({ report, turn }: { report: Report; turn: (page: number) => void }) {
  const { page, total_pages: pages, total_count: total } = report.metadata;
  return (
    <nav class="pages" aria-label="Pages">
      <span class="quiet" role="status">
        {count(total)} {total === 1 ? 'row' : 'rows'}
      </span>
      <TurnPages page={page} pages={pages} turn={turn} />
    </nav>
  );
}
