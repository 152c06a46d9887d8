import type { Db } from '../../../data/db';
import type { Row } from '../../../data/sql';
import { sessionEnded } from '../../../api/auth/sessions';
import type { Deps } from '../../deps';
import { FIND_BY_IDENTITY, FIND_LOGIN, FIND_LOGINS } from '../queries/sign-in';
import type { Person } from './console-call';

/** A living user, and what the user signs in with. */
export type Login = Person & Row<'people.find_login', { company_name: string; email: string }>;

/** Throws 401 where the user was deleted in the meantime. */
export async function loadLogin(
  { company_id, sql }: Pick<Db, 'company_id' | 'sql'>,
  userId: bigint,
): Promise<Login> {
  const [row] = await sql(FIND_LOGIN, { user_id: userId });
  if (!row) throw sessionEnded();
  return { ...row, company_id, user_id: userId };
}

/** An address may be known in several companies: each has a user and a password of its own. */
const MAX_COMPANIES = 5;

/** The users with an address, in all databases of the installation. */
export async function findLogins(
  { parts }: Pick<Deps, 'parts'>,
  email: string,
): Promise<(Person & { password_hash: string | null })[]> {
  const rows = await Promise.all(
    parts().map(({ database }) => database.sql(FIND_LOGINS, { email, limit: MAX_COMPANIES })),
  );
  return rows
    .flat()
    .map(({ company_id, user_id, password_hash }) => ({
      company_id: BigInt(company_id),
      user_id: BigInt(user_id),
      password_hash,
    }))
    .slice(0, MAX_COMPANIES);
}

/** A person as a provider of OpenID Connect names them. */
export interface Identity {
  issuer: string;
  subject: string;
  /** In lowercase; only one that the provider has confirmed. */
  email: string | undefined;
}

/** The users who have signed in as this person, and those with the address who have no other. */
export async function findByIdentity(
  { parts }: Pick<Deps, 'parts'>,
  { issuer, subject, email }: Identity,
): Promise<Person[]> {
  const rows = await Promise.all(
    parts().map(({ database }) =>
      database.sql(FIND_BY_IDENTITY, {
        issuer,
        subject,
        email: email ?? null,
        limit: MAX_COMPANIES,
      }),
    ),
  );
  return rows
    .flat()
    .map(({ company_id, user_id }) => ({
      company_id: BigInt(company_id),
      user_id: BigInt(user_id),
    }))
    .slice(0, MAX_COMPANIES);
}

/** Changes the login of a user, or makes it. */
export async function saveLogin(
  { prisma, company_id }: Pick<Db, 'prisma' | 'company_id'>,
  userId: bigint,
  data: Omit<Parameters<typeof prisma.userLogin.update>[0]['data'], 'company_id' | 'user_id'>,
): Promise<void> {
  await prisma.userLogin.createMany({
    data: { company_id, user_id: userId },
    skipDuplicates: true,
  });
  await prisma.userLogin.updateMany({ where: { user_id: userId }, data });
}

/** The columns of a login that asks for no code. */
export const NO_SECOND_FACTOR = {
  totp_secret: null,
  totp_confirmed_at: null,
  recovery_digests: [],
};
