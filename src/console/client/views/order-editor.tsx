import { useState } from 'preact/hooks';
import { ok } from '../api';
import { useAction, useLoaded } from '../loading';
import { Problem, Table, type Column } from '../parts/basics';
import { RecordNames } from '../noun/record-name';
import { useSession } from '../session';
import { showToast } from '../toast';
import { send, type Json } from '../transport';
import { isByPriority, type Assignment } from './routing-order';

type OrderField = 'tier' | 'weight';
type Draft = Partial<Record<OrderField, string>>;

const LABELS: Readonly<Record<OrderField, string>> = { tier: 'Priority', weight: 'Weight' };

interface OrderEditorProps {
  assignments: readonly Assignment[];
  /** The offer whose page it is; undefined on the page of a group. */
  offerId: string | undefined;
  onEnd: () => Promise<void>;
}

/** Priorities and weights of all buyers of an offer or group, changed together. */
export function OrderEditor({ assignments, offerId, onEnd }: OrderEditorProps) {
  const { transport } = useSession();
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({});
  const buyers = listBuyers(assignments);
  const offers = useOtherOffers(buyers, offerId);
  const changes = buyers.flatMap((buyer) => {
    const body = readChanges(buyer, drafts[String(buyer.id)] ?? {});
    return Object.keys(body).length > 0 ? [{ id: String(buyer.id), body }] : [];
  });
  const save = useAction(async () => {
    for (const { id, body } of changes) await send(transport, 'PUT', `/buyers/${id}`, { body });
    await onEnd();
    showToast('The order was changed.');
  });
  const write = (id: string, field: OrderField, text: string) =>
    setDrafts((before) => ({ ...before, [id]: { ...before[id], [field]: text } }));
  const toColumn = (field: OrderField): Column<Json> => ({
    name: LABELS[field],
    of: (buyer) => (
      <input
        class="short"
        inputMode="decimal"
        required
        pattern="-?\d+(\.\d+)?"
        title="A number"
        aria-label={`${LABELS[field]} of ${String(buyer.name)}`}
        disabled={save.is_busy}
        value={drafts[String(buyer.id)]?.[field] ?? String(buyer[field])}
        onInput={(event) => write(String(buyer.id), field, event.currentTarget.value)}
      />
    ),
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void save.run();
  };
  return (
    <form onSubmit={submit}>
      <p class="notice">
        The lowest priority is tried first; buyers of one priority are drawn by their weights. Both
        belong to the buyer: a change counts in every offer that has it.
      </p>
      <Table
        caption="Order of the buyers"
        columns={[
          { name: 'Buyer', of: ({ name, number }) => String(name ?? number) },
          toColumn('tier'),
          toColumn('weight'),
          {
            name: 'Other offers that it changes',
            of: ({ id }) => <RecordNames noun="offers" ids={offers.get(String(id))} />,
          },
        ]}
        rows={buyers}
        getKey={({ id }) => String(id)}
        empty="Its buyers are ordered by what they pay."
      />
      <Problem error={save.error} />
      <div class="actions">
        <button class="primary" disabled={save.is_busy || changes.length === 0}>
          Save the order
        </button>
        <button type="button" onClick={() => void onEnd()}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** Those that are ordered by priority, each once; it may come through several groups. */
function listBuyers(assignments: readonly Assignment[]): Json[] {
  const buyers = assignments.filter(isByPriority).map(({ buyer }) => buyer);
  return [...new Map(buyers.map((buyer) => [String(buyer.id), buyer])).values()];
}

function readChanges(buyer: Json, draft: Draft): Json {
  const changed = Object.entries(draft).filter(
    ([field, text]) => text.trim() !== '' && Number(text) !== buyer[field],
  );
  return Object.fromEntries(changed.map(([field, text]) => [field, Number(text)]));
}

const MAX_OFFERS = 1_000;

/** The other offers that each buyer is in by itself, of the first offers of the company. */
function useOtherOffers(buyers: readonly Json[], offerId: string | undefined) {
  const { api, may } = useSession();
  const { data } = useLoaded(async () => {
    if (!may('offers:read')) return [];
    const query = { columns: ['id', 'buyer_ids'], per_page: MAX_OFFERS };
    return (await ok(api.GET('/offers', { params: { query } }))).offers;
  }, [api]);
  const others = (data ?? []).filter(({ id }) => String(id) !== offerId);
  return new Map(
    buyers.map(({ id }) => [
      String(id),
      others.filter((offer) => offer.buyer_ids?.includes(Number(id))).map((offer) => offer.id),
    ]),
  );
}
