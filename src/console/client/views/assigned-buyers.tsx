import { useState } from 'preact/hooks';
import { ApiError } from '../api';
import { findNoun } from '../contract';
import { ReferenceSearch } from '../form/combobox';
import { count, dollars, percent } from '../format';
import { useAction, useLoaded } from '../loading';
import { mayDo, mayWriteField } from '../noun/access';
import type { PanelProps } from '../nouns/layout';
import { Badge, Panel, Problem, Show, Table, type Column } from '../parts/basics';
import { linkTo } from '../route';
import { useSession, type Session } from '../session';
import { showToast } from '../toast';
import { send, type Json } from '../transport';
import { describeBuyerState } from './buyer-caps';
import { describeMixture, ORDER_COLUMNS, orderAssignments, type Assignment } from './routing-order';

/** The buyers of an offer, those of its groups included. */
export const OfferBuyers = (props: PanelProps) => <AssignedBuyers {...props} noun="offers" />;

/** The buyers of a group. */
export const GroupBuyers = (props: PanelProps) => <AssignedBuyers {...props} noun="buyer_groups" />;

/** Buyers in the order in which calls try them; they are added by their names. */
function AssignedBuyers({ noun, record, reload }: PanelProps & { noun: string }) {
  const session = useSession();
  const contract = findNoun(session.contract, noun);
  const mayChange =
    mayDo(session, contract, 'update') &&
    mayWriteField(session, contract, contract.write.add_buyer_ids);
  const direct = toIds(record.buyer_ids);
  const groups = toIds(record.buyer_group_ids);
  const loaded = useLoaded(
    () => loadAssignments(session, direct, groups),
    [session, direct.join(), groups.join()],
  );
  const change = useAction(async (body: Json, text: string) => {
    await send(session.transport, 'PUT', `/${noun}/${String(record.id)}`, { body });
    await reload();
    showToast(text);
  });
  const remove = ({ buyer }: Assignment) =>
    change.run({ remove_buyer_ids: [buyer.id] }, `${String(buyer.name)} was taken off.`);
  if (!session.may('buyers:read')) return null;
  return (
    <Panel title="Buyers, in the order in which calls try them" wide>
      {mayChange && (
        <div class="field wide-field">
          <label for="add-buyer">Add a buyer</label>
          <ReferenceSearch
            id="add-buyer"
            noun="buyers"
            shown=""
            placeholder="Search by name"
            disabled={change.is_busy}
            onChoose={({ id, title }) =>
              void (direct.includes(id)
                ? showToast(`${title} is here already.`)
                : change.run({ add_buyer_ids: [id] }, `${title} was added.`))
            }
          />
        </div>
      )}
      <Problem error={change.error} />
      <Show of={loaded}>
        {(assignments) => (
          <Assignments
            assignments={assignments}
            isOrdered={record.dial_buyers_type !== 'simultaneously'}
            hasGroups={groups.length > 0}
            onRemove={mayChange ? (assignment) => void remove(assignment) : undefined}
          />
        )}
      </Show>
    </Panel>
  );
}

const toIds = (ids: unknown): string[] => (Array.isArray(ids) ? ids.map(String) : []);

/** As many ids as an address may be long. */
const IDS_AT_ONCE = 500;

/** Records by id; those that the caller may not see are left out. */
async function loadAll(
  { transport, contract }: Session,
  noun: string,
  ids: readonly string[],
  columns: readonly string[],
): Promise<Json[]> {
  const records: Json[] = [];
  for (let start = 0; start < ids.length; start += IDS_AT_ONCE) {
    const part = ids.slice(start, start + IDS_AT_ONCE);
    const query = { ids: part, columns, per_page: part.length };
    try {
      const { data } = await send(transport, 'GET', `/${noun}`, { query });
      records.push(...(data[findNoun(contract, noun).list_key] as Json[]));
    } catch (error) {
      // The answer when none of them may be seen.
      if (!(error instanceof ApiError && error.status === 422)) throw error;
    }
  }
  return records;
}

const GROUP_COLUMNS = ['id', 'name', 'buyer_ids', 'paused', 'dial_buyers_type', 'tier', 'weight'];

async function loadAssignments(
  session: Session,
  direct: readonly string[],
  groupIds: readonly string[],
): Promise<Assignment[]> {
  const groups = session.may('buyer_groups:read')
    ? await loadAll(session, 'buyer_groups', groupIds, GROUP_COLUMNS)
    : [];
  const ids = [...new Set([...direct, ...groups.flatMap((group) => toIds(group.buyer_ids))])];
  const buyers = await loadAll(session, 'buyers', ids, ORDER_COLUMNS);
  const byId = new Map(buyers.map((buyer) => [String(buyer.id), buyer]));
  const pick = (picked: readonly string[]) =>
    picked.map((id) => byId.get(id)).filter((buyer) => buyer !== undefined);
  return orderAssignments(
    pick(direct),
    groups.map((group) => ({ group, buyers: pick(toIds(group.buyer_ids)) })),
  );
}

const SHOWN = 50;

interface AssignmentsProps {
  assignments: readonly Assignment[];
  isOrdered: boolean;
  hasGroups: boolean;
  onRemove: ((assignment: Assignment) => void) | undefined;
}

function Assignments({ assignments, isOrdered, hasGroups, onRemove }: AssignmentsProps) {
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
  const mixture = isOrdered ? describeMixture(assignments) : undefined;
  return (
    <>
      {mixture && <p class="notice warn">{mixture}</p>}
      {!isOrdered && <p class="quiet">All are rung at once; the first to answer gets the call.</p>}
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

const ORDER_TITLES: readonly string[] = ['Ordered by', 'Weight', 'Share'];

const COLUMNS: readonly Column<Assignment>[] = [
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
  { name: 'Share', of: ({ share }) => percent(share), number: true },
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
