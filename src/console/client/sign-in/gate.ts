import { BACKGROUND } from '../activity';
import { send, type Json } from '../transport';

// Requests of the console for people: signing in, and the own account. They are made with the
// cookie of the session, which no script can read.

export interface PersonSession {
  id: number;
  user: { id: number; email: string; name: string | null };
  company: { id: number; name: string };
  method: string;
  has_password: boolean;
  has_second_factor: boolean;
  recovery_codes_left: number;
  idle_ends_at: string;
  ends_at: string;
}

export type Pending =
  | { state: 'choose_company'; companies: readonly { id: number; name: string }[] }
  | { state: 'second_factor' };

/** Whose session the browser has, what a sign-in waits for, and the ways to sign in here. */
export interface SignInState {
  session: PersonSession | null;
  csrf_token: string | null;
  pending: Pending | null;
  methods: { password: boolean; link: boolean; oidc: { name: string } | null };
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface GateRequest {
  body?: Json;
  /** Needed for changes within a session. */
  csrf?: string | null;
  is_background?: boolean;
}

export async function sendToGate<T = SignInState>(
  method: Method,
  path: string,
  { body, csrf, is_background }: GateRequest = {},
): Promise<T> {
  const transport = {
    base: '/console',
    headers: { ...(csrf && { 'X-CSRF-Token': csrf }), ...(is_background && BACKGROUND) },
    credentials: 'same-origin',
    onRefused: () => undefined,
  } as const;
  const { data } = await send(transport, method, path, body && { body });
  return data as unknown as T;
}
