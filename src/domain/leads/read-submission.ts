import { contract, facets, type Schemas } from '../../platform/contract/contract';
import {
  fault,
  HttpProblem,
  invalid,
  type ErrorCode,
  type FieldFaults,
} from '../../platform/errors';
import { CREDENTIAL_NAMES } from '../../api/auth/fields';
import type { IgnoredFields } from '../../api/request/set-aside';
import { isMailAddress } from '../../platform/mail/address';
import {
  isAssignable,
  NOT_ASSIGNABLE,
  numberReader,
  reasonFor,
} from '../../data/phone/parse-number';
import {
  buildTokensLeniently,
  limitTokens,
  flattenData,
  ZIP_TOKENS,
  type Data,
  type DataFault,
} from '../../platform/tokens/lead-data';
import type { Owner } from './lead-owner';

/** A submission: parameters of the contract, and any further keys, which are tokens. */
export type SentLead = Schemas['LeadFields'] & Data;

export interface ReadLead {
  fields: SentLead;
  /** By token name; null removes a token. */
  tokens: Data;
  /** E.164 digits. */
  caller_number: number;
}

const KNOWN_FIELDS = new Set(
  Object.keys(facets(contract.document.components.schemas.LeadSubmission!).properties).concat(
    'offer_id',
    'schedule_id',
  ),
);
/** Keys that form software adds to every submission. */
const FORM_SOFTWARE_KEYS = new Set(['format', 'utf8', 'commit']);
const MAX_EMAIL_LENGTH = 255;

/**
 * Reads a submission. Only an invalid number is refused with 422: other fields that cannot be used
 * are collected in `ignored`.
 */
export function readSubmission(body: SentLead, owner: Owner, ignored: IgnoredFields): ReadLead {
  const { fields, tokens } = splitFields(body, ignored);
  const callerNumber = readNumber(fields, tokens, owner.country);
  if (typeof fields.email === 'string') fields.email = fields.email.trim();
  for (let wrong; (wrong = findConflict(fields, owner));) ignored.take(wrong, fields);
  return { fields, tokens, caller_number: callerNumber };
}

/** Adds the ignored values to the tokens of a lead, within the limits of one lead. */
export function addIgnoredValues(ignored: IgnoredFields, tokens: Data): Data {
  const all = { ...tokens };
  for (const [name, value] of Object.entries(ignored.values)) {
    if (value === null || value === undefined || CREDENTIAL_NAMES.includes(name)) continue;
    const token = name in tokens ? `${name}_raw` : name;
    all[token] = value;
    const keptFaults = (ignored.faults[name] ?? []).map(({ code, message }) =>
      fault(code, `${message}: kept as the token ${token}`),
    );
    ignored.faults[name] = keptFaults;
  }
  const { tokens: fittedTokens, faults } = limitTokens(all);
  ignored.note(toFieldFaults(faults, 'limit_exceeded'));
  return fittedTokens;
}

const toFieldFaults = (faults: readonly DataFault[], code: ErrorCode): FieldFaults =>
  Object.fromEntries(faults.map(({ field, message }) => [field, [fault(code, message)]]));

function splitFields(body: SentLead, ignored: IgnoredFields): { fields: SentLead; tokens: Data } {
  const entries = Object.entries(body);
  const fields = Object.fromEntries(entries.filter(([key]) => KNOWN_FIELDS.has(key))) as SentLead;
  const tokenFields = Object.fromEntries(
    entries.filter(([key]) => !KNOWN_FIELDS.has(key) && !FORM_SOFTWARE_KEYS.has(key)),
  );
  const { tokens, faults } = buildTokensLeniently(tokenFields, (fields.data ?? {}) as Data);
  ignored.note(toFieldFaults(faults, 'invalid_value'));
  const parts = fields.auto_format_nested_fields ? flatten(fields, tokens) : { fields, tokens };
  // Messages can contain tokens.
  for (const name of CREDENTIAL_NAMES) Reflect.deleteProperty(parts.tokens, name);
  return parts;
}

function flatten(fields: SentLead, tokens: Data): { fields: SentLead; tokens: Data } {
  const { caller_id, email, ...plain } = flattenData(tokens);
  return {
    fields: {
      ...fields,
      caller_id: fields.caller_id ?? (caller_id as string),
      email: fields.email ?? (email as string),
    },
    tokens: plain,
  };
}

function readNumber(fields: SentLead, tokens: Data, country: string): number {
  const input: unknown = fields.caller_id ?? tokens.phone ?? '';
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  const example = 'such as +13105550123 or (310) 555-0123';
  if (text.trim() === '')
    throw HttpProblem.field(
      'caller_id',
      'missing_field',
      `must be given: the telephone number of the lead, ${example}`,
    );
  const number = numberReader(country)(text);
  if (number === undefined || !isAssignable(number))
    throw HttpProblem.field(
      'caller_id',
      'invalid_value',
      `${number === undefined ? reasonFor(text) : NOT_ASSIGNABLE}; it must be one ${example}`,
    );
  return number;
}

const conflict = (message: string) => [fault('conflicting_fields', message)];

/** Conflicts of parameters with each other or with the owner, and an invalid e-mail address. */
function findConflict(fields: SentLead, owner: Owner): HttpProblem | undefined {
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
    faults.unblock_contact = conflict('cannot be combined with blocked');
  for (const name of ['restart_schedule', 'next_action_at'] as const) {
    if (fields[name] && owner.schedule_id === null)
      faults[name] = [
        fault('not_applicable', 'must be left out for the lead of an offer, which has no schedule'),
      ];
  }
  return HttpProblem.fields(faults);
}

const isOneAddress = (email: unknown): boolean =>
  typeof email === 'string' && email.length <= MAX_EMAIL_LENGTH && isMailAddress(email);

export const readZip = (data: Data): string | undefined =>
  ZIP_TOKENS.map((name) => data[name])
    .filter((zip) => typeof zip === 'string' || typeof zip === 'number')
    .map((zip) => String(zip).trim())
    .find(Boolean);
