import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { StreamState } from './events';
import { linkTo, useRoute, type Route } from './route';
import type { Session } from './session';
import { BuyerView } from './views/buyer';
import { BuyersView } from './views/buyers';
import { CallView } from './views/call';
import { CallsView } from './views/calls';
import { LeadView } from './views/lead';
import { LeadsView } from './views/leads';
import { NowView } from './views/now';
import { ReportsView } from './views/reports';

interface View {
  name: string;
  title: string;
  may: (session: Session) => boolean;
  list: () => ComponentChildren;
  detail?: (id: string) => ComponentChildren;
}

const VIEWS: readonly View[] = [
  {
    name: 'now',
    title: 'Now',
    may: ({ may }) => may('calls:read') || may('buyers:read'),
    list: () => <NowView />,
  },
  {
    name: 'calls',
    title: 'Calls',
    may: ({ may }) => may('calls:read'),
    list: () => <CallsView />,
    detail: (id) => <CallView id={id} />,
  },
  {
    name: 'buyers',
    title: 'Buyers',
    may: ({ may }) => may('buyers:read'),
    list: () => <BuyersView />,
    detail: (id) => <BuyerView id={id} />,
  },
  {
    name: 'leads',
    title: 'Leads',
    may: ({ may }) => may('leads:read'),
    list: () => <LeadsView />,
    detail: (id) => <LeadView id={id} />,
  },
  {
    name: 'reports',
    title: 'Reports and imports',
    may: ({ may }) => may('calls:read') || may('buyer_suppression_files:read'),
    list: () => <ReportsView />,
  },
];

/** The frame of the views. Views that the caller may not see are left out. */
export function Shell({ session }: { session: Session }) {
  const route = useRoute();
  const views = VIEWS.filter(({ may }) => may(session));
  const view = views.find(({ name }) => name === route.view) ?? views[0];
  const main = useFocusOnChange(view?.name, route.id);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => focusMain(event, main.current)}>
        Skip to the content
      </a>
      <header class="top">
        <span class="brand">Trunkline</span>
        <nav aria-label="Views">
          {views.map(({ name, title }) => (
            <a
              key={name}
              href={linkTo(name)}
              aria-current={name === view?.name ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        <div class="who">
          <Live session={session} />
          <span>
            {session.me.company.name}
            <small class="quiet">{session.me.user?.email ?? session.me.name}</small>
          </span>
          <button type="button" onClick={session.signOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        {view ? content(view, route) : <p>These credentials may see none of the views.</p>}
      </main>
    </>
  );
}

function content(view: View, route: Route): ComponentChildren {
  const { id } = route.view === view.name ? route : { id: undefined };
  return id !== undefined && view.detail ? view.detail(id) : view.list();
}

/** Moves the focus to a new view: the keyboard continues there, and a screen reader reads it. */
function useFocusOnChange(view: string | undefined, id: string | undefined) {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    const title = VIEWS.find(({ name }) => name === view)?.title;
    document.title = [title, 'Trunkline'].filter(Boolean).join(' · ');
    if (!isFirst.current) {
      main.current?.focus();
      scrollTo(0, 0);
    }
    isFirst.current = false;
  }, [view, id]);
  return main;
}

function focusMain(event: Event, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}

const STATES: Record<StreamState, string> = {
  connecting: 'Connecting',
  live: 'Live',
  off: 'Not live',
};

function Live({ session }: { session: Session }) {
  const [state, setState] = useState<StreamState>('connecting');
  useEffect(() => session.events.watch(setState), [session]);
  return (
    <span class={`live ${state}`} role="status">
      {STATES[state]}
    </span>
  );
}
