import { ok, type Schemas } from '../api';
import { count, dollars } from '../format';
import { useLoaded } from '../loading';
import type { PanelProps } from '../nouns/layout';
import { Panel, Show, Table, type Column } from '../parts/basics';
import { linkTo } from '../route';
import { useSession } from '../session';
import { seesPart } from '../visible-contract';

type Payout = Schemas['TrafficSourcePayout'];
interface Terms {
  /** Undefined: all other offers. */
  offer?: { id: number; name: string };
  payouts: readonly Payout[];
}

const MAX_OFFERS = 1_000;

/** The pay of a traffic source, offer by offer: an offer's own terms go before the source's. */
export function SourcePayouts({ record }: PanelProps) {
  const { api, may, me } = useSession();
  const id = Number(record.id);
  const loaded = useLoaded(async () => {
    const query = { columns: ['id', 'name', 'payouts'], per_page: MAX_OFFERS };
    return (await ok(api.GET('/offers', { params: { query } }))).offers;
  }, [api]);
  if (!may('offers:read') || !seesPart('purchase', me)) return null;
  return (
    <Panel title="What it is paid, by offer">
      <Show of={loaded}>
        {(offers) => {
          const own = (record.payouts ?? []) as readonly Payout[];
          const special = offers.flatMap((offer): Terms[] => {
            const payouts = (offer.payouts ?? []).filter(
              ({ traffic_source_id: source }) => (source ?? id) === id,
            );
            const name = offer.name ?? `Offer ${offer.id}`;
            return payouts.length > 0 ? [{ offer: { id: Number(offer.id), name }, payouts }] : [];
          });
          return (
            <Table
              caption="What it is paid, by offer"
              columns={COLUMNS}
              rows={[...special, { payouts: own }]}
              getKey={({ offer }) => offer?.id ?? 'others'}
              empty=""
            />
          );
        }}
      </Show>
    </Panel>
  );
}

const COLUMNS: readonly Column<Terms>[] = [
  {
    name: 'Offer',
    of: ({ offer }) =>
      offer ? <a href={linkTo('offers', String(offer.id))}>{offer.name}</a> : 'All other offers',
  },
  {
    name: 'Pays',
    of: ({ payouts }) => {
      if (payouts.length === 0) return 'nothing';
      return payouts.map((payout, index) => (
        <div key={index}>
          {index > 0 && 'else '}
          {describePayout(payout)}
        </div>
      ));
    },
  },
];

function describePayout({ payout_type: type, amount, paid_for: paidFor, ...terms }: Payout) {
  const pays = type === 'fixed' ? dollars(amount) : `${count(amount)}% of what the buyer pays`;
  const isForDuration = paidFor === 'duration';
  const condition = isForDuration
    ? ` for a call of ${count(terms.duration ?? 0)} seconds or more`
    : type === 'fixed' && ' for a call that the buyer pays for';
  const frame = terms.duplicate_timeframe;
  return `${pays}${condition || ''}${frame ? `, once per caller in ${describeFrame(frame)}` : ''}`;
}

const DAY_SECONDS = 86_400;
const describeFrame = (seconds: number): string =>
  seconds % DAY_SECONDS === 0
    ? `${count(seconds / DAY_SECONDS)} days`
    : `${count(seconds / 3_600)} hours`;
