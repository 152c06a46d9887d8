import type { Sql } from '../../data/sql';
import type { LeadKey } from './load-leads';
import { CLAIM_BY_PRIORITY, CLAIM_BY_TIME, RELEASE_LEADS } from './queries/claim-leads';

export interface Claim {
  claim_id: string;
  now: Date;
  lease_until: Date;
  limit: number;
}

/**
 * Leads without a priority get at least a quarter of each batch: otherwise a company that gives all
 * its leads a priority would keep the leads of all others waiting.
 */
const SHARE_OF_PRIORITY = 0.75;

/**
 * Claims due leads and returns them in the order in which they are contacted: leads with a priority
 * first, the lowest number before others. No other worker gets them until the lease ends.
 */
export async function claimDueLeads(
  sql: Sql,
  { claim_id, now, lease_until, limit }: Claim,
): Promise<LeadKey[]> {
  const claim = { claim_id, now, lease_until };
  const withPriority = await sql(CLAIM_BY_PRIORITY, {
    ...claim,
    limit: Math.ceil(limit * SHARE_OF_PRIORITY),
  });
  const withoutPriority = await sql(CLAIM_BY_TIME, {
    ...claim,
    limit: limit - withPriority.length,
  });
  return [...withPriority.toSorted(byPriority), ...withoutPriority.toSorted(byPriority)];
}

interface ClaimedLead extends LeadKey {
  due_at: Date;
  lead_priority: number | null;
}

const byPriority = (a: ClaimedLead, b: ClaimedLead): number =>
  (a.lead_priority ?? 0) - (b.lead_priority ?? 0) ||
  a.due_at.getTime() - b.due_at.getTime() ||
  Number(a.id) - Number(b.id);

/** Releases claimed leads, so that any worker may claim them at `due_at`. */
export async function releaseLeads(
  sql: Sql,
  { claim_id, leads, due_at }: { claim_id: string; leads: readonly LeadKey[]; due_at: Date },
): Promise<void> {
  const companyIds = leads.map(({ company_id }) => company_id);
  const ids = leads.map(({ id }) => id);
  await sql(RELEASE_LEADS, { company_ids: companyIds, ids, claim_id, due_at });
}
