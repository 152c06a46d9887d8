import { contract, facets, type Schemas } from '../contract';
import { changeContacts } from './change-contacts';
import { leadProjection } from './columns';
import {
  isDataTooLarge,
  recordOf,
  submit,
  type OwnerKind,
  type Submission,
  type Submitted,
} from './queries/upsert-lead';
import { ofOwner, ownerId, type Owner } from './queries/owners';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import { uuidv7 } from '../db/uuid';
import { numberReader, reasonFor } from '../phone/parse-number';
import { isMailAddress } from '../mail/address';
import { HttpProblem, type FieldErrors } from '../errors';
import { leadZones } from '../phone/number-zones';
import { flattened, tokensOf, type Data } from '../tokens/lead-data';
import { assignNumber } from '../numbers/assign-number';
import { rejectInvalidData } from '../errors';
import { findTrafficSource } from '../offers/find-traffic-source';

type Fields = Schemas['LeadFields'] & Data;

export interface SubmitOptions {
  owner: Owner;
  ip: string;
  /** Whether the sender may take a number off the blacklist. */
  may_unblock: boolean;
  selection: { grid: boolean; external: boolean };
}

export interface SubmittedLead extends Submitted {
  service_number: string | null;
  sms_number: string | null;
  warnings: FieldErrors;
}

const KNOWN = new Set(
  Object.keys(facets(contract.document.components.schemas.LeadSubmission!).properties).concat(
    'offer_id',
    'schedule_id',
  ),
);
/** What clients of such services send with a lead although it is none of its data. */
const NOT_DATA = new Set(['format', 'utf8', 'commit']);
/** What opens something is no text for messages, wherever among the data it stands. */
const CREDENTIALS = ['lead_token', 'offer_lead_token', 'schedule_lead_token', 'auth_token'];
const LONGEST_EMAIL = 255;

/** Takes a lead: reads what was sent in whatever shape, and writes it as one lead. Refuses with 422, and with 403 an unblocking that is not allowed. */
export async function submitLead(
  db: Db,
  sent: Fields,
  options: SubmitOptions,
  { clock }: Pick<Deps, 'clock'>,
): Promise<SubmittedLead> {
  const now = clock();
  const { fields, tokens } = read(sent);
  const number = callerOf(fields, tokens, options.owner.country);
  requirePossible(fields, options);
  const submission = await submissionOf(db, { fields, tokens, number, now, options });
  const work = (tx: Db) => write(tx, { submission, fields, now, options });
  return (isPlain(fields) ? work(db) : db.transaction(work)).catch(rejectTooLarge);
}

/** The parameters and the tokens of a submission, wherever they stood. */
function read(sent: Fields): { fields: Fields; tokens: Data } {
  const loose = Object.fromEntries(
    Object.entries(sent).filter(([key]) => !KNOWN.has(key) && !NOT_DATA.has(key)),
  );
  const known = Object.fromEntries(
    Object.entries(sent).filter(([key]) => KNOWN.has(key)),
  ) as Fields;
  const { tokens, faults } = tokensOf(loose, (known.data ?? {}) as Data);
  rejectInvalidData(faults);
  const found = known.auto_format_nested_fields
    ? formatted(known, tokens)
    : { fields: known, tokens };
  for (const name of CREDENTIALS) Reflect.deleteProperty(found.tokens, name);
  return found;
}

/** Refuses with 422 data that a lead cannot hold beside what it has; throws any other error as it is. */
export function rejectTooLarge(error: unknown): never {
  if (isDataTooLarge(error))
    throw HttpProblem.field(
      'data',
      'must not grow beyond 128 kB together with what the lead has already',
    );
  throw error;
}

/** The ZIP or postal code among the data of a lead. */
export function zipOf(data: Data): string | undefined {
  const zip = data.zip ?? data.zip_code ?? data.postal_code ?? data.zip_postal_code;
  return typeof zip === 'string' || typeof zip === 'number' ? String(zip) : undefined;
}

