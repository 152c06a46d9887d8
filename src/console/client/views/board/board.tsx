import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, ok } from '../../api';
import type { StreamState } from '../../events';
import { count, dollars, percent, time } from '../../format';
import { useEvery, useLive, useLoaded } from '../../loading';
import { Problem } from '../../parts/basics';
import { Bar } from '../../parts/caps';
import { openWithToken, SessionProvider, useSession, type Session } from '../../session';
import { isZone, toDay, fromLocalInput, setPageZone, zoneName } from '../../zone';
import { readTheme } from '../../theme';
import { loadTotals } from '../load-totals';
import { loadCapsNearEnd } from '../now-caps';

const RETRY_MS = 10_000;
const SECOND_MS = 1_000;
/** Changes without events: midnight, and events that were missed. */
const REFRESH_MS = 60_000;
const MAX_BUYERS = 8;
const MAX_CAPS = 6;
const MAX_COUNTED = 1_000;

/** The page for a screen on a wall: its link has the credentials, so that it never signs out. */
export function BoardPage() {
  const [session, setSession] = useState<Session>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    prepareScreen();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refuse = () => setError(new Error('This link was revoked. Make another in the console.'));
    const open = async () => {
      const token = readLink().get('token');
      if (token === null) return setError(new Error('This link has no key. Make a board link.'));
      try {
        setSession(await openWithToken(token, refuse));
      } catch (reason) {
        if (reason instanceof ApiError && reason.status === 401) return;
        // The screen may be on before the network is.
        timer = setTimeout(() => void open(), RETRY_MS);
      }
    };
    void open();
    return () => clearTimeout(timer);
  }, []);
  if (error !== undefined)
    return (
      <main class="board">
        <h1>Calls</h1>
        <Problem error={error} />
      </main>
    );
  if (!session)
    return (
      <main class="board">
        <h1>Calls</h1>
        <p class="quiet">Connecting…</p>
      </main>
    );
  return (
    <SessionProvider session={session}>
      <Board />
    </SessionProvider>
  );
}

const readLink = (): URLSearchParams => new URLSearchParams(location.hash.slice(1));

/** Dark unless somebody chose light in this browser; times are in the zone of the link. */
function prepareScreen(): void {
  const theme = readTheme();
  document.documentElement.dataset.theme = theme === 'system' ? 'dark' : theme;
  document.title = 'Calls · Trunkline';
  const zone = readLink().get('zone');
  if (zone !== null && isZone(zone)) setPageZone(zone);
}

async function loadBoard({ api, may }: Session) {
  const today = fromLocalInput(toDay(new Date())).toISOString();
  const [{ calls, metadata }, totals, caps] = await Promise.all([
    ok(
      api.GET('/calls', {
        params: {
          query: { in_progress: true, per_page: MAX_COUNTED, columns: ['id', 'buyer_id', 'buyer'] },
        },
      }),
    ),
    loadTotals(api, today),
    may('buyers:read') ? loadCapsNearEnd(api) : [],
  ]);
  const byBuyer = new Map<string, number>();
  for (const { buyer, buyer_id: id } of calls) {
    if (!id) continue;
    const name = buyer ?? `Buyer ${id}`;
    byBuyer.set(name, (byBuyer.get(name) ?? 0) + 1);
  }
  const buyers = [...byBuyer].sort(([, first], [, second]) => second - first);
  return { underWay: metadata.total_count, totals, caps, buyers };
}

/** The figures stay on the screen while the server cannot be reached. */
function Board() {
  const session = useSession();
  const { data, error, reload } = useLoaded(() => loadBoard(session), [session]);
  useLive(({ kind }) => kind === 'call' || kind === 'cap', reload);
  useEvery(REFRESH_MS, () => void reload());
  return (
    <main class="board">
      <header>
        <h1>{session.me.company.name}</h1>
        <Freshness isFailing={error !== undefined} />
        <Clock />
      </header>
      {data && (
        <>
          <dl class="figures">
            <Figure name="Calls under way">{count(data.underWay)}</Figure>
            <Figure name="Inbound calls today">{count(data.totals.inbound.calls)}</Figure>
            <Figure name="Connect rate today">
              {percent(
                data.totals.inbound.calls === 0
                  ? null
                  : data.totals.inbound.connects / data.totals.inbound.calls,
              )}
            </Figure>
            {data.totals.revenue !== null && (
              <Figure name="Revenue today">{dollars(data.totals.revenue)}</Figure>
            )}
          </dl>
          <div class="halves">
            <section>
              <h2>Under way, by buyer</h2>
              {data.buyers.length === 0 && <p class="quiet">No buyer has a call.</p>}
              <ol>
                {data.buyers.slice(0, MAX_BUYERS).map(([name, calls]) => (
                  <li key={name}>
                    <span>{name}</span> <b>{count(calls)}</b>
                  </li>
                ))}
              </ol>
            </section>
            <section>
              <h2>Caps near their end</h2>
              {data.caps.length === 0 && <p class="quiet">None.</p>}
              {data.caps.slice(0, MAX_CAPS).map(({ buyer, ...cap }) => (
                <Bar
                  key={`${buyer.id}/${cap.name}`}
                  {...cap}
                  title={`${buyer.name ?? `Buyer ${buyer.id}`}: ${cap.title}`}
                />
              ))}
            </section>
          </div>
        </>
      )}
    </main>
  );
}

const Figure = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

function Clock() {
  const [now, setNow] = useState(() => new Date());
  useEvery(SECOND_MS, () => setNow(new Date()));
  return (
    <time class="clock">
      {time(now.toISOString()).slice(0, 5)} <small>{zoneName(now)}</small>
    </time>
  );
}

function Freshness({ isFailing }: { isFailing: boolean }) {
  const { events } = useSession();
  const [state, setState] = useState<StreamState>('connecting');
  useEffect(() => events.watch(setState), [events]);
  const isLive = state === 'live' && !isFailing;
  return (
    <span class={isLive ? 'live' : 'live off'} role="status">
      {isLive ? 'Live' : 'Not live: trying again'}
    </span>
  );
}
