import type { Request } from 'express';
import type { Pool } from 'pg';
import { HttpProblem } from '../../errors';
import { ianaName } from '../../time/zone';
import type { LeadOwner } from './authenticator';

const FIND = `SELECT k.company_id, c.country, k.token, k.offer_id, k.schedule_id, coalesce(s.time_zone, o.time_zone) AS zone
FROM lead_tokens k JOIN companies c ON c.id = k.company_id
LEFT JOIN offers o ON o.company_id = k.company_id AND o.id = k.offer_id LEFT JOIN schedules s ON s.company_id = k.company_id AND s.id = k.schedule_id
WHERE k.token = $1`;

export async function findLeadToken(pool: Pool, token: string): Promise<LeadOwner | undefined> {
  const { rows } = await pool.query({ name: 'find_lead_token', text: FIND, values: [token] });
  const row = rows[0];
  if (!row) return undefined;
  const id = (value: string | null) => (value === null ? null : BigInt(value));
  return {
    company_id: BigInt(row.company_id),
    country: row.country,
    token,
    offer_id: id(row.offer_id),
    schedule_id: id(row.schedule_id),
    zone: ianaName(row.zone) ?? 'UTC',
  };
}

const NAMES = ['lead_token', 'schedule_lead_token', 'offer_lead_token'] as const;
type Name = (typeof NAMES)[number];

/**
 * The owner whose tokens the request carries, in its path, its query or its body. They are taken out of the body, where the contract has no room for them.
 * A refusal of 401 when there is none or it is not known, of 422 when it is of another kind.
 */
export async function ownerOf(
  req: Request,
  find: (token: string) => Promise<LeadOwner | undefined>,
): Promise<LeadOwner | HttpProblem> {
  const sent = Object.fromEntries(
    NAMES.map((name) => [name, take(req.body, name) ?? ownOf(req.query, name)]),
  ) as Record<Name, unknown>;
  sent.lead_token ??= req.params.lead_token;
  const owners: Partial<Record<Name, LeadOwner>> = {};
  for (const name of NAMES) {
    if (sent[name] === undefined || sent[name] === '') continue;
    const owner =
      typeof sent[name] === 'string' && /^[0-9a-f]{32}$/i.test(sent[name].trim())
        ? await find(sent[name].trim().toLowerCase())
        : undefined;
    if (!owner) return refused(401, name, 'is not the lead token of an offer or a schedule');
    owners[name] = owner;
  }
  return combine(owners);
}

function combine({
  lead_token,
  schedule_lead_token,
  offer_lead_token,
}: Partial<Record<Name, LeadOwner>>): LeadOwner | HttpProblem {
  if (schedule_lead_token && schedule_lead_token.schedule_id === null)
    return refused(422, 'schedule_lead_token', 'is the lead token of an offer');
  if (offer_lead_token && offer_lead_token.schedule_id !== null)
    return refused(422, 'offer_lead_token', 'is the lead token of a schedule');
  const all = [lead_token, schedule_lead_token, offer_lead_token].filter(
    (owner) => owner !== undefined,
  );
  const schedule = all.find(({ schedule_id }) => schedule_id !== null);
  const offer = all.find(({ schedule_id }) => schedule_id === null);
  const owner = schedule ?? offer;
  if (!owner)
    return refused(401, 'lead_token', 'must be given: the lead token of an offer or a schedule');
  if (all.some(({ company_id }) => company_id !== owner.company_id))
    return refused(401, 'offer_lead_token', 'is not the lead token of an offer or a schedule');
  if (
    lead_token &&
    schedule_lead_token &&
    lead_token.schedule_id !== null &&
    lead_token.token !== schedule_lead_token.token
  ) {
    return refused(422, 'schedule_lead_token', 'is of another schedule than lead_token');
  }
  if (
    lead_token &&
    offer_lead_token &&
    lead_token.schedule_id === null &&
    lead_token.token !== offer_lead_token.token
  ) {
    return refused(422, 'offer_lead_token', 'is of another offer than lead_token');
  }
  return schedule && offer ? { ...schedule, offer_id: offer.offer_id } : owner;
}

const refused = (status: number, name: Name, message: string) =>
  new HttpProblem(status, `${name} ${message}`, { [name]: [message] });

/** The value of a key, if it is there. */
export const ownOf = (source: unknown, key: string): unknown =>
  typeof source === 'object' && source !== null && Object.hasOwn(source, key)
    ? (source as Record<string, unknown>)[key]
    : undefined;

/** The same, which is taken out. */
export function take(source: unknown, key: string): unknown {
  const value = ownOf(source, key);
  if (value !== undefined) Reflect.deleteProperty(source as object, key);
  return value;
}
