import type { Request } from 'express';
import { contract, type LeadTokenPower } from '../../platform/contract/contract';
import { queryByKey, type Directory } from '../../data/directory';
import { HttpProblem } from '../../platform/errors';
import { ianaName } from '../../platform/time/zone';
import { FIND_LEAD_TOKEN } from './queries/lead-tokens';
import { headerCredentials, type CredentialVerifier } from './account';
import { cachedLookup } from './cache';
import { requirePower } from '../access/lead-token-permissions';
import { anonymousCaller, type Caller } from './caller';
import type { Credentials } from './credentials';
import type { FailedAttempts } from './failed-attempts';
import { LEAD_TOKEN_NAMES, readField, takeField } from './fields';
import type { Scheme } from './scheme';
import { parameterToken, queryToken } from './user-tokens';
import type { LeadOwner } from './scheme';

/** Tokens made here are 32 hexadecimal digits; imported ones keep their form. */
const LEAD_TOKEN = /^[\w-]{8,255}$/;

const ALL_POWERS = contract.document.components.schemas.LeadTokenPower!.enum as LeadTokenPower[];

type Name = (typeof LEAD_TOKEN_NAMES)[number];
type Find = ReturnType<typeof cachedLookup<LeadOwner>>['find'];

export interface LeadTokenScheme extends Scheme {
  forget(token: string): void;
  /** Drops all tokens: their permissions have changed. */
  forgetAll(): void;
}

/**
 * Authenticates by the lead token of an offer or a schedule. Credentials of the same company, if
 * the request has them too, let the sender do more; others are ignored.
 */
export function leadTokenScheme(
  directory: Directory,
  credentials: CredentialVerifier,
  failures: FailedAttempts,
): LeadTokenScheme {
  const lookup = cachedLookup((token) => findLeadToken(directory, token));
  return {
    forget: lookup.forget,
    forgetAll: lookup.forgetAll,
    callerOutsideBody: (req) => findSender(headerCredentials(req), queryToken(req), credentials),
    authenticate: async (req, { power }, knownCaller) => {
      const token = parameterToken(req);
      const sender = knownCaller ?? (await findSender(undefined, token, credentials));
      const tokens = takeTokens(req);
      const owner = await findOwner(tokens, lookup.find);
      if (!(owner instanceof HttpProblem)) {
        const isOfCompany = sender?.company_id === owner.company_id;
        const caller = isOfCompany ? sender : anonymousCaller(owner.company_id);
        if (power) requirePower(power, owner, caller);
        return { caller, owner };
      }
      if (owner.status !== 401) throw owner;
      const { code, headers } = await failures.problemFor(req, tokens.size > 0);
      throw new HttpProblem(code, owner.detail, { faults: owner.faults, headers });
    },
  };
}

type PresentedCredentials = Credentials | null | undefined;

/** Credentials of the header come first. */
async function findSender(
  header: PresentedCredentials,
  token: PresentedCredentials,
  credentials: CredentialVerifier,
): Promise<Caller | undefined> {
  return (
    (header ? await credentials.verify(header) : undefined) ??
    (token ? await credentials.verify(token) : undefined)
  );
}

/** True if the query or the body has a lead token. */
export const hasLeadToken = ({ body, query }: Request): boolean =>
  LEAD_TOKEN_NAMES.some((name) => readField(body, name) || readField(query, name));

/** Reads the tokens in path, query and body, by name, and removes them from the body. */
function takeTokens(req: Request): Map<Name, unknown> {
  const tokens = new Map<Name, unknown>();
  for (const name of LEAD_TOKEN_NAMES) {
    const inPath = name === 'lead_token' ? req.params.lead_token : undefined;
    const token = takeField(req.body, name) ?? readField(req.query, name) ?? inPath;
    if (token !== undefined && token !== '') tokens.set(name, token);
  }
  return tokens;
}

/**
 * The owner of the tokens, or a problem: 401 for an unknown one, 422 if they contradict each other.
 */
