import { contract, facets } from '../contract';
import { notVisible } from '../db/access-scope';
import type { Db } from '../db/tenant';
import type { Caller } from '../http/auth/caller';
import { requirePower, type LeadOwner } from '../http/auth/lead-tokens';

// A lead token stands in landing pages: everybody has it. What it opens by itself is narrow; the
// contract marks fields and operations with x-power, and columns with x-sensitive.

/** Fields of a submission that ask for more than to take a lead. */
const POWERFUL = Object.entries(
  facets(contract.document.components.schemas.LeadFields!).properties,
).flatMap(([name, { 'x-power': power }]) => (power ? [{ name, power }] : []));

/** Throws 403 for a field that neither the token nor the credentials sent with it open. */
export function requireFieldPowers(
  sent: Record<string, unknown>,
  owner: LeadOwner,
  caller: Caller,
): void {
  for (const { name, power } of POWERFUL) {
    const value = sent[name];
    if (value !== undefined && value !== null && value !== '' && value !== false)
      requirePower(power, owner, caller, name);
  }
}

/** Whether a sender reads leads only as far as the very request has sent them. */
const mustBeMasked = ({ superuser, permissions }: Caller): boolean =>
  !superuser && !permissions.has('leads:read');

/**
 * The same for one lead, also for a user who is limited to some records: this one may be among
 * them. Without an id the lead is not known yet, and counts as not among them.
 */
export async function readsByToken(db: Db, caller: Caller, id?: bigint): Promise<boolean> {
  if (mustBeMasked(caller)) return true;
  if (!caller.teams) return false;
  return id === undefined || (await notVisible(db, 'leads', [String(id)])).length > 0;
}
