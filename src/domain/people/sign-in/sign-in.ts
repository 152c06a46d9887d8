import { HttpProblem } from '../../../platform/errors';
import { clearCookie, readSessionCookie, setCookie } from '../../../api/auth/session-cookie';
import type { Caller } from '../../../api/auth/caller';
import type { Db } from '../../../data/db';
import { revokeCredentials } from '../issue-credentials';
import { takeAttempt } from './attempts';
import {
  findSession,
  openDb,
  readAddress,
  type ConsoleCall,
  type OwnCall,
  type Person,
} from './console-call';
import { findLogins, loadLogin } from './login';
import { verifyNothing, verifyPassword } from './passwords';
import { clearPending, keepPending, requirePending, type PendingSignIn } from './pending';
import { logChange, startSession, type SessionStart } from './start-session';
import { describeSignedIn, describeSignedOut, describeWaiting } from './state';

// Every way to sign in ends here: with a session, or with what is still to be shown.

export interface ConsoleReply {
  status: number;
  body: object;
}

/** Throws 401 for a wrong address or password, and does not say which of both it is. */
export async function signInByPassword(
  call: ConsoleCall,
  { email, password }: { email: string; password: string },
): Promise<ConsoleReply> {
  const { deps } = call;
  const attempt = await takeAttempt(deps, { kind: 'password', email }, readAddress(call));
  const people: Person[] = [];
  let tried = 0;
  for (const { password_hash, ...person } of await findLogins(deps, email)) {
    if (password_hash === null) continue;
    tried += 1;
    if (await verifyPassword(password, password_hash, deps.pepper)) people.push(person);
  }
  if (tried === 0) await verifyNothing(password, deps.pepper);
  if (people.length === 0)
    throw new HttpProblem('wrong_credentials', 'The address or the password is wrong.');
  await attempt.succeed();
  return continueSignIn(call, { people, method: 'password', begun_at: call.now });
}

export async function chooseCompany(
  call: ConsoleCall,
  { company_id }: { company_id: number },
): Promise<ConsoleReply> {
  const pending = requirePending(call);
  const people = pending.people.filter((person) => person.company_id === BigInt(company_id));
  if (people.length === 0)
    throw HttpProblem.field('company_id', 'invalid_value', 'must be one of those named');
  return continueSignIn(call, { ...pending, people });
}

/**
 * Starts the session, unless something is still to be chosen or shown. `more` is written in the
 * transaction of the session, before it.
 */
export async function continueSignIn(
  call: ConsoleCall,
  pending: PendingSignIn,
  more: (tx: Db) => Promise<void> = async () => {},
): Promise<ConsoleReply> {
  const [person] = pending.people;
  if (pending.people.length > 1) {
    keepPending(call, pending);
    return { status: 200, body: await describeWaiting(call, pending) };
  }
  const db = openDb(call, person!);
  const { totp_confirmed_at } = await loadLogin(db, person!.user_id);
  if (totp_confirmed_at) {
    await db.transaction(more);
    keepPending(call, pending);
    return { status: 200, body: await describeWaiting(call, pending) };
  }
  const { method, begun_at, identity } = pending;
  const start = { method, begun_at, identity, second_factor: false };
  return beginSession(call, person!, start, more);
}

/** `more` is written in the transaction of the session, before it. */
export async function beginSession(
  call: ConsoleCall,
  person: Person,
  start: SessionStart,
  more: (tx: Db) => Promise<void>,
): Promise<ConsoleReply> {
  const cookie = await openDb(call, person).transaction(async (tx) => {
    await more(tx);
    return startSession(tx, call, person, start);
  });
  return enterSession(call, person, cookie);
}

/** Gives the browser its new session. One that it had before ends. */
export async function enterSession(
  call: ConsoleCall,
  person: Person,
  cookie: string,
): Promise<ConsoleReply> {
  const { deps, res } = call;
  const former = await findSession(call);
  if (former) await endSession(call, former);
  const ms = deps.config.session_days * 24 * 3_600_000;
  setCookie(res, ['trunkline_session', cookie], deps.config, { maxAge: ms });
  clearPending(call);
  const publicKey = cookie.slice(0, cookie.lastIndexOf('_'));
  return { status: 201, body: await describeSignedIn(call, { ...person, public_key: publicKey }) };
}

/** Ends the session of the request, or drops a sign-in that was begun. */
export async function signOut(call: ConsoleCall): Promise<ConsoleReply> {
  const { deps, req, res } = call;
  const caller = await findSession(call);
  if (caller) {
    deps.authenticator.sessions.requireCsrfToken(req, caller);
    await endSession(call, caller);
  }
  clearCookie(res, 'trunkline_session', deps.config);
  clearPending(call);
  return { status: 200, body: describeSignedOut(call) };
}

async function endSession(call: ConsoleCall, caller: Caller): Promise<void> {
  const person = { company_id: caller.company_id, user_id: caller.user_id! };
  await openDb(call, person).transaction((tx) =>
    revokeSession(
      tx,
      { ...call, caller, person },
      {
        id: caller.access_token_id,
        public_key: caller.public_key,
      },
    ),
  );
}

/** Revokes a session of the caller's own. */
export async function revokeSession(
  tx: Db,
  call: OwnCall,
  { id, public_key }: { id: bigint; public_key: string },
): Promise<void> {
  const { caller, deps, now } = call;
  if (!(await revokeCredentials(tx, id, now))) return;
  await logChange(tx, call, {
    record: { type: 'AccessToken', id },
    action: 'delete',
    operation: id === caller.access_token_id ? 'signOut' : 'endSession',
    changes: {},
    by: {
      user_id: caller.user_id!,
      user_email: caller.user_email,
      access_token_id: caller.access_token_id,
    },
  });
  tx.afterCommit(() => deps.authenticator.forget(public_key));
}

/** Reads the session of a request to the console itself. */
export const readSession = ({ req, deps }: ConsoleCall): void =>
  void (req.session = readSessionCookie(req, deps.config));
