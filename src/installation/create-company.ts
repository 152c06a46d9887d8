import type { Database } from '../db/client';
import type { Db, TenantDatabases } from '../db/tenant';
import { createBuiltInStatuses } from '../agents/built-in-statuses';
import { issueCredentials, type IssuedCredentials } from '../people/issue-credentials';

export interface NewCompany {
  company_id: bigint;
  credentials: IssuedCredentials;
}

interface Context {
  database: Database;
  tenants: TenantDatabases;
  pepper: string;
  clock: () => Date;
}

interface Options {
  /** Two letters; telephone numbers without country code are read as this country's. */
  country?: string;
  /** Runs in the same transaction. */
  more?: (db: Db, company: NewCompany) => Promise<void>;
}

/** Makes a company with a key pair that may do everything. */
export async function createCompany(
  name: string,
  { database, tenants, pepper, clock }: Context,
  { country = 'US', more = async () => {} }: Options = {},
): Promise<NewCompany> {
  const { rows } = await database.pool.query("SELECT nextval('companies_id_seq') AS id");
  const company_id = BigInt(rows[0].id);
  return tenants.of(company_id).transaction(async (db) => {
    await db.prisma.company.create({
      data: { id: company_id, name, country, created_at: clock() },
    });
    await createBuiltInStatuses(db, clock());
    const wanted = {
      name: 'First key pair',
      kind: 'key_pair' as const,
      permissions: [],
      superuser: true,
    };
    const company = {
      company_id,
      credentials: await issueCredentials(db, wanted, { pepper, now: clock() }),
    };
    await more(db, company);
    return company;
  });
}
