import type { Row } from '../../../data/sql';
import type { Caller } from '../../../api/auth/caller';
import { notFound } from '../../../platform/errors';
import { LIST_SESSIONS } from '../queries/sign-in';
import { findSession, openDb, type ConsoleCall, type Person } from './console-call';
import { loadLogin } from './login';
import { findPending, type PendingSignIn } from './pending';

// The state of a browser, for the page of the console: whose session it has, what a sign-in waits
// for, and by which methods people sign in here.

type StoredSession = Row<'people.list_sessions'>;

/** The state of a browser, as GET /console/session answers it. */
export async function describeState(call: ConsoleCall): Promise<object> {
  const caller = await findSession(call);
  return caller?.user_id
    ? describeSignedIn(call, caller)
    : { ...nobody(call), pending: await describePending(call, findPending(call)) };
}

const nobody = (call: ConsoleCall) => ({
  session: null,
  csrf_token: null,
  pending: null,
  methods: describeMethods(call),
});

export const describeSignedOut = (call: ConsoleCall): object => nobody(call);

const describeMethods = ({ deps }: ConsoleCall) => ({
  password: true,
  link: deps.mailer.name === 'smtp',
  oidc: deps.config.oidc ? { name: deps.config.oidc.name } : null,
});

export async function describeWaiting(call: ConsoleCall, pending: PendingSignIn): Promise<object> {
  return { ...nobody(call), pending: await describePending(call, pending) };
}

async function describePending(call: ConsoleCall, pending: PendingSignIn | undefined) {
  if (!pending) return null;
  const { people } = pending;
  if (people.length === 1) return { state: 'second_factor' };
  const companies = await Promise.all(
    people.map(async (person) => ({
      id: Number(person.company_id),
      name: (await loadLogin(openDb(call, person), person.user_id)).company_name,
    })),
  );
  return { state: 'choose_company', companies };
}

/** The state after a sign-in, or of a session that goes on. */
export async function describeSignedIn(
  call: ConsoleCall,
  caller: Pick<Caller, 'company_id' | 'user_id' | 'public_key'>,
): Promise<object> {
  const person = { company_id: caller.company_id, user_id: caller.user_id! };
  const login = await loadLogin(openDb(call, person), person.user_id);
  const { session, second_factor } = await loadOwn(call, person, caller.public_key);
  return {
    session: {
      id: Number(session.id),
      user: { id: Number(person.user_id), email: login.email, name: login.name },
      company: { id: Number(person.company_id), name: login.company_name },
      method: session.method,
      second_factor,
      has_password: login.password_hash !== null,
      has_second_factor: login.totp_confirmed_at !== null,
      recovery_codes_left: login.recovery_digests?.length ?? 0,
      created_at: session.created_at,
      idle_ends_at: session.expires_at,
      ends_at: session.ends_at,
    },
    csrf_token: call.deps.authenticator.sessions.csrfToken(caller),
    pending: null,
    methods: describeMethods(call),
  };
}

async function loadOwn(call: ConsoleCall, person: Person, publicKey: string) {
  const own = (await loadSessions(call, person)).find(({ public_key }) => public_key === publicKey);
  if (!own) throw notFound();
  return { session: own, second_factor: own.second_factor };
}

export const loadSessions = (call: ConsoleCall, person: Person): Promise<StoredSession[]> =>
  openDb(call, person).sql(LIST_SESSIONS, {
    user_id: person.user_id,
    now: call.now.toISOString(),
  });

/** The sessions of a person, newest first. */
export const describeSessions = (rows: readonly StoredSession[], publicKey: string): object => ({
  sessions: rows.map((row) => ({
    id: Number(row.id),
    is_current: row.public_key === publicKey,
    created_at: row.created_at,
    last_seen_at: row.seen_at,
    idle_ends_at: row.expires_at,
    ends_at: row.ends_at,
    ip: row.ip,
    user_agent: row.user_agent,
    method: row.method,
    second_factor: row.second_factor,
  })),
});
