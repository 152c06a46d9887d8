import { useState } from 'preact/hooks';
import { count, dollars, percent } from '../format';
import { Badge, Table, type Column } from '../parts/basics';
import { linkTo } from '../route';
import { describeBuyerState } from './buyer-state';
import type { Assignment } from './routing-order';

const SHOWN = 50;

export interface AssignmentTableProps {
  assignments: readonly Assignment[];
  isOrdered: boolean;
  hasGroups: boolean;
  onRemove: ((assignment: Assignment) => void) | undefined;
}

/** Buyers of an offer or group, in the order in which calls try them. */
export function AssignmentTable(props: AssignmentTableProps) {
  const { assignments, isOrdered, hasGroups, onRemove } = props;
  const [isWhole, setWhole] = useState(false);
  const columns = COLUMNS.filter(
    ({ name }) => (name !== 'Through' || hasGroups) && (isOrdered || !ORDER_TITLES.includes(name)),
  );
  const remove: Column<Assignment> = {
    name: 'Take off',
    of: (assignment) =>
      !assignment.group && (
        <button
          type="button"
          aria-label={`Take off ${String(assignment.buyer.name)}`}
          onClick={() => onRemove?.(assignment)}
        >
          Take off
        </button>
      ),
  };
  return (
    <>
      <Table
        caption="Buyers"
        columns={onRemove ? [...columns, remove] : columns}
        rows={isWhole ? assignments : assignments.slice(0, SHOWN)}
        getKey={({ buyer, group }) => `${String(group?.id)} ${String(buyer.id)}`}
        empty="It has no buyers yet: calls get none."
      />
      {!isWhole && assignments.length > SHOWN && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {count(assignments.length)}
        </button>
      )}
    </>
  );
}

const ORDER_TITLES: readonly string[] = ['Turn', 'Ordered by', 'Weight', 'First of its turn'];

const COLUMNS: readonly Column<Assignment>[] = [
  { name: 'Turn', of: ({ turn }) => count(turn), number: true },
  {
    name: 'Buyer',
    of: ({ buyer }) => (
      <a href={linkTo('buyers', String(buyer.id))}>{String(buyer.name ?? buyer.number)}</a>
    ),
  },
  {
    name: 'Through',
    of: ({ group }) =>
      group ? (
        <a href={linkTo('buyer_groups', String(group.id))}>{String(group.name)}</a>
      ) : (
        'this offer'
      ),
  },
  { name: 'Ordered by', of: describeOrder },
  {
    name: 'Price',
    of: ({ buyer }) => dollars(buyer.bid_price as number | null),
    number: true,
  },
  { name: 'Weight', of: ({ weight }) => count(weight), number: true },
  {
    name: 'First of its turn',
    of: ({ turn, share }) => (turn === undefined ? '' : percent(share)),
    number: true,
  },
  {
    name: 'State',
    of: ({ buyer, group }) => {
      const { text, tone } = group?.paused
        ? ({ text: 'group is paused', tone: 'warn' } as const)
        : describeBuyerState(buyer);
      return <Badge tone={tone}>{text}</Badge>;
    },
  },
];

function describeOrder({ buyer, group, rank }: Assignment): string {
  if (group?.dial_buyers_type === 'simultaneously') return `Priority ${rank}, all at once`;
  if (buyer.route_by_type === 'revenue') return `${dollars(-rank)} a call`;
  if (buyer.route_by_type === 'epc') return 'Earnings per call';
  return `Priority ${rank}`;
}
