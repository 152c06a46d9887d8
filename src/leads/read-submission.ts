import { contract, facets, type Schemas } from '../contract';
import { HttpProblem, rejectInvalidData, type FieldFaults, fault, invalid } from '../errors';
import { isMailAddress } from '../mail/address';
import { numberReader, reasonFor } from '../phone/parse-number';
import { flattened, tokensOf, type Data } from '../tokens/lead-data';
import type { Owner } from './lead-owner';

/** A submission as sent: parameters of the contract and any further keys, which are tokens. */
export type SentLead = Schemas['LeadFields'] & Data;

export interface ReadLead {
  /** The parameters of the contract. */
  fields: SentLead;
  /** What the lead knows, by token name; null removes a token. */
  tokens: Data;
  /** E.164 digits. */
  caller_number: number;
}

const KNOWN = new Set(
  Object.keys(facets(contract.document.components.schemas.LeadSubmission!).properties).concat(
    'offer_id',
    'schedule_id',
  ),
);
/** Keys that form software adds to every submission. */
const NOT_DATA = new Set(['format', 'utf8', 'commit']);
/** Credentials must not become tokens, which messages can contain. */
const CREDENTIALS = ['lead_token', 'offer_lead_token', 'schedule_lead_token', 'auth_token'];
const MAX_EMAIL_LENGTH = 255;

/** Reads a submission in whatever shape it was sent. Refuses with 422. */
export function readSubmission(sent: SentLead, owner: Owner): ReadLead {
  const { fields, tokens } = split(sent);
  const caller_number = numberOf(fields, tokens, owner.country);
  requireConsistent(fields, owner);
  return { fields, tokens, caller_number };
}

function split(sent: SentLead): { fields: SentLead; tokens: Data } {
  const entries = Object.entries(sent);
  const fields = Object.fromEntries(entries.filter(([key]) => KNOWN.has(key))) as SentLead;
  const others = Object.fromEntries(
    entries.filter(([key]) => !KNOWN.has(key) && !NOT_DATA.has(key)),
  );
  const { tokens, faults } = tokensOf(others, (fields.data ?? {}) as Data);
  rejectInvalidData(faults);
  const found = fields.auto_format_nested_fields ? flatten(fields, tokens) : { fields, tokens };
  for (const name of CREDENTIALS) Reflect.deleteProperty(found.tokens, name);
  return found;
}

function flatten(fields: SentLead, tokens: Data): { fields: SentLead; tokens: Data } {
  const { caller_id, email, ...plain } = flattened(tokens);
  const { tokens: lifted, faults } = tokensOf({}, plain);
  rejectInvalidData(faults);
  return {
    fields: {
      ...fields,
      caller_id: fields.caller_id ?? (caller_id as string),
      email: fields.email ?? (email as string),
    },
    tokens: lifted,
  };
}

function numberOf(fields: SentLead, tokens: Data, country: string): number {
  const sent: unknown = fields.caller_id ?? tokens.phone ?? '';
  const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
  const example = 'such as +13105550123 or (310) 555-0123';
  if (text.trim() === '')
    throw HttpProblem.field(
      'caller_id',
      'missing_field',
      `must be given: the telephone number of the lead, ${example}`,
    );
  const number = numberReader(country)(text);
  if (number === undefined)
    throw HttpProblem.field(
      'caller_id',
      'invalid_value',
      `${reasonFor(text)}; it must be one ${example}`,
    );
  return number;
}

const conflict = (message: string) => [fault('conflicting_fields', message)];

/** Refuses parameters that contradict each other, or the owner. */
function requireConsistent(fields: SentLead, owner: Owner): void {
  const faults: FieldFaults = {};
  const { email, schedule_callback_at, schedule_callback_in_seconds } = fields;
  if (email && !isOneAddress(email)) faults.email = invalid('must be one e-mail address');
  if (schedule_callback_at && typeof schedule_callback_in_seconds === 'number')
    faults.schedule_callback_in_seconds = conflict('cannot be combined with schedule_callback_at');
  for (const name of ['expire_existing', 'delete_existing'] as const) {
    if (fields[name] && fields.update_only)
      faults.update_only = conflict(
        `cannot be combined with ${name}: there would be no lead to update`,
      );
  }
  if (fields.unblock_contact && fields.blocked)
    faults.blocked = conflict('cannot be combined with unblock_contact');
  for (const name of ['restart_schedule', 'next_action_at'] as const) {
    if (fields[name] && owner.schedule_id === null)
      faults[name] = [
        fault('not_applicable', 'must be left out for the lead of an offer, which has no schedule'),
      ];
  }
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

const isOneAddress = (email: unknown): boolean =>
  typeof email === 'string' && email.length <= MAX_EMAIL_LENGTH && isMailAddress(email);

/** The ZIP or postal code among the tokens of a lead. */
export function zipOf(data: Data): string | undefined {
  const zip = data.zip ?? data.zip_code ?? data.postal_code ?? data.zip_postal_code;
  return typeof zip === 'string' || typeof zip === 'number' ? String(zip) : undefined;
}
