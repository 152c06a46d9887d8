import { createBuiltInStatuses } from '../../domain/agents/built-in-statuses';
import type { Database } from '../../data/client';
import type { Directory } from '../../data/directory';
import type { TenantDatabases } from '../../data/tenant';
import type { Db } from '../../data/db';
import {
  issueCredentials,
  type IssuedCredentials,
  type NewCredentials,
} from '../../domain/people/issue-credentials';
import { buildFirstOwnerToken } from '../../domain/people/sign-in/owner';
import { NEXT_COMPANY_ID } from './queries/companies';

export interface NewCompany {
  company_id: bigint;
  credentials: IssuedCredentials;
  /** With it a person becomes the owner, once. */
  owner_token: string;
}

interface Context {
  database: Database;
  tenants: TenantDatabases;
  directory: Directory;
  pepper: string;
  clock: () => Date;
}

interface Options {
  /** Two letters. Telephone numbers without a country code belong to this country. */
  country?: string;
  /** A demo company can be removed. */
  demo?: boolean;
  /** Runs in the same transaction. */
  more?: (db: Db, company: NewCompany) => Promise<void>;
}

/** A demo has a hundred records: a busy machine must not fail the first start. */
const TIMEOUT_MS = 120_000;

/** The first key pair of a company. It may do everything. */
const FIRST_KEY_PAIR: NewCredentials = {
  name: 'First key pair',
  kind: 'key_pair',
  permissions: [],
  superuser: true,
};

/**
 * Makes a company with its agent statuses, its first key pair and an open link for its owner, in
 * one transaction.
 */
export async function createCompany(
  name: string,
  { database, tenants, directory, pepper, clock }: Context,
  { country = 'US', demo = false, more = async () => {} }: Options = {},
): Promise<NewCompany> {
  const [next] = await database.sql(NEXT_COMPANY_ID, {});
  const companyId = BigInt(next!.id);
  await directory.assignCompany(companyId);
  const work = async (db: Db) => {
    const now = clock();
    const ownerLink = { owner_link_number: 1, owner_link_open: true };
    const data = { id: companyId, name, country, demo, created_at: now, ...ownerLink };
    await db.prisma.company.create({ data });
    await createBuiltInStatuses(db, now);
    const credentials = await issueCredentials(db, FIRST_KEY_PAIR, { pepper, now });
    const ownerToken = buildFirstOwnerToken(companyId, pepper);
    const company = { company_id: companyId, credentials, owner_token: ownerToken };
    await more(db, company);
    return company;
  };
  return tenants.of(companyId).transaction(work, { timeout_ms: TIMEOUT_MS });
}
