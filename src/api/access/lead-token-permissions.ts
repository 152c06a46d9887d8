import { contract, facets, type LeadTokenPower } from '../../platform/contract/contract';
import { HttpProblem } from '../../platform/errors';
import { findHidden } from '../../data/access/scope';
import type { Db } from '../../data/db';
import { isPermitted, type Caller } from '../auth/caller';
import type { LeadOwner } from '../auth/scheme';

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

/** The permission with which credentials of the company need no power of the token. */
const permissionFor = (power: LeadTokenPower): string => {
  if (power === 'read') return 'leads:read';
  return power === 'submit' ? 'leads:create' : 'leads:update';
};

/**
 * Throws 403 if neither the token nor the credentials sent with it permit the action. Credentials
 * of a user who is limited to some records do not: the token may be that of any offer.
 */
export function requirePower(
  power: LeadTokenPower,
  { powers }: Pick<LeadOwner, 'powers'>,
  caller: Caller,
  field = 'lead_token',
): void {
  const permission = permissionFor(power);
  if (powers.has(power) || (!caller.teams && isPermitted(caller, permission))) return;
  throw HttpProblem.field(
    field,
    'not_permitted',
    `needs the power ${power}, which the company or the offer does not give lead tokens, ` +
      `or credentials with the permission ${permission} for the whole company`,
  );
}

/**
 * Credentials sent with the token let the sender act for the whole company, unless their user is
 * limited to some records.
 */
export const actsForCompany = (caller: Caller): boolean =>
  !caller.teams && isPermitted(caller, 'leads:update');

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
