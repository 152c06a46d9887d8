import { linkToken, readLinkToken } from '../../../api/auth/link-tokens';
import { HttpProblem } from '../../../platform/errors';
import { reserveMails } from '../take-mails';
import { BEGIN_LINK, LOCK_PERSON, TAKE_LINK } from '../queries/sign-in';
import { takeAttempt } from './attempts';
import { openDb, readAddress, type ConsoleCall, type Person } from './console-call';
import { findLogins } from './login';
import { continueSignIn, type ConsoleReply } from './sign-in';

// A link by mail signs in whom the mailbox belongs to, also one who has no password or has
// forgotten it. A second factor is asked for all the same.

const KIND = { prefix: 'lnk', label: 'sign-in link' };
export const LINK_MINUTES = 15;

export const buildSignInToken = (
  { company_id, user_id }: Person,
  number: number,
  pepper: string,
): string => linkToken(KIND, { company_id, id: user_id, number }, pepper);

/**
 * Mails a link to each user with this address. The answer is the same for an unknown address, and
 * comes before the address is looked up. Throws 422 where the service sends no mail, and 429.
 */
export async function requestLink(
  call: ConsoleCall,
  { email }: { email: string },
): Promise<ConsoleReply> {
  const { deps } = call;
  if (deps.mailer.name !== 'smtp')
    throw new HttpProblem('wrong_state', 'This service sends no mail: ask for another invitation.');
  await takeAttempt(deps, { kind: 'link', email }, readAddress(call));
  void sendLinks(call, email).catch((error: unknown) =>
    deps.log.error({ err: error }, 'a link to sign in was not queued'),
  );
  return { status: 202, body: { accepted: true } };
}

async function sendLinks(call: ConsoleCall, email: string): Promise<void> {
  const people = await findLogins(call.deps, email);
  for (const person of people) await queueLink(call, person, email);
}

/** Voids earlier links of the person. Queues nothing where the mails of the day are used up. */
async function queueLink(call: ConsoleCall, person: Person, email: string): Promise<void> {
  const { deps, now } = call;
  const { user_id } = person;
  await openDb(call, person).transaction(async (tx) => {
    if ((await tx.sql(LOCK_PERSON, { user_id })).length === 0) return;
    const { granted } = await reserveMails(tx, [email], { config: deps.config, now });
    if (granted.length === 0) return;
    const [link] = await tx.sql(BEGIN_LINK, { user_id, now: now.toISOString() });
    await deps.queue.addAll(tx, 'send_sign_in_link', [
      {
        company_id: String(person.company_id),
        user_id: String(user_id),
        number: link!.number,
      },
    ]);
  });
}

/** Throws 401 for a link that was used or replaced, or is too old. */
export async function openLink(
  call: ConsoleCall,
  { token }: { token: string },
): Promise<ConsoleReply> {
  const { deps, now } = call;
  const attempt = await takeAttempt(deps, { kind: 'token' }, readAddress(call));
  const target = readLinkToken(KIND, token, deps.pepper);
  if (!target) throw linkUsed();
  await attempt.succeed();
  const person = { company_id: target.company_id, user_id: target.id };
  const since = new Date(now.getTime() - LINK_MINUTES * 60_000).toISOString();
  return continueSignIn(call, { people: [person], method: 'link', begun_at: now }, async (tx) => {
    const { user_id } = person;
    const [taken] = await tx.sql(TAKE_LINK, { user_id, number: target.number, since });
    if (!taken) throw linkUsed();
  });
}

const linkUsed = (): HttpProblem =>
  HttpProblem.field('token', 'wrong_credentials', 'is of a link that was used, replaced or is old');
