import { ok, type Schemas } from '../api';
import { Badge, Show } from '../parts/basics';
import { Bar, byShare, CAP_COLUMNS, listCaps } from '../parts/caps';
import { dollars, text } from '../format';
import { useLive, useLoaded } from '../loading';
import { linkTo } from '../route';
import { useSession } from '../session';

type Buyer = Schemas['Buyer'];

const COLUMNS = ['id', 'name', 'number', 'paused', 'maxed_out_by', 'bid_price', 'cap_reset_at'];
const MAX_BUYERS = 200;
const MAX_CAPS = 3;

export function BuyersView() {
  const { api } = useSession();
  const loaded = useLoaded(async () => {
    const query = { columns: [...COLUMNS, ...CAP_COLUMNS], per_page: MAX_BUYERS };
    return ok(api.GET('/buyers', { params: { query } }));
  }, [api]);
  useLive(({ kind }) => kind === 'cap', loaded.reload);
  return (
    <>
      <h1>Buyers and caps</h1>
      <Show of={loaded}>
        {({ buyers, metadata }) => (
          <>
            {metadata.total_count! > buyers.length && (
              <p class="quiet">
                The first {buyers.length} of {metadata.total_count}.
              </p>
            )}
            {buyers.length === 0 && <p class="quiet">There are no buyers.</p>}
            <ul class="cards">
              {buyers.map((buyer) => (
                <li key={buyer.id} class="panel">
                  <Card buyer={buyer} />
                </li>
              ))}
            </ul>
          </>
        )}
      </Show>
    </>
  );
}

function Card({ buyer }: { buyer: Buyer }) {
  const caps = listCaps(buyer);
  return (
    <>
      <header>
        <h2>
          <a href={linkTo('buyers', buyer.id)}>{buyer.name ?? `Buyer ${buyer.id}`}</a>
        </h2>
        <BuyerState buyer={buyer} />
      </header>
      <p class="quiet">
        {text(buyer.number)} · {dollars(buyer.bid_price)} a call
      </p>
      {caps.length === 0 && <p class="quiet">No limits.</p>}
      {byShare(caps)
        .slice(0, MAX_CAPS)
        .map((cap) => (
          <Bar key={cap.name} {...cap} />
        ))}
    </>
  );
}

export function BuyerState({ buyer }: { buyer: Pick<Buyer, 'paused' | 'maxed_out_by'> }) {
  if (buyer.paused) return <Badge tone="warn">paused</Badge>;
  if (buyer.maxed_out_by) return <Badge tone="bad">cap reached</Badge>;
  return <Badge tone="good">active</Badge>;
}
