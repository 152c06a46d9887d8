import type { Db } from '../../../data/db';
import { revokeCredentials } from '../issue-credentials';
import { LIST_SESSIONS, LOCK_PERSON } from '../queries/sign-in';
import type { ConsoleCall } from './console-call';
import { saveLogin } from './login';
import { logChange } from './start-session';

export interface NewPassword {
  user_id: bigint;
  password_hash: string;
  /** The session in which it was changed, which goes on. */
  own?: { public_key: string; access_token_id: bigint };
}

/** Sets the password of a living user, and ends the user's sessions. */
export async function setPassword(
  tx: Db,
  call: ConsoleCall,
  { user_id, password_hash, own }: NewPassword,
): Promise<void> {
  const { now } = call;
  const [before] = await tx.sql(LOCK_PERSON, { user_id });
  await saveLogin(tx, user_id, { password_hash, password_set_at: now });
  await logChange(tx, call, {
    record: { type: 'User', id: user_id },
    action: 'update',
    operation: 'changePassword',
    changes: { has_password: { from: before?.password_set_at !== null, to: true } },
    by: {
      user_id,
      user_email: before?.email ?? null,
      access_token_id: own?.access_token_id ?? null,
    },
  });
  await endSessions(tx, call, { user_id, except: own?.public_key });
}

/** Ends the living sessions of a person, but for one. */
export async function endSessions(
  tx: Db,
  { deps, now }: ConsoleCall,
  { user_id, except }: { user_id: bigint; except: string | undefined },
): Promise<void> {
  const rows = await tx.sql(LIST_SESSIONS, { user_id, now: now.toISOString() });
  for (const { id, public_key } of rows.toReversed()) {
    if (public_key === except) continue;
    await revokeCredentials(tx, BigInt(id), now);
    tx.afterCommit(() => deps.authenticator.forget(public_key));
  }
}
