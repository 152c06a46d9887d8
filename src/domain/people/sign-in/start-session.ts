import { recordChange, type ChangedColumns } from '../../../api/records/record-change';
import { sessionEnded } from '../../../api/auth/sessions';
import type { Db } from '../../../data/db';
import { uuidv7 } from '../../../data/uuid';
import { cutText } from '../../../platform/storable-text';
import { issueCredentials, revokeCredentials } from '../issue-credentials';
import { LIST_SESSIONS, LOCK_PERSON } from '../queries/sign-in';
import { readAddress, type ConsoleCall, type Person } from './console-call';
import { saveLogin } from './login';
import type { PendingSignIn, SignInMethod } from './pending';

const HOUR_MS = 3_600_000;
/** The oldest of a person ends with a further one. */
const MAX_SESSIONS = 50;
const MAX_USER_AGENT = 255;
export const SESSION_NAME = 'Console';

export interface SessionStart {
  method: SignInMethod;
  second_factor: boolean;
  /** A password that was set since then has ended what was begun with the old one. */
  begun_at?: Date;
  /** The name of the person at a provider: it is this user from now on. */
  identity?: PendingSignIn['identity'];
}

/**
 * Starts the session of a person, and returns what its cookie has. Throws 401 where the person was
 * deleted, or has another password, since the sign-in began.
 */
export async function startSession(
  tx: Db,
  call: ConsoleCall,
  { user_id }: Pick<Person, 'user_id'>,
  { method, second_factor, begun_at, identity }: SessionStart,
): Promise<string> {
  const { deps, req, now } = call;
  const { session_idle_hours, session_days } = deps.config;
  const [user] = await tx.sql(LOCK_PERSON, { user_id });
  if (!user || (begun_at && user.password_set_at && user.password_set_at > begun_at))
    throw sessionEnded();
  // It was set up since the sign-in began.
  if (user.totp_confirmed_at && !second_factor) throw sessionEnded();
  if (identity && user.oidc_subject !== null && !isSameIdentity(identity, user))
    throw sessionEnded();
  await saveLogin(tx, user_id, {
    seen_at: now,
    ...(identity && { oidc_issuer: identity.issuer, oidc_subject: identity.subject }),
  });
  if (user.joined_at === null)
    await tx.prisma.user.updateMany({
      where: { id: user_id },
      data: { joined_at: now, updated_at: now },
    });
  await endOldest(tx, call, { user_id });
  const ends = now.getTime() + session_days * 24 * HOUR_MS;
  const idleEnds = Math.min(ends, now.getTime() + session_idle_hours * HOUR_MS);
  const issued = await issueCredentials(
    tx,
    {
      name: SESSION_NAME,
      kind: 'session',
      permissions: [],
      superuser: false,
      user_id,
      expires_at: new Date(idleEnds),
    },
    { pepper: deps.pepper, now },
  );
  await tx.prisma.session.create({
    data: {
      company_id: tx.company_id,
      access_token_id: issued.id,
      ends_at: new Date(ends),
      seen_at: now,
      method,
      second_factor,
      ip: readAddress(call) || null,
      user_agent: cutText(req.get('User-Agent') ?? '', MAX_USER_AGENT) || null,
    },
  });
  await logChange(tx, call, {
    record: { type: 'AccessToken', id: issued.id },
    action: 'create',
    operation: 'signIn',
    changes: {
      kind: { from: null, to: 'session' },
      sign_in_method: { from: null, to: method },
      second_factor: { from: null, to: second_factor },
    },
    by: { user_id, user_email: user.email, access_token_id: issued.id },
  });
  return issued.token!;
}

const isSameIdentity = (
  { issuer, subject }: NonNullable<SessionStart['identity']>,
  { oidc_issuer, oidc_subject }: { oidc_issuer: string | null; oidc_subject: string | null },
): boolean => issuer === oidc_issuer && subject === oidc_subject;

async function endOldest(tx: Db, call: ConsoleCall, { user_id }: { user_id: bigint }) {
  const living = await tx.sql(LIST_SESSIONS, { user_id, now: call.now.toISOString() });
  for (const { id, public_key } of living.slice(MAX_SESSIONS - 1)) {
    await revokeCredentials(tx, BigInt(id), call.now);
    tx.afterCommit(() => call.deps.authenticator.forget(public_key));
  }
}

export interface ConsoleChange {
  record: { type: 'AccessToken' | 'User'; id: bigint };
  action: 'create' | 'update' | 'delete';
  /** Its name in the log, where operations of the contract have others. */
  operation: string;
  changes: ChangedColumns;
  by: { user_id: bigint; user_email: string | null; access_token_id: bigint | null };
}

/** Writes what a person did at the console into the change log; never a secret. */
export const logChange = (
  tx: Db,
  call: ConsoleCall,
  { record, action, operation, changes, by }: ConsoleChange,
): Promise<void> =>
  recordChange(tx, {
    uuid: uuidv7(call.now.getTime()),
    created_at: call.now,
    record_type: record.type,
    record_id: Number(record.id),
    action,
    operation,
    changes,
    changes_shown: changes,
    ...by,
    credentials: SESSION_NAME,
    request_id: call.req.id,
    client_request_id: call.req.client_id ?? null,
    ip: readAddress(call),
  });
