import { authorize } from '../../../api/auth/caller';
import { findInvitation } from '../../../api/auth/invitations';
import type { Invitation } from '../../../api/auth/scheme';
import { findRecord } from '../../../data/records';
import type { Db } from '../../../data/db';
import { HttpProblem, notFound } from '../../../platform/errors';
import { takeInvitation } from '../accept-invitation';
import { findInvitationLink } from '../invitation-link';
import { requireUserWithin } from '../grantable-teams';
import { takeAttempt } from './attempts';
import { openDb, readAddress, type ConsoleCall, type OwnCall } from './console-call';
import { loadLogin } from './login';
import { hashPassword, requireGoodPassword } from './passwords';
import { setPassword } from './set-password';
import { continueSignIn, type ConsoleReply } from './sign-in';
import { logChange } from './start-session';

// An invitation is accepted at the console: its person chooses a password and is signed in. At the
// API it makes a token instead.

/** Throws 401 for a link that was used or replaced, or is too old, and 429 after too many. */
async function requireInvitation(call: ConsoleCall, token: string): Promise<Invitation> {
  const { deps } = call;
  const attempt = await takeAttempt(deps, { kind: 'token' }, readAddress(call));
  const invitation = await findInvitation(token, deps);
  if (!invitation)
    throw new HttpProblem(
      'invitation_used',
      'This invitation has been accepted, was replaced by a newer one, or is too old.',
    );
  await attempt.succeed();
  return invitation;
}

export async function showInvitation(
  call: ConsoleCall,
  { token }: { token: string },
): Promise<ConsoleReply> {
  const invitation = await requireInvitation(call, token);
  const login = await loadLogin(openDb(call, invitation), invitation.user_id);
  return {
    status: 200,
    body: {
      invitation: {
        email: login.email,
        name: login.name,
        company: { id: Number(invitation.company_id), name: login.company_name },
        has_password: login.password_hash !== null,
      },
    },
  };
}

export async function acceptInvitation(
  call: ConsoleCall,
  { token, name, password }: { token: string; name: string | undefined; password: string },
): Promise<ConsoleReply> {
  const { deps, now } = call;
  const invitation = await requireInvitation(call, token);
  const { company_id, user_id } = invitation;
  const login = await loadLogin(openDb(call, invitation), user_id);
  requireGoodPassword(password, { ...login, name: name ?? login.name });
  const passwordHash = await hashPassword(password, deps.pepper);
  const accept = async (tx: Db) => {
    await takeInvitation(tx, invitation, { now, mailer: deps.mailer });
    if (name !== undefined)
      await tx.prisma.user.updateMany({ where: { id: user_id }, data: { name, updated_at: now } });
    await setPassword(tx, call, { user_id, password_hash: passwordHash });
  };
  const people = [{ company_id, user_id }];
  return continueSignIn(call, { people, method: 'invitation', begun_at: now }, accept);
}

/**
 * The link of an open invitation, where the service sends no mail: who invites passes it on. With
 * it one becomes the user, so it is only for those who have all rights of the user; and where the
 * user has signed in before, for superusers.
 */
export async function showInvitationLink(call: OwnCall, reference: string): Promise<ConsoleReply> {
  const { deps, caller, now, person } = call;
  authorize(caller, {
    scope: 'users:update',
    unlimited: true,
    company_wide: false,
    credentials: 'account',
  });
  if (deps.mailer.name === 'smtp')
    throw new HttpProblem('wrong_state', 'The invitation was mailed: this service sends mail.');
  const link = await openDb(call, person).transaction(async (tx) => {
    const id = await findRecord(tx, 'users', reference);
    await requireUserWithin(tx, caller, id);
    const login = await loadLogin(tx, id);
    if (login.joined_at !== null && !caller.superuser)
      throw new HttpProblem(
        'not_permitted',
        'The user has been here before: only a superuser may let somebody choose a password.',
      );
    const open = await findInvitationLink(tx, id, { ...deps, now });
    if (!open) throw notFound();
    await logChange(tx, call, {
      record: { type: 'User', id },
      action: 'update',
      operation: 'showInvitationLink',
      changes: {},
      by: {
        user_id: person.user_id,
        user_email: caller.user_email,
        access_token_id: caller.access_token_id,
      },
    });
    return open;
  });
  return { status: 200, body: link };
}
