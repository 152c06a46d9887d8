import { useState } from 'preact/hooks';
import { ApiError } from '../api';
import { findNoun } from '../contract';
import { ReferenceSearch } from '../form/combobox';
import { useAction, useLoaded } from '../loading';
import { mayDo, mayWriteField } from '../noun/access';
import type { PanelProps } from '../nouns/layout';
import { Panel, Problem, Show } from '../parts/basics';
import { useSession, type Session } from '../session';
import { showToast } from '../toast';
import { send, type Json } from '../transport';
import { AssignmentTable, type AssignmentTableProps } from './assignment-table';
import { OrderEditor } from './order-editor';
import {
  describeMixture,
  hasDraws,
  isByPriority,
  ORDER_COLUMNS,
  orderAssignments,
  type Assignment,
} from './routing-order';

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
          <OrderedBuyers
            assignments={assignments}
            isOrdered={record.dial_buyers_type !== 'simultaneously'}
            hasGroups={groups.length > 0}
            offerId={noun === 'offers' ? String(record.id) : undefined}
            reload={loaded.reload}
            onRemove={mayChange ? (assignment) => void remove(assignment) : undefined}
          />
        )}
      </Show>
    </Panel>
  );
}

interface OrderedBuyersProps extends AssignmentTableProps {
  offerId: string | undefined;
  reload: () => Promise<void>;
}

/** The table, or in its stead the editor of its order. */
function OrderedBuyers({ offerId, reload, ...props }: OrderedBuyersProps) {
  const session = useSession();
  const [isOrdering, setOrdering] = useState(false);
  const { assignments, isOrdered } = props;
  const end = async () => {
    await reload();
    setOrdering(false);
  };
  if (isOrdering) return <OrderEditor assignments={assignments} offerId={offerId} onEnd={end} />;
  return (
    <>
      <OrderNote assignments={assignments} isOrdered={isOrdered} />
      <AssignmentTable {...props} />
      {isOrdered && mayOrder(session) && assignments.some(isByPriority) && (
        <button type="button" onClick={() => setOrdering(true)}>
          Change the order
        </button>
      )}
    </>
  );
}

function mayOrder(session: Session): boolean {
  const noun = findNoun(session.contract, 'buyers');
  return [noun.write.tier, noun.write.weight].every((field) => mayWriteField(session, noun, field));
}

interface OrderNoteProps {
  assignments: readonly Assignment[];
  isOrdered: boolean;
}

/** In words, how the order comes about. */
function OrderNote({ assignments, isOrdered }: OrderNoteProps) {
  if (!isOrdered)
    return <p class="quiet">All are rung at once; the first to answer gets the call.</p>;
  const mixture = describeMixture(assignments);
  return (
    <>
      {mixture && <p class="notice warn">{mixture}</p>}
      {hasDraws(assignments) && (
        <p class="quiet">
          Buyers of one turn are drawn for every call, by their weights; if the first does not
          answer, the others of its turn follow, then the next turn.
        </p>
      )}
    </>
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
