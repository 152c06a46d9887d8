import { createContext, type ComponentChildren } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { ok, openApi, type Api, type Me, type Scope } from './api';
import { openEvents, type Events } from './events';

/** The signed-in caller, and the access to the API. */
export interface Session {
  api: Api;
  authorization: string;
  me: Me;
  events: Events;
  may(...scopes: Scope[]): boolean;
  signOut(): void;
}

const Context = createContext<Session | undefined>(undefined);

/** The session; only within a signed-in page. */
export const useSession = (): Session => useContext(Context)!;

export const SessionProvider = ({
  session,
  children,
}: {
  session: Session;
  children: ComponentChildren;
}) => <Context.Provider value={session}>{children}</Context.Provider>;

/** Stored only while the tab is open, and only if the user wants it. */
const KEPT = 'trunkline.authorization';

export interface Credentials {
  authorization: string;
  is_kept: boolean;
}

export const readKept = (): string | undefined => sessionStorage.getItem(KEPT) ?? undefined;

export function authorizationOf(first: string, secret: string): string {
  const name = first.trim();
  if (secret.trim() === '') return `Token ${name}`;
  return `Basic ${btoa(`${name}:${secret.trim()}`)}`;
}

/** Signs in and out; `session` is undefined until the credentials were accepted. */
export function useSignIn() {
  const [session, setSession] = useState<Session>();
  const [error, setError] = useState<unknown>();
  const [is_busy, setBusy] = useState(readKept() !== undefined);

  const signOut = useMemo(
    () => () => {
      sessionStorage.removeItem(KEPT);
      setSession((open) => void open?.events.close());
    },
    [],
  );
  const signIn = async ({ authorization, is_kept }: Credentials) => {
    setBusy(true);
    setError(undefined);
    try {
      const api = openApi(authorization, signOut);
      const { me } = await ok(api.GET('/me'));
      if (is_kept) sessionStorage.setItem(KEPT, authorization);
      const held = new Set<string>(me.permissions);
      const may = (...scopes: Scope[]) => scopes.every((scope) => held.has(scope));
      const events = openEvents(authorization, signOut);
      setSession({ api, authorization, me, may, events, signOut });
    } catch (reason) {
      sessionStorage.removeItem(KEPT);
      setError(reason);
    }
    setBusy(false);
  };
  useEffect(() => {
    const kept = readKept();
    if (kept !== undefined) void signIn({ authorization: kept, is_kept: true });
  }, []);
  return { session, error, is_busy, signIn };
}