function formatted(fields: Fields, tokens: Data): { fields: Fields; tokens: Data } {
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

function callerOf(fields: Fields, tokens: Data, country: string): number {
  const sent: unknown = fields.caller_id ?? tokens.phone ?? '';
  const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
  if (text.trim() === '')
    throw HttpProblem.field(
      'caller_id',
      'must be given: the telephone number of the lead, such as +13105550123 or (310) 555-0123',
    );
  const number = numberReader(country)(text);
  if (number === undefined)
    throw HttpProblem.field(
      'caller_id',
      `${reasonFor(text)}; it must be one such as +13105550123 or (310) 555-0123`,
    );
  return number;
}

function requirePossible(fields: Fields, { owner, may_unblock }: SubmitOptions): void {
  const errors: FieldErrors = {};
  const { email, schedule_callback_at, schedule_callback_in_seconds } = fields;
  if (
    email &&
    !(typeof email === 'string' && email.length <= LONGEST_EMAIL && isMailAddress(email))
  )
    errors.email = ['must be one e-mail address'];
  if (schedule_callback_at && typeof schedule_callback_in_seconds === 'number')
    errors.schedule_callback_in_seconds = ['must be left out beside schedule_callback_at'];
  for (const name of ['expire_existing', 'delete_existing'] as const) {
    if (fields[name] && fields.update_only)
      errors.update_only = [`must be left out beside ${name}: there would be no lead to update`];
  }
  if (fields.unblock_contact && fields.blocked)
    errors.blocked = ['must be left out beside unblock_contact'];
  for (const name of ['restart_schedule', 'next_action_at'] as const) {
    if (fields[name] && owner.schedule_id === null)
      errors[name] = ['must be left out for the lead of an offer, which has no schedule'];
  }
  const refusal = HttpProblem.fields(errors);
  if (refusal) throw refusal;
  if (fields.unblock_contact && !may_unblock) {
    const message = 'needs an auth_token with the permission leads:update';
    throw new HttpProblem(403, `unblock_contact ${message}`, { unblock_contact: [message] });
  }
}

interface Reading {
  fields: Fields;
  tokens: Data;
  number: number;
  now: Date;
  options: SubmitOptions;
}

async function submissionOf(
  db: Db,
  { fields, tokens, number, now, options: { owner, ip } }: Reading,
): Promise<Submission> {
  const { schedule_callback_at, schedule_callback_in_seconds: seconds } = fields;
  const callback_at =
    schedule_callback_at ??
    (typeof seconds === 'number' ? new Date(now.getTime() + seconds * 1000).toISOString() : null);
  const kind: OwnerKind = owner.schedule_id === null ? 'offer' : 'schedule';
  return {
    uuid: uuidv7(now.getTime()),
    now: now.toISOString(),
    owner: kind,
    offer_id: owner.offer_id,
    schedule_id: owner.schedule_id,
    caller_number: number,
    zones: leadZones(number, zipOf(tokens), owner.zone),
    ...partsOf(tokens),
    email: fields.email || null,
    contact_field_type: fields.contact_field_type ?? null,
    expires_in: fields.expires_in ?? null,
    sub_id: fields.sub_id ?? null,
    traffic_source_id: fields.traffic_source_id
      ? await findTrafficSource(db, fields.traffic_source_id)
      : null,
    remote_ip: fields.ip_address ?? fields.remote_ip ?? ip,
    lead_priority: fields.lead_priority ?? null,
    hours_to_expire: fields.hours_to_expire ?? null,
    max_contact_attempts: fields.max_contact_attempts ?? null,
    next_action_at: fields.next_action_at ?? null,
    callback_at,
    restart: fields.restart_schedule ?? false,
    update_only: fields.update_only ?? false,
  };
}

/** A token that is null is one to take away. */
function partsOf(tokens: Data): Pick<Submission, 'data' | 'removed'> {
  const entries = Object.entries(tokens);
  const kept = Object.fromEntries(entries.filter(([, value]) => value !== null));
  return {
    data: JSON.stringify(kept),
    removed: entries.flatMap(([name, value]) => (value === null ? [name] : [])),
  };
}

const BESIDE = [
  'blocked',
  'unblock_contact',
  'expire_existing',
  'delete_existing',
  'update_all_matching_leads',
  'apply_to',
  'assign_service_number',
  'assign_trackdrive_number',
  'assign_sms_number',
] as const;

/** Whether one statement is all of it. */
const isPlain = (fields: Fields): boolean => BESIDE.every((name) => !fields[name]);

interface Writing extends Omit<Reading, 'number' | 'tokens'> {
  submission: Submission;
}

async function write(
  db: Db,
  { submission, fields, now, options }: Writing,
): Promise<SubmittedLead> {
  const warnings: FieldErrors = {};
  const { caller_number: number } = submission;
  const contacts = {
    now,
    message: 'asked for by a submission',
  };
  if (fields.unblock_contact) await changeContacts(db, 'unblock', [number], contacts);
  if (fields.blocked) await changeContacts(db, 'block', [number], contacts);
  if (fields.delete_existing) await endExisting(db, submission, 'deleted');
  if (fields.expire_existing && submission.owner === 'offer')
    warnings.expire_existing = ['concerns leads of schedules; this one is of an offer'];
  else if (fields.expire_existing) await endExisting(db, submission, 'expired');
  const lead = await submitted(db, submission, options);
  if (fields.update_all_matching_leads) await updateAll(db, submission, lead.id);
  if (fields.apply_to === 'calls')
    await applyToCalls(db, submission, {
      lead: lead.id,
      all: fields.update_all_matching_leads ?? false,
    });
  const numbers = await numbersOf(db, fields, { lead, submission, warnings });
  const is_older = numbers.service_number !== null || numbers.sms_number !== null;
  const record = is_older
    ? await recordOf(db, leadProjection, lead.id, { ...options.selection, now: submission.now })
    : lead.record;
  explain(lead, warnings);
  return { ...lead, record, ...numbers, warnings };
}

async function submitted(
  db: Db,
  submission: Submission,
  { selection }: SubmitOptions,
): Promise<Submitted> {
  const lead = await submit(db, submission, { projection: leadProjection, selection });
  if (lead) return lead;
  if (submission.update_only)
    throw HttpProblem.field(
      'update_only',
      'finds no live lead of this number to update; nothing was made',
    );
  throw HttpProblem.field('lead_token', 'is of an offer or a schedule that was deleted');
}

function explain({ status, paused }: Submitted, warnings: FieldErrors): void {
  if (status === 'blocked')
    warnings.caller_id = [
      'is on the blacklist of the company: the lead is kept, and nothing is done for it',
    ];
  else if (status === 'opt_out')
    warnings.caller_id = ['has opted out: the lead is kept, and nothing is done for it'];
  else if (paused)
    warnings.lead_token = [
      'is of an offer or a schedule that is paused: the lead is kept, and comes into action when it goes on',
    ];
}

/** SQL of the leads of the submission's number at its owner, with $1 to $3. */
const matching = (submission: Submission) => `${ofOwner(submission)} AND l.caller_number = $3`;

async function endExisting(
  db: Db,
  submission: Submission,
  how: 'expired' | 'deleted',
): Promise<void> {
  const set =
    how === 'deleted'
      ? 'deleted_at = $4::timestamptz'
      : `status = 'expired', schedule_ended_at = $4::timestamptz`;
  const which = how === 'deleted' ? 'l.deleted_at IS NULL' : 'l.is_live';
  await db.query({
    text: `WITH locked AS (SELECT l.id FROM leads l WHERE ${matching(submission)} AND ${which} ORDER BY l.id FOR UPDATE),
      ended AS (UPDATE leads l SET ${set}, is_live = false, due_at = NULL, claim_id = NULL, updated_at = $4::timestamptz FROM locked WHERE l.company_id = $1 AND l.id = locked.id RETURNING l.id),
      called_off AS (UPDATE scheduled_callbacks y SET status = 'canceled' FROM ended WHERE y.company_id = $1 AND y.lead_id = ended.id AND y.status = 'pending'),
      logged AS (INSERT INTO lead_logs (company_id, created_at, lead_id, event, message) SELECT $1, $4::timestamptz, id, '${how}', 'asked for by a submission' FROM ended RETURNING 1)
      INSERT INTO record_counts (company_id, resource, slot, n) SELECT $1, 'leads', 0, -count(*) FROM ended WHERE ${how === 'deleted'} HAVING count(*) > 0
      ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n`,
    values: [db.company_id, ownerId(submission), submission.caller_number, submission.now],
  });
}

/** The other leads of the number at the owner, ended ones too, get the same data. */
async function updateAll(db: Db, submission: Submission, except: string): Promise<void> {
  await db.query({
    text: `WITH locked AS (SELECT l.id FROM leads l WHERE ${matching(submission)} AND l.deleted_at IS NULL AND l.id <> $4::bigint ORDER BY l.id FOR UPDATE),
      changed AS (UPDATE leads l SET data = (l.data - $8::text[]) || $5::jsonb, email = coalesce($6, l.email), updated_at = $7::timestamptz FROM locked
        WHERE l.company_id = $1 AND l.id = locked.id RETURNING l.id)
      INSERT INTO lead_logs (company_id, created_at, lead_id, event, message) SELECT $1, $7::timestamptz, id, 'updated', 'with all leads of its number' FROM changed`,
    values: [
      db.company_id,
      ownerId(submission),
      submission.caller_number,
      except,
      submission.data,
      submission.email,
      submission.now,
      submission.removed,
    ],
  });
}

/** The calls of the lead, or of all that were updated, get the same data. */
async function applyToCalls(
  db: Db,
  submission: Submission,
  { lead, all }: { lead: string; all: boolean },
): Promise<void> {
  await db.query({
    text: `UPDATE calls c SET token_values = (c.token_values - $7::text[]) || $4::jsonb, updated_at = $6::timestamptz FROM leads l
      WHERE ${matching(submission)} AND c.company_id = l.company_id AND c.lead_id = l.id AND (l.id = $5::bigint OR ${all})`,
    values: [
      db.company_id,
      ownerId(submission),
      submission.caller_number,
      submission.data,
      lead,
      submission.now,
      submission.removed,
    ],
  });
}

interface Assigning {
  submission: Submission;
  lead: Submitted;
  warnings: FieldErrors;
}

async function numbersOf(
  db: Db,
  fields: Fields,
  { submission, lead: { id, offer_id }, warnings }: Assigning,
): Promise<{ service_number: string | null; sms_number: string | null }> {
  const lead = {
    id: BigInt(id),
    caller_number: submission.caller_number,
    offer_id: offer_id === null ? null : BigInt(offer_id),
  };
  const assign = async (
    name: 'assign_service_number' | 'assign_sms_number',
    column: 'dial_number_id' | 'sms_number_id',
  ) => {
    const number = await assignNumber(db, lead, column, new Date(submission.now));
    if (number === null) warnings[name] = ['the company owns no number that could be assigned'];
    return number;
  };
  const wants_dial = fields.assign_service_number || fields.assign_trackdrive_number;
  return {
    service_number: wants_dial ? await assign('assign_service_number', 'dial_number_id') : null,
    sms_number: fields.assign_sms_number
      ? await assign('assign_sms_number', 'sms_number_id')
      : null,
  };
}
