import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChild } from 'preact';
import { listViews } from './areas';
import type { StreamState } from './events';
import { useFirstDay, type FirstDay } from './first-day';
import { KeyMap, useKeys } from './keys';
import { lazy } from './lazy';
import { Menu } from './menu';
import { Loading } from './parts/basics';
import { useRoute, type Route } from './route';
import { Secrets } from './secrets';
import type { Session } from './session';
import { THEMES, useTheme, type Theme } from './theme';
import { Toasts } from './toast';
import type { View } from './view';
import { useZone, zoneName } from './zone';
import { ZoneChoice } from './zone-choice';

const Start = lazy(async () => (await import('./views/start')).StartView);

/** The frame of the views. Views that the caller may not see are left out. */
export function Shell({ session }: { session: Session }) {
  const route = useRoute();
  const zone = useZone();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const views = listViews(session);
  const day = useFirstDay(session);
  // A company without calls begins with the first steps.
  const first = day?.has_calls === false ? views.find(({ name }) => name === 'start') : views[0];
  const view = route.view === '' ? first : views.find(({ name }) => name === route.view);
  const isWaiting = day === undefined && route.view === '';
  const main = useFocusOnChange(view, route.id);
  const keys = useKeys();
  useEffect(() => setMenuOpen(false), [route.view, route.id]);
  return (
    <div class={isMenuOpen ? 'frame menu-open' : 'frame'}>
      <a class="skip" href="#main" onClick={(event) => focusMain(event, main.current)}>
        Skip to the content
      </a>
      <header class="top">
        <button
          type="button"
          class="menu-button"
          aria-expanded={isMenuOpen}
          aria-controls="menu"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          Menu
        </button>
        <Live session={session} />
        <ZoneButton />
        <ThemeButton />
        <button type="button" class="key-map" aria-label="Keys of the keyboard" onClick={keys.open}>
          ?
        </button>
        <span class="who">
          {session.me.company.name}
          <small class="quiet">{describeCaller(session)}</small>
        </span>
        <button type="button" onClick={session.signOut}>
          Sign out
        </button>
      </header>
      <Menu session={session} current={view} is_set_up={day?.is_done !== false} />
      <main id="main" tabIndex={-1} ref={main} key={zone}>
        {isWaiting ? <Loading /> : showContent(view, route, day, views.length > 0)}
      </main>
      <Toasts />
      <Secrets />
      <KeyMap {...keys} />
    </div>
  );
}

const describeCaller = ({ me, person }: Session): string | null =>
  person?.session.user.name ?? me.user?.email ?? me.name;

const Unknown = ({ has_views }: { has_views: boolean }) => (
  <>
    <h1>Nothing here</h1>
    <p>
      {has_views
        ? 'There is no such page, or your team does not see it. The menu has the pages that you may see.'
        : 'These credentials may see none of the pages. Ask the owner of your account for a team.'}
    </p>
  </>
);

function showContent(
  view: View | undefined,
  { id }: Route,
  day: FirstDay | undefined,
  hasViews: boolean,
): ComponentChild {
  if (!view) return <Unknown has_views={hasViews} />;
  if (view.name === 'start') return day && <Start day={day} />;
  return id !== undefined && view.detail ? view.detail(id) : view.list();
}

/** Moves the focus to a new view: the keyboard continues there, and a screen reader reads it. */
function useFocusOnChange(view: View | undefined, id: string | undefined) {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = [view?.title, 'Trunkline'].filter(Boolean).join(' · ');
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

const THEME_NAMES: Record<Theme, string> = {
  system: 'as the system',
  light: 'light',
  dark: 'dark',
};

const THEME_SIGNS: Record<Theme, string> = { system: '◐', light: '☀', dark: '☾' };

function ThemeButton() {
  const [theme, choose] = useTheme();
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
  return (
    <button
      type="button"
      aria-label={`Colors: ${THEME_NAMES[theme]}. Change to ${THEME_NAMES[next]}`}
      onClick={() => choose(next)}
    >
      {THEME_SIGNS[theme]}
    </button>
  );
}

/** All times are in this zone. */
function ZoneButton() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        aria-label={`${zoneName()}: time zone of all times`}
        onClick={() => setOpen(true)}
      >
        {zoneName()}
      </button>
      {isOpen && <ZoneChoice onClose={() => setOpen(false)} />}
    </>
  );
}
