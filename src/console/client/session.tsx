import { createContext, type ComponentChildren } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { ConsoleContract } from '../noun-contract';
import { ApiError, ok, openApi, type Api, type Me, type Scope } from './api';
import { loadContract } from './contract';
import { openEvents, type Events } from './events';
import { forgetOthersDrafts, keepDrafts } from './form/drafts';
import { goTo } from './route';
import { sendToGate, type PersonSession, type SignInState } from './sign-in/gate';
import { showToast } from './toast';
import type { Transport } from './transport';
import { hideMoney } from './visible-contract';

/** The signed-in caller, and the access to the API. */
export interface Session {
  api: Api;
  transport: Transport;
  contract: ConsoleContract;
  me: Me;
  events: Events;
  /** Who is signed in by the session of the browser; undefined for keys and tokens. */
  person: Person | undefined;
  may(...scopes: Scope[]): boolean;
  signOut(): void;
}

export interface Person {
  session: PersonSession;
  csrf: string;
  /** Without mail, the links of invitations are passed on by who invites. */
  sends_mail: boolean;
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

const buildPersonTransport = ({ csrf }: Person, onRefused: () => void): Transport => ({
  base: `/console${API}`,
  headers: { 'X-CSRF-Token': csrf },
  credentials: 'same-origin',
  onRefused,
});

/** Tells the drafts of a caller from those of others. */
const toOwner = ({ company, user, public_key: key }: Me): string =>
  `${company.id} ${user?.id ?? key}`;

/** Asks the API who the caller is; throws where the credentials are not accepted. */
async function openSession(
  transport: Transport,
  person: Person | undefined,
  signOut: () => void,
): Promise<Session> {
  const api = openApi(transport);
  const [{ me }, whole] = await Promise.all([ok(api.GET('/me')), loadContract()]);
  const contract = hideMoney(whole, me);
  const permissions = new Set<string>(me.permissions);
  const may = (...scopes: Scope[]) => scopes.every((scope) => permissions.has(scope));
  return { api, transport, contract, me, may, person, events: openEvents(transport), signOut };
}

/** A session by a user token alone, as the board on a wall has it. */
export const openWithToken = (token: string, onRefused: () => void): Promise<Session> =>
  openSession(buildKeyTransport(buildAuthorization(token, ''), onRefused), undefined, onRefused);

/** Signs in and out; `session` is undefined until somebody is signed in. */
class SignIn {
  session: Session | undefined;
  /** Undefined until it is loaded. */
  state: SignInState | undefined;
  error: unknown;
  has_ended = false;

  constructor(private readonly changed: () => void) {}

  /** Credentials that the tab keeps come first; then the session of the browser. */
  load = async (): Promise<void> => {
    const authorization = readStoredAuthorization();
    try {
      if (authorization !== undefined) await this.signInByKey({ authorization, is_kept: true });
      else await this.enter(await sendToGate('GET', '/session'));
    } catch (error) {
      if (authorization !== undefined && error instanceof ApiError) await this.load();
      this.fail(error);
    }
  };

  signInByKey = async ({ authorization, is_kept }: Credentials): Promise<void> => {
    const leave = () => {
      sessionStorage.removeItem(STORAGE_KEY);
      this.close();
      void this.load();
    };
    try {
      const ended = () => {
        if (!this.session) return;
        this.keepDrafts();
        leave();
      };
      const transport = buildKeyTransport(authorization, ended);
      this.open(await openSession(transport, undefined, leave));
      if (is_kept) sessionStorage.setItem(STORAGE_KEY, authorization);
    } catch (error) {
      sessionStorage.removeItem(STORAGE_KEY);
      throw error;
    }
  };

  /** Goes on with a state of the browser: with its session, or with a step of signing in. */
  enter = async (state: SignInState): Promise<void> => {
    this.close();
    this.state = state;
    this.error = undefined;
    const { session, csrf_token: csrf, methods } = state;
    try {
      if (session && csrf !== null)
        await this.openPerson({ session, csrf, sends_mail: methods.link });
    } catch (error) {
      this.error = error;
    }
    this.changed();
  };

  private async openPerson(person: Person): Promise<void> {
    const transport = buildPersonTransport(person, () => void this.check());
    this.open(await openSession(transport, person, () => void this.signOut(person.csrf)));
    this.has_ended = false;
  }

  /**
   * Follows the session of the browser, which may have ended, or be another since a person signed
   * in on another tab: its records must not be shown under the name of the first.
   */
  check = async (): Promise<void> => {
    const shown = this.session?.person?.session;
    if (!shown) return;
    try {
      const state = await sendToGate('GET', '/session', { is_background: true });
      if (this.session?.person?.session !== shown || state.session?.id === shown.id) return;
      this.has_ended = true;
      this.keepDrafts();
      await this.enter(state);
    } catch (error) {
      if (!this.session) this.fail(error);
    }
  };

  private async signOut(csrf: string): Promise<void> {
    try {
      const state = await sendToGate('DELETE', '/session', { csrf });
      forgetOthersDrafts(undefined);
      await this.enter(state);
    } catch {
      showToast('You are still signed in: the server did not answer as it should.', {
        tone: 'bad',
      });
      await this.check();
    }
  }

  private open(session: Session): void {
    this.close();
    this.session = session;
    forgetOthersDrafts(toOwner(session.me));
    if (location.hash.startsWith('#/sign-in')) goTo('#/', { replace: true });
    this.changed();
  }

  private keepDrafts(): void {
    if (this.session) keepDrafts(toOwner(this.session.me));
  }

  private close(): void {
    this.session?.events.close();
    this.session = undefined;
    this.changed();
  }

  private fail(error: unknown): void {
    this.error = error;
    this.changed();
  }
}

/** Who is signed in, and how to sign in. */
export function useSignIn(): SignIn {
  const [, setTurn] = useState(0);
  const signIn = (useRef<SignIn>().current ??= new SignIn(() => setTurn((turn) => turn + 1)));
  useEffect(() => {
    const returned = () => void signIn.check();
    addEventListener('focus', returned);
    void signIn.load();
    return () => removeEventListener('focus', returned);
  }, []);
  return signIn;
}
