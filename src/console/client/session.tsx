import { createContext, type ComponentChildren } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import type { ConsoleContract } from '../noun-contract';
import { ok, openApi, type Api, type Me, type Scope } from './api';
import { loadContract } from './contract';
import { openEvents, type Events } from './events';
import type { Transport } from './transport';

/** The signed-in caller, and the access to the API. */
export interface Session {
  api: Api;
  transport: Transport;
  contract: ConsoleContract;
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
const STORAGE_KEY = 'trunkline.authorization';

/** Path of the API for keys and tokens. */
const API = '/api/v1';

export interface Credentials {
  authorization: string;
  is_kept: boolean;
}

export const readStoredAuthorization = (): string | undefined =>
  sessionStorage.getItem(STORAGE_KEY) ?? undefined;

export function buildAuthorization(first: string, secret: string): string {
  const name = first.trim();
  if (secret.trim() === '') return `Token ${name}`;
  return `Basic ${btoa(`${name}:${secret.trim()}`)}`;
}

const buildKeyTransport = (Authorization: string, onRefused: () => void): Transport => ({
  base: API,
  headers: { Authorization },
  // The browser would show a password prompt of its own.
  credentials: 'omit',
  onRefused,
});

/** Asks the API who the caller is; throws where the credentials are not accepted. */
async function openSession(transport: Transport, signOut: () => void): Promise<Session> {
  const api = openApi(transport);
  const [{ me }, contract] = await Promise.all([ok(api.GET('/me')), loadContract()]);
  const permissions = new Set<string>(me.permissions);
  const may = (...scopes: Scope[]) => scopes.every((scope) => permissions.has(scope));
  return { api, transport, contract, me, may, events: openEvents(transport), signOut };
}

/** Signs in and out; `session` is undefined until the credentials were accepted. */
export function useSignIn() {
  const [session, setSession] = useState<Session>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(readStoredAuthorization() !== undefined);

  const signOut = useMemo(
    () => () => {
      sessionStorage.removeItem(STORAGE_KEY);
      setSession((open) => void open?.events.close());
    },
    [],
  );
  const signIn = async ({ authorization, is_kept }: Credentials) => {
    setBusy(true);
    setError(undefined);
    try {
      const opened = await openSession(buildKeyTransport(authorization, signOut), signOut);
      if (is_kept) sessionStorage.setItem(STORAGE_KEY, authorization);
      setSession(opened);
    } catch (reason) {
      sessionStorage.removeItem(STORAGE_KEY);
      setError(reason);
    }
    setBusy(false);
  };
  useEffect(() => {
    const storedAuthorization = readStoredAuthorization();
    if (storedAuthorization !== undefined)
      void signIn({ authorization: storedAuthorization, is_kept: true });
  }, []);
  return { session, error, is_busy: isBusy, signIn };
}
