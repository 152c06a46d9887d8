import type { Sql } from '../../data/sql';
import { LOCK_CLAIMED_LEADS, READ_LEAD } from './queries/leads';
import type { DueLead, LeadKey } from './due-lead';

/** Locks the leads that are still claimed under the id, in the order of `keys`. */
export async function lockLeads(
  sql: Sql,
  claimId: string,
  keys: readonly LeadKey[],
): Promise<DueLead[]> {
  const companyIds = keys.map(({ company_id }) => company_id);
  const ids = keys.map(({ id }) => id);
  const leads = await sql(LOCK_CLAIMED_LEADS, { company_ids: companyIds, ids, claim_id: claimId });
  const indexes = new Map(keys.map(({ company_id, id }, index) => [`${company_id}/${id}`, index]));
  const findIndex = ({ company_id, id }: LeadKey) => indexes.get(`${company_id}/${id}`)!;
  return leads.toSorted((a, b) => findIndex(a) - findIndex(b));
}

export async function readLead(
  sql: Sql,
  companyId: string,
  id: string,
): Promise<DueLead | undefined> {
  return (await sql(READ_LEAD, { company_id: companyId, id }))[0];
}
