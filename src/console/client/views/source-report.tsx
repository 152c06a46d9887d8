import { useState } from 'preact/hooks';
import { ok, type Schemas } from '../api';
import { count, dollars, percent, text } from '../format';
import { useAction, useLoaded } from '../loading';
import type { PanelProps } from '../nouns/layout';
import { Panel, Problem, Show, Table, Tile, type Column } from '../parts/basics';
import { Select } from '../parts/select';
import { useSession, type Session } from '../session';
import { PERIODS, toPeriod } from '../table/period';
import { buildPath, download } from '../transport';
import { currentZone } from '../zone';
import { listFigures, type FigureName } from './reports/figures';

type Row = Schemas['GroupedCallReport']['rows'][number];

const GROUPS = {
  day: 'Day',
  hour_of_day: 'Hour of the day',
  offer: 'Offer',
  sub_id: 'Sub-source',
  state: 'State',
} as const;
type Group = keyof typeof GROUPS;

const PERIOD_TITLES = Object.fromEntries(
  Object.entries(PERIODS).map(([name, { title }]) => [name, title]),
);

/** Calls, payments and payouts of a traffic source in a period. */
export function SourceReport({ record }: PanelProps) {
  const { api, may, me, transport } = useSession();
  const [group, setGroup] = useState<Group>('day');
  const [period, setPeriod] = useState('last_30_days');
  const id = String(record.id);
  const zone = currentZone();
  const { from, to } = toPeriod(period)!;
  const query = { group_by: [group], created_at_from: from, created_at_to: to, time_zone: zone };
  const loaded = useLoaded(
    () =>
      ok(
        api.GET('/traffic_sources/{id}/report', {
          params: { path: { id }, query: { ...query, per_page: MAX_ROWS } },
        }),
      ),
    [api, id, group, from, zone],
  );
  const save = useAction(() =>
    download(
      transport,
      buildPath(`/traffic_sources/${id}/report`, { ...query, format: 'csv' }),
      'traffic-source.csv',
    ),
  );
  if (!may('calls:read')) return null;
  return (
    <Panel title="Its calls" wide>
      <div class="toolbar">
        <Select label="Period" choices={PERIOD_TITLES} value={period} onChange={setPeriod} />
        <Select
          label="By"
          choices={GROUPS}
          value={group}
          onChange={(value) => setGroup(value as Group)}
        />
        <button type="button" disabled={save.is_busy} onClick={() => void save.run()}>
          CSV
        </button>
      </div>
      <Problem error={save.error} />
      <Show of={loaded}>
        {({ rows, totals, metadata }) => (
          <>
            <dl class="tiles">
              <Tile name="Calls" value={count(totals.calls)} />
              <Tile name="Taken by a buyer" value={percent(totals.connect_rate)} />
              <Tile name="Paid to it for" value={count(totals.traffic_source_conversions)} />
              <Tile name="Payout" value={dollars(totals.payout)} />
            </dl>
            <Table
              caption="Its calls"
              columns={[{ name: GROUPS[group], of: nameRow }, ...listColumns(me)]}
              rows={rows}
              getKey={nameRow}
              empty="It sent no calls in this period."
            />
            {metadata.total_count > rows.length && (
              <p class="quiet">
                {count(rows.length)} of {count(metadata.total_count)} rows; the CSV has all.
              </p>
            )}
          </>
        )}
      </Show>
    </Panel>
  );
}

const MAX_ROWS = 100;

const nameRow = ({ groups: [first] }: Row): string => text(first?.name ?? first?.key) || 'none';

const SHOWN: readonly FigureName[] = [
  ...(['calls', 'connects', 'conversions', 'revenue'] as const),
  ...(['payout', 'profit', 'average_duration'] as const),
];

/** Columns of the figures that the caller sees. */
const listColumns = (me: Session['me']): Column<Row>[] =>
  listFigures(me)
    .filter(({ name }) => SHOWN.includes(name))
    .map(({ name, title, format }) => ({
      name: title,
      of: (row) => format(row[name]),
      number: true,
    }));
