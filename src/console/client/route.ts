import { useEffect } from 'preact/hooks';
import { useSyncExternalStore } from './store';

/**
 * The location in the console: `#/calls/12?tab=story` is the view `calls` with the id `12`. All
 * state of a table is in the query, so that a link shows others what one sees.
 */
export interface Route {
  view: string;
  id: string | undefined;
  query: URLSearchParams;
}

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [view = '', id] = path.split('/');
  return {
    view,
    id: id === undefined || id === '' ? undefined : decodeURIComponent(id),
    query: new URLSearchParams(query),
  };
}

type QueryChanges = Readonly<Record<string, string | number | boolean | null | undefined>>;

export function linkTo(
  view: string,
  id?: number | string | null,
  query: QueryChanges = {},
): string {
  const path =
    id === undefined || id === null ? `#/${view}` : `#/${view}/${encodeURIComponent(String(id))}`;
  return addQuery(path, changeQuery(new URLSearchParams(), query));
}

const addQuery = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query.toString()}`;

/** A changed copy of a query; empty values are taken away. */
export function changeQuery(query: URLSearchParams, changes: QueryChanges): URLSearchParams {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes))
    if (value === null || value === undefined || value === '') changed.delete(name);
    else changed.set(name, String(value));
  return changed;
}

/** Goes to a location; `replace` leaves none of the present one in the history. */
export function goTo(hash: string, { replace = false } = {}): void {
  if (replace) location.replace(hash);
  else location.hash = hash;
}

/** Changes the query of the present location. */
export function setQuery(changes: QueryChanges, { replace = false } = {}): void {
  const { view, id, query } = read();
  goTo(addQuery(linkTo(view, id), changeQuery(query, changes)), { replace });
}

let route = read();
const listeners = new Set<() => void>();
addEventListener('hashchange', (event) => {
  if (!mayLeave(event)) return;
  route = read();
  for (const changed of listeners) changed();
});

export const useRoute = (): Route => useSyncExternalStore(listeners, () => route);

/** Forms with changes, which ask before they are left: a page has one, and its dialog another. */
let changedForms = 0;
let isReturning = false;

export const askToLeave = (): boolean => confirm('Leave without saving your changes?');

/** The path in the address, without its query. */
export const currentPath = (): string => pathIn(location.href);

const pathIn = (url: string): string => (url.split('#')[1] ?? '').split('?')[0]!;

function mayLeave({ oldURL, newURL }: HashChangeEvent): boolean {
  if (isReturning) {
    isReturning = false;
    return false;
  }
  const isLeft = pathIn(oldURL) !== pathIn(newURL);
  if (!isLeft || changedForms === 0 || askToLeave()) return true;
  isReturning = true;
  location.replace(oldURL);
  return false;
}

/** Asks before the page of a form is left while `isChanged`. */
export function useLeaveGuard(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    changedForms++;
    const closing = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', closing);
    return () => {
      changedForms--;
      removeEventListener('beforeunload', closing);
    };
  }, [isChanged]);
}

/** The pages for developers, on the same server. */
export const docsLink = (page = ''): string => `/api/docs/${page}`;

/** The board on the wall; the key is in the fragment, which no server and no log has. */
export const boardLink = (token: string, zone: string): string =>
  `/console/board#${new URLSearchParams({ token, zone }).toString()}`;

/** A recording: loaded by this page, on this server, or where a carrier keeps it. */
export const recordingLink = (url: string): string => (/^(https?:|blob:|\/)/.test(url) ? url : '');

/** Leads to the provider by which people sign in, and back to the present location. */
export const openIdLink = (): string =>
  `/console/sign-in/oidc?${new URLSearchParams({ return_to: hideSignIn(location.hash) }).toString()}`;

/** The page of signing in is no place to come back to. */
const hideSignIn = (hash: string): string => (hash.startsWith('#/sign-in') ? '#/' : hash);
