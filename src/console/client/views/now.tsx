import { ok, type Schemas } from '../api';
import { Badge, Panel, Show, Table, Tile, type Column } from '../parts/basics';
import { Chart } from '../parts/chart';
import { Ticking } from '../parts/ticking';
import { count, dollars, dayTime, percent, text, time, shortDollars, words } from '../format';
import { useLive, useLoaded } from '../loading';
import { linkTo } from '../route';
import { useSession } from '../session';
import { CapsNearEnd } from './now-caps';
import { loadTotals, type Totals } from './load-totals';
import { Happening } from './now-events';
import { ImportsInTrouble, WebhooksInTrouble } from './now-trouble';

type Call = Schemas['Call'];

/** Current calls, caps, events, webhooks and imports. */
export function NowView() {
  const { may } = useSession();
  return (
    <>
      <h1>Now</h1>
      {may('calls:read') && <Calls />}
      <div class="grid">
        {may('buyers:read') && <CapsNearEnd />}
        <Happening />
        {may('outgoing_webhooks:read') && <WebhooksInTrouble />}
        {may('buyer_suppression_files:read') && <ImportsInTrouble />}
      </div>
    </>
  );
}

const MINUTES = 60;
const MINUTE_MS = 60_000;
const CALL_COLUMNS = [
  'id',
  'created_at',
  'connected_at',
  'ended_at',
  'status',
  'caller_number',
  'buyer',
  'offer',
  'total_duration',
  'revenue',
];
/** Only the newest calls are listed and plotted; the numbers count all. */
const MAX_SHOWN = 50;
const MAX_COUNTED = 1_000;

function Calls() {
  const { api } = useSession();
  const loaded = useLoaded(async () => {
    // From the beginning of a minute, so that the bars are all of the hour.
    const since = new Date((Math.floor(Date.now() / MINUTE_MS) - MINUTES + 1) * MINUTE_MS);
    const list = (query: object) =>
      ok(api.GET('/calls', { params: { query: { columns: CALL_COLUMNS, ...query } } }));
    const period = { created_at_from: since.toISOString() };
    const [open, recent, totals] = await Promise.all([
      list({ in_progress: true, per_page: MAX_SHOWN, order_dir: 'desc' }),
      list({ ...period, per_page: MAX_COUNTED, order_dir: 'desc' }),
      loadTotals(api, period.created_at_from),
    ]);
    return { since, open, recent, totals };
  }, [api]);
  useLive(({ kind }) => kind === 'call', loaded.reload);
  return <Show of={loaded}>{(shown) => <CallsPanel {...shown} />}</Show>;
}

interface CallsShownProps {
  since: Date;
  open: Schemas['CallPage'];
  recent: Schemas['CallPage'];
  totals: Totals;
}

function CallsPanel({ since, open, recent, totals }: CallsShownProps) {
  const {
    inbound: { calls, connects },
    revenue,
  } = totals;
  return (
    <>
      <dl class="tiles">
        <Tile name="Calls under way" value={count(open.metadata.total_count)} />
        <Tile name="Inbound calls in the last hour" value={count(calls)} />
        <Tile
          name="Connect rate"
          value={calls === 0 ? percent(null) : percent(connects / calls)}
          note={`${count(connects)} of ${count(calls)} calls`}
        />
        <Tile
          name="Revenue in the last hour"
          value={dollars(revenue)}
          note="incoming and outgoing calls"
        />
      </dl>
      <div class="grid">
        {revenue !== null && (
          <Panel
            title="Revenue by minute"
            headerContent={<span class="quiet">{describeCounted(recent)}</span>}
            wide
          >
            <RevenueByMinute calls={recent.calls} since={since} />
          </Panel>
        )}
        <Panel title="Calls under way" wide>
          <Table
            caption="Calls under way"
            columns={OPEN_COLUMNS}
            rows={open.calls}
            getKey={({ id }) => id!}
            empty="No call is under way."
          />
        </Panel>
      </div>
    </>
  );
}

const OPEN_COLUMNS: readonly Column<Call>[] = [
  { name: 'Call', of: ({ id }) => <a href={linkTo('calls', id)}>{id}</a> },
  { name: 'Since', of: ({ created_at }) => dayTime(created_at) },
  { name: 'Caller', of: ({ caller_number }) => text(caller_number) },
  { name: 'Offer', of: ({ offer }) => text(offer) },
  { name: 'Buyer', of: ({ buyer }) => text(buyer) },
  { name: 'Status', of: ({ status }) => <Badge>{words(status)}</Badge> },
  { name: 'Duration', of: ({ created_at }) => <Ticking since={created_at!} />, number: true },
];

const describeCounted = ({ calls, metadata }: Schemas['CallPage']): string =>
  metadata.total_count > calls.length
    ? `The newest ${count(calls.length)} calls, incoming and outgoing`
    : 'Incoming and outgoing calls';

function RevenueByMinute({ calls, since }: { calls: readonly Call[]; since: Date }) {
  const first = since.getTime() / MINUTE_MS;
  const x = Array.from({ length: MINUTES }, (_, n) => (first + n) * MINUTE_MS);
  const values = x.map(() => 0);
  for (const { created_at, revenue } of calls) {
    const minute = Math.floor(new Date(created_at!).getTime() / MINUTE_MS) - first;
    if (values[minute] !== undefined) values[minute] += revenue ?? 0;
  }
  return (
    <Chart
      title="Revenue by minute"
      x={x}
      x_name="Minute"
      formatLabel={(at) => time(new Date(at).toISOString()).slice(0, 5)}
      series={[{ name: 'Revenue', values, format: dollars, tick: shortDollars }]}
    />
  );
}
