import { contract, facets } from '../../platform/contract/contract';
import { findHidden } from '../../data/access/access-scope';
import type { Db } from '../../data/db';
import type { Caller } from '../../api/auth/caller';
import { requirePower } from '../../api/auth/lead-tokens';
import { type LeadOwner } from '../../api/auth/scheme';

// Lead tokens are in landing pages and therefore public. A token alone permits little; the contract
// marks fields and operations with x-lead-token-permission, and columns with x-sensitive.

const PROTECTED_FIELDS = Object.entries(
  facets(contract.document.components.schemas.LeadFields!).properties,
).flatMap(([name, { 'x-lead-token-permission': power }]) => (power ? [{ name, power }] : []));

/** Throws 403 for a field that neither the token nor the accompanying credentials permit. */
export function requireTokenFieldPermissions(
  fields: Record<string, unknown>,
  owner: LeadOwner,
  caller: Caller,
): void {
  for (const { name, power } of PROTECTED_FIELDS) {
    const value = fields[name];
    if (value !== undefined && value !== null && value !== '' && value !== false)
      requirePower(power, owner, caller, name);
  }
}

/** The sender may read only the columns of leads that its own request contains. */
const mustBeMasked = ({ superuser, permissions }: Caller): boolean =>
  !superuser && !permissions.has('leads:read');

/**
 * Returns whether the caller reads one lead like a sender with only a lead token. For a user
 * limited to some records, this depends on the lead; without an id the lead is not known yet and
 * counts as not visible.
 */
export async function readsByToken(db: Db, caller: Caller, id?: bigint): Promise<boolean> {
  if (mustBeMasked(caller)) return true;
  if (!caller.teams) return false;
  return id === undefined || (await findHidden(db, 'leads', [String(id)])).length > 0;
}