async function findOwner(tokens: Map<Name, unknown>, find: Find): Promise<LeadOwner | HttpProblem> {
  const owners: Partial<Record<Name, LeadOwner>> = {};
  for (const [name, token] of tokens) {
    const text = typeof token === 'string' ? token.trim() : '';
    const owner = LEAD_TOKEN.test(text) ? await findInAnyCase(text, find) : undefined;
    if (!owner) return unknown(name);
    owners[name] = owner;
  }
  return findConflict(owners) ?? combine(owners);
}

/** Tokens made here are accepted in capitals too. */
async function findInAnyCase(text: string, find: Find): Promise<LeadOwner | undefined> {
  const lower = text.toLowerCase();
  return (await find(text)) ?? (text === lower ? undefined : await find(lower));
}

function combine(owners: Partial<Record<Name, LeadOwner>>): LeadOwner | HttpProblem {
  const all = LEAD_TOKEN_NAMES.flatMap((name) => owners[name] ?? []);
  const schedule = all.find(({ schedule_id }) => schedule_id !== null);
  const offer = all.find(({ schedule_id }) => schedule_id === null);
  const owner = schedule ?? offer;
  if (!owner)
    return HttpProblem.field(
      'lead_token',
      'missing_credentials',
      'must be given: the lead token of an offer or a schedule',
    );
  if (!schedule || !offer) return owner;
  const powers = new Set([...schedule.powers].filter((power) => offer.powers.has(power)));
  const trafficSourceId = schedule.traffic_source_id ?? offer.traffic_source_id;
  return { ...schedule, offer_id: offer.offer_id, traffic_source_id: trafficSourceId, powers };
}

/** Tokens of the wrong kind, of two companies, or of two schedules or offers. */
function findConflict({
  lead_token: lead,
  schedule_lead_token: schedule,
  offer_lead_token: offer,
}: Partial<Record<Name, LeadOwner>>): HttpProblem | undefined {
  if (schedule && schedule.schedule_id === null)
    return conflict('schedule_lead_token', 'is the lead token of an offer');
  if (offer && offer.schedule_id !== null)
    return conflict('offer_lead_token', 'is the lead token of a schedule');
  const companies = new Set([lead, schedule, offer].flatMap((owner) => owner?.company_id ?? []));
  if (companies.size > 1) return unknown('offer_lead_token');
  const sources = new Set(
    [lead, schedule, offer].flatMap((owner) => owner?.traffic_source_id ?? []),
  );
  if (sources.size > 1)
    return conflict('lead_token', 'belongs to another traffic source than the other token');
  const specific = lead && (lead.schedule_id === null ? offer : schedule);
  if (!specific || specific.token === lead.token) return undefined;
  return specific === schedule
    ? conflict('schedule_lead_token', 'belongs to another schedule than lead_token')
    : conflict('offer_lead_token', 'belongs to another offer than lead_token');
}

const unknown = (name: Name): HttpProblem =>
  HttpProblem.field(name, 'wrong_credentials', 'is not the lead token of an offer or a schedule');

const conflict = (name: Name, message: string): HttpProblem =>
  HttpProblem.field(name, 'conflicting_fields', message);

async function findLeadToken(directory: Directory, token: string): Promise<LeadOwner | undefined> {
  const [row] = await queryByKey(directory, ['lead_token', token], (sql) =>
    sql(FIND_LEAD_TOKEN, { token }),
  );
  if (!row) return undefined;
  const { company_id, country, offer_id, schedule_id, zone } = row;
  return {
    company_id: BigInt(company_id),
    country,
    token,
    offer_id: offer_id === null ? null : BigInt(offer_id),
    schedule_id: schedule_id === null ? null : BigInt(schedule_id),
    traffic_source_id: row.traffic_source_id === null ? null : BigInt(row.traffic_source_id),
    zone: ianaName(zone) ?? 'UTC',
    contact_countries: row.contact_countries,
    contact_prefixes: row.contact_prefixes,
    powers: new Set(
      (row.powers_of_company ?? ALL_POWERS).filter(
        (power) =>
          (row.powers_of_offer?.includes(power) ?? true) &&
          // Leads of the offer may be those of other sources.
          (row.traffic_source_id === null || power === 'submit'),
      ),
    ),
  };
}
