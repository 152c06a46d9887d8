import type { Database } from '../db/client';
import type { Db, TenantDatabases } from '../db/tenant';
import { issueCredentials, type IssuedCredentials } from './issue-credentials';

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

/** Makes a company with a key pair that may do everything. `more` runs in the same transaction. */
export async function createCompany(
  name: string,
  { database, tenants, pepper, clock }: Context,
  more: (db: Db, company: NewCompany) => Promise<void> = async () => {},
): Promise<NewCompany> {
  const { rows } = await database.pool.query("SELECT nextval('companies_id_seq') AS id");
  const company_id = BigInt(rows[0].id);
  return tenants.of(company_id).transaction(async (db) => {
    await db.prisma.company.create({ data: { id: company_id, name, created_at: clock() } });
    const wanted = { name: 'First key pair', kind: 'key_pair' as const, permissions: [], superuser: true };
    const company = { company_id, credentials: await issueCredentials(db, wanted, { pepper, now: clock() }) };
    await more(db, company);
    return company;
  });
}
