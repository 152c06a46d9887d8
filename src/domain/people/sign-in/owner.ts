import { linkToken, readLinkToken, type LinkTarget } from '../../../api/auth/link-tokens';
import { moveCount } from '../../../data/counts/counters';
import type { Db } from '../../../data/db';
import { createdAt } from '../../../data/timestamps';
import { HttpProblem } from '../../../platform/errors';
import { findOrCreateUsers } from '../find-or-create-users';
import {
  FIND_OPEN_OWNER_LINK,
  LOCK_OWNERS,
  OPEN_OWNER_LINK,
  TAKE_OWNER_LINK,
} from '../queries/owner-links';
import { takeAttempt } from './attempts';
import { openDb, readAddress, type ConsoleCall } from './console-call';
import { NO_SECOND_FACTOR, saveLogin } from './login';
import { hashPassword, requireGoodPassword } from './passwords';
import { setPassword } from './set-password';
import { enterSession, type ConsoleReply } from './sign-in';
import { logChange, startSession } from './start-session';

// The link with which the operator makes the first person of a company, who may do everything. It
// is shown where a company is made, and on demand; only the machine of the service can make one.

const KIND = { prefix: 'own', label: 'owner link' };
const TEAM = 'Owners';

const toToken = (target: Omit<LinkTarget, 'id'>, pepper: string): string =>
  linkToken(KIND, { ...target, id: 0n }, pepper);

/** The token of the company's newest link. The company was just made with it. */
export const buildFirstOwnerToken = (companyId: bigint, pepper: string): string =>
  toToken({ company_id: companyId, number: 1 }, pepper);

/** Makes a new link of a company, valid until it is used; earlier ones are void. */
export async function makeOwnerToken(
  { sql, company_id }: Pick<Db, 'sql' | 'company_id'>,
  pepper: string,
): Promise<string> {
  const [row] = await sql(OPEN_OWNER_LINK, {});
  return toToken({ company_id, number: row!.number }, pepper);
}

const linkUsed = (): HttpProblem =>
  HttpProblem.field('token', 'wrong_credentials', 'is of a link that was used, or replaced');

/** Finds the company of a link. Throws 401, and 429 after too many wrong ones. */
async function requireOpen(call: ConsoleCall, token: string) {
  const { deps } = call;
  const attempt = await takeAttempt(deps, { kind: 'token' }, readAddress(call));
  const target = readLinkToken(KIND, token, deps.pepper);
  const sql = target && (await deps.directory.findCompanyDatabase(target.company_id));
  const [company] =
    (await sql?.(FIND_OPEN_OWNER_LINK, {
      company_id: target!.company_id,
      number: target!.number,
    })) ?? [];
  if (!company) throw linkUsed();
  await attempt.succeed();
  return { target: target!, name: company.name };
}

export async function showOwnerLink(
  call: ConsoleCall,
  { token }: { token: string },
): Promise<ConsoleReply> {
  const { target, name } = await requireOpen(call, token);
  return { status: 200, body: { company: { id: Number(target.company_id), name } } };
}

interface NewOwner {
  token: string;
  email: string;
  name: string | undefined;
  password: string;
}

/**
 * Makes the owner of a company: the user, its password, its place in the team of owners, and a
 * session. One who was there already begins again, without a second factor: the operator lets
 * them in. Throws 401 where the link was used in the meantime.
 */
export async function acceptOwnerLink(
  call: ConsoleCall,
  { token, email, name, password }: NewOwner,
): Promise<ConsoleReply> {
  const { deps, now } = call;
  const { target, name: companyName } = await requireOpen(call, token);
  requireGoodPassword(password, { email, name: name ?? null, company_name: companyName });
  const passwordHash = await hashPassword(password, deps.pepper);
  const company = { company_id: target.company_id, user_id: 0n };
  const { cookie, userId } = await openDb(call, company).transaction(async (tx) => {
    const [taken] = await tx.sql(TAKE_OWNER_LINK, { number: target.number });
    if (!taken) throw linkUsed();
    const teamId = await lockOrCreateOwners(tx, now);
    const [user] = await findOrCreateUsers(tx, [email], now);
    await tx.prisma.accessControlListUser.createMany({
      data: { company_id: tx.company_id, access_control_list_id: teamId, user_id: user! },
      skipDuplicates: true,
    });
    if (name !== undefined)
      await tx.prisma.user.updateMany({ where: { id: user! }, data: { name, updated_at: now } });
    await setPassword(tx, call, { user_id: user!, password_hash: passwordHash });
    await saveLogin(tx, user!, NO_SECOND_FACTOR);
    await logChange(tx, call, {
      record: { type: 'User', id: user! },
      action: 'update',
      operation: 'acceptOwnerLink',
      changes: { team_ids: { from: null, to: [Number(teamId)] } },
      by: { user_id: user!, user_email: email, access_token_id: null },
    });
    tx.afterCommit(deps.authenticator.forgetRights);
    const start = { method: 'owner_link', second_factor: false } as const;
    return { cookie: await startSession(tx, call, { user_id: user! }, start), userId: user! };
  });
  return enterSession(call, { ...company, user_id: userId }, cookie);
}

/** The team of owners, locked; made where there is none that may do everything. */
async function lockOrCreateOwners(tx: Db, now: Date): Promise<bigint> {
  const [existing] = await tx.sql(LOCK_OWNERS, { name: TEAM });
  if (existing) return BigInt(existing.id);
  const team = await tx.prisma.accessControlList.create({
    data: { company_id: tx.company_id, name: TEAM, superuser: true, ...createdAt(now) },
    select: { id: true },
  });
  await moveCount(tx, 'access_control_lists', 1);
  return team.id;
}
