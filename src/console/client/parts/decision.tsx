import type { Schemas } from '../api';
import { count, dayTime, dollars, percent, text } from '../format';
import { Badge, Table, type Column } from './basics';
import { describeFault, describeNoBuyer } from './decision-words';
import { useSession } from '../session';
import { Bar, capTitle, isMoney } from './caps';

type Decision = Schemas['RoutingDecision'];
type Considered = Schemas['ConsideredBuyer'];

/**
 * A decision about a call: each buyer with the reason why or why not, and the caps at that time.
 */
export function DecisionDetails({ decision }: { decision: Decision }) {
  const { me } = useSession();
  const { action, reason, candidates, caps, at, seed } = decision;
  return (
    <>
      <p class={action === 'dial' ? 'notice good' : 'notice warn'}>
        {action === 'dial'
          ? `Dials ${listChosen(candidates) || 'a buyer that your team does not see'}.`
          : `${describeNoBuyer(decision)}.`}
      </p>
      <Table
        caption="Buyers that were considered"
        hasCards
        columns={COLUMNS}
        rows={candidates}
        getKey={({ buyer_id, buyer_group_id }) => `${buyer_id}/${buyer_group_id}`}
        empty={
          me.team_ids === null ? 'The offer has no buyers.' : 'Your team does not see the buyers.'
        }
      />
      {caps.length > 0 && <h3>Caps as they stood</h3>}
      <div class="bars">
        {caps.map((cap) => (
          <Bar
            key={`${cap.buyer_id}/${cap.buyer_group_id}/${cap.cap}`}
            title={`${describeOwner(cap, candidates)}: ${capTitle(cap.cap)}`}
            used={cap.used}
            limit={cap.limit}
            is_money={isMoney(cap.cap)}
            resets_at={cap.resets_at}
          />
        ))}
      </div>
      <p class="quiet">Decided for {dayTime(at)}.</p>
      <details>
        <summary>For support</summary>
        <p class="quiet">
          {reason} Seed {seed}
        </p>
      </details>
    </>
  );
}

const toBuyerName = ({ buyer_id, name }: Pick<Considered, 'buyer_id' | 'name'>): string =>
  name ?? `Buyer ${buyer_id}`;

const listChosen = (candidates: readonly Considered[]): string =>
  candidates
    .filter(({ chosen }) => chosen)
    .map(toBuyerName)
    .join(', ');

function describeOwner(
  { buyer_id, buyer_group_id }: Schemas['CapStanding'],
  candidates: readonly Considered[],
): string {
  if (buyer_id === null) return `Group ${buyer_group_id}`;
  const buyer = candidates.find((candidate) => candidate.buyer_id === buyer_id);
  return toBuyerName({ buyer_id, name: buyer?.name ?? null });
}

/** The API ranks by the lowest value; revenue and earnings are dollars, highest first. */
function describeRank({ route_by_type, tier }: Considered): string {
  if (route_by_type === 'revenue') return `${dollars(-tier)} a call`;
  if (route_by_type === 'epc') return `${dollars(-tier)} earned a call`;
  return `priority ${count(tier)}`;
}

const COLUMNS: readonly Column<Considered>[] = [
  { name: 'Rank', of: ({ rank }) => text(rank), number: true },
  { name: 'Buyer', of: toBuyerName },
  {
    name: 'Why, or why not',
    of: ({ chosen, ...fault }) => {
      if (fault.reason) return <span title={fault.reason}>{describeFault(fault)}</span>;
      return chosen ? <Badge tone="good">dialed</Badge> : 'can take the call, was not needed';
    },
  },
  { name: 'Ranked by', of: describeRank, number: true },
  { name: 'Weight', of: ({ weight }) => count(weight), number: true },
  { name: 'Share', of: ({ share }) => percent(share), number: true },
];
