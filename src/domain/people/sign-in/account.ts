import { HttpProblem, notFound } from '../../../platform/errors';
import { takeAttempt } from './attempts';
import { openDb, readAddress, type OwnCall } from './console-call';
import { loadLogin, type Login } from './login';
import { hashPassword, requireGoodPassword, verifyPassword } from './passwords';
import { endSessions, setPassword } from './set-password';
import { revokeSession, type ConsoleReply } from './sign-in';
import { describeSessions, describeSignedIn, loadSessions } from './state';

// The own account: password and sessions. Each change is by the person at the browser.

/** For so long a sign-in without a password stands for one. */
const FRESH_MS = 15 * 60_000;
const WITHOUT_PASSWORD = ['link', 'invitation', 'oidc', 'owner_link'];

/**
 * Throws unless the person at the browser is the one who signed in: by the password, or by a
 * session that was begun a moment ago by other means.
 */
export async function requirePerson(
  call: OwnCall,
  login: Login,
  { field, password }: { field: string; password: string | undefined },
): Promise<void> {
  if (password === undefined || login.password_hash === null) {
    if (await isFresh(call)) return;
    throw login.password_hash === null
      ? new HttpProblem('session_ended', 'Sign in again: that was too long ago for this.')
      : HttpProblem.field(field, 'missing_field', 'must be given');
  }
  const { deps, person } = call;
  const attempt = await takeAttempt(deps, { kind: 'own_password', ...person }, readAddress(call));
  if (!(await verifyPassword(password, login.password_hash, deps.pepper)))
    throw HttpProblem.field(field, 'wrong_credentials', 'is not your password');
  await attempt.succeed();
}

async function isFresh(call: OwnCall): Promise<boolean> {
  const { caller, now } = call;
  const rows = await loadSessions(call, call.person);
  const own = rows.find(({ public_key }) => public_key === caller.public_key);
  return (
    own !== undefined &&
    WITHOUT_PASSWORD.includes(own.method) &&
    now.getTime() - own.created_at.getTime() < FRESH_MS
  );
}

/** Sets the password, and ends all other sessions of the person. */
export async function changePassword(
  call: OwnCall,
  { current_password, password }: { current_password: string | undefined; password: string },
): Promise<ConsoleReply> {
  const { deps, person, caller } = call;
  const db = openDb(call, person);
  const login = await loadLogin(db, person.user_id);
  await requirePerson(call, login, { field: 'current_password', password: current_password });
  requireGoodPassword(password, login);
  const passwordHash = await hashPassword(password, deps.pepper);
  await db.transaction((tx) =>
    setPassword(tx, call, { user_id: person.user_id, password_hash: passwordHash, own: caller }),
  );
  return { status: 200, body: await describeSignedIn(call, caller) };
}

export async function listOwnSessions(call: OwnCall): Promise<ConsoleReply> {
  const rows = await loadSessions(call, call.person);
  return { status: 200, body: describeSessions(rows, call.caller.public_key) };
}

/** Throws 404 for an id that is no living session of the person. */
export async function endOwnSession(call: OwnCall, id: string): Promise<ConsoleReply> {
  const session = (await loadSessions(call, call.person)).find((row) => row.id === id);
  if (!session) throw notFound();
  await openDb(call, call.person).transaction((tx) =>
    revokeSession(tx, call, { id: BigInt(id), public_key: session.public_key }),
  );
  return listOwnSessions(call);
}

export async function endOtherSessions(call: OwnCall): Promise<ConsoleReply> {
  const { person, caller } = call;
  const others = { user_id: person.user_id, except: caller.public_key };
  await openDb(call, person).transaction((tx) => endSessions(tx, call, others));
  return listOwnSessions(call);
}
