import { ok, type Api } from '../api';
import { Badge, Panel, Show } from '../parts/basics';
import { Bar, byShare, CAP_COLUMNS, listCaps, NEAR, computeShare } from '../parts/caps';
import { useLive, useLoaded } from '../loading';
import { linkTo } from '../route';
import { useSession } from '../session';

const MAX_BUYERS = 1_000;
const MAX_SHOWN = 12;

/** The fullest first. */
export async function loadCapsNearEnd(api: Api) {
  const query = { columns: ['id', 'name', 'paused', ...CAP_COLUMNS], per_page: MAX_BUYERS };
  const { buyers } = await ok(api.GET('/buyers', { params: { query } }));
  const caps = buyers.flatMap((buyer) => listCaps(buyer).map((cap) => ({ ...cap, buyer })));
  return byShare(caps).filter((cap) => computeShare(cap) >= NEAR) as typeof caps;
}

export function CapsNearEnd() {
  const { api } = useSession();
  const loaded = useLoaded(() => loadCapsNearEnd(api), [api]);
  useLive(({ kind }) => kind === 'cap', loaded.reload);
  return (
    <Show of={loaded}>
      {(caps) => (
        <Panel title="Caps near their end" headerContent={<Badge>{caps.length}</Badge>}>
          {caps.length === 0 && <p class="quiet">No cap is above {NEAR * 100}%.</p>}
          <ul class="plain">
            {caps.slice(0, MAX_SHOWN).map(({ buyer, ...cap }) => (
              <li key={`${buyer.id}/${cap.name}`}>
                <a href={linkTo('buyers', buyer.id)}>{buyer.name ?? `Buyer ${buyer.id}`}</a>
                <Bar {...cap} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </Show>
  );
}
