import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { fault, HttpProblem, type FieldFaults } from '../../platform/errors';
import { COMPANY_WIDE, isPermitted, type Caller } from '../../api/auth/caller';
import { changeContacts, restrictContact } from './change-contacts';
import { rejectTooLarge } from './change-lead';
import { type Owner, findLead } from './lead-owner';
import { END_MATCHING_LEADS, UPDATE_CALLS, UPDATE_OTHER_LEADS } from './queries/matching-leads';
import { readSubmission, type SentLead } from './read-submission';
import { buildSubmission, type Sender } from './build-submission';
import {
  writeSubmission,
  type RecordForm,
  type Submission,
  type WrittenLead,
} from './write-submission';
import { assignNumber } from '../numbers/assign-number';
import { leadProjection } from './columns';
import { recordTemplate } from '../../data/projection/record-statements';
import { contactRefusal } from '../../data/phone/contact-policy';

export interface SubmitOptions extends Sender {
  may_unblock: boolean;
  /** Throws if the number, E.164 digits, was submitted too often. */
  checkRateLimit?: (number: number) => Promise<void>;
  form: RecordForm;
}

export interface SubmittedLead extends WrittenLead {
  /** Digits of the assigned numbers. */
  service_number: string | null;
  sms_number: string | null;
  warnings: FieldFaults;
}

/**
 * Submits a lead: reads the request, writes one lead, and carries out the requested side effects.
 * No lead is lost for a detail. Throws 422 for the number, and 403 for an unblocking that the
 * caller may not do; faults of other fields are in `warnings` and in the history.
 */
export async function submitLead(
  db: Db,
  body: SentLead,
  options: SubmitOptions,
  { clock }: Pick<Deps, 'clock'>,
): Promise<SubmittedLead> {
  const now = clock();
  const lead = readSubmission(body, options.owner, options.ignored);
  if (lead.fields.unblock_contact && !options.may_unblock) throw buildUnblockProblem();
  await options.checkRateLimit?.(lead.caller_number);
  const submission = await buildSubmission(db, lead, options, now);
  const { fields } = lead;
  const work = (tx: Db) => write(tx, { ...options, submission, fields, now });
  return (isOneStatement(fields) ? work(db) : db.transaction(work)).catch(rejectTooLarge);
}

/** The blacklist belongs to the whole company: a caller limited to teams needs more permission. */
export const mayUnblock = (caller: Caller): boolean =>
  isPermitted(caller, 'leads:update') && (!caller.teams || isPermitted(caller, COMPANY_WIDE));

/** Parameters that change more than the lead itself. */
const SIDE_EFFECT_FIELDS = [
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

/** True when one statement does all of the work, so that no transaction is needed. */
const isOneStatement = (fields: SentLead): boolean =>
  SIDE_EFFECT_FIELDS.every((name) => !fields[name]);

interface LeadWrite extends SubmitOptions {
  submission: Submission;
  fields: SentLead;
  now: Date;
}

/** Lock order: contacts, leads, numbers. */
async function write(db: Db, writing: LeadWrite): Promise<SubmittedLead> {
  const { submission, fields, form, ignored } = writing;
  const warnings: FieldFaults = { ...ignored.faults };
  await changeContact(db, writing);
  const isNew = await endMatching(db, writing, warnings);
  const lead = await writeSubmission(db, submission, form);
  if (!lead) throw await findSubmissionProblem(db, submission);
  if (isNew && !lead.created) throw new MadeMeanwhile();
  await updateMatching(db, writing, lead.id);
  const numbers = await assignNumbers(db, fields, { submission, lead, warnings });
  const isChanged = numbers.service_number !== null || numbers.sms_number !== null;
  // One statement writes the submissions of different senders: the record for a limited caller
  // needs a statement of its own.
  const isReadAgain = isChanged || db.accessScope !== undefined;
  const record = isReadAgain ? await loadRecord(db, lead.id, { form, submission }) : lead.record;
  addWarnings(lead, writing, warnings);
  return { ...lead, record, ...numbers, warnings };
}

async function changeContact(db: Db, writing: LeadWrite): Promise<void> {
  const { submission, fields, now, for_company, owner } = writing;
  const { caller_number: number, sender } = submission;
  const context = { now, message: 'asked for by a submission' };
  if (fields.unblock_contact) await changeContacts(db, 'unblock', [number], context);
  if (!fields.blocked) return;
  if (for_company) await changeContacts(db, 'block', [number], context);
  else await restrictContact(db, { change: 'block', number, owner, now, ip: sender.ip });
}

/** Another submission has created a lead since the earlier ones were ended: this one is retried. */
class MadeMeanwhile extends Error {
  override readonly name = 'MadeMeanwhile';
  /** serialization_failure of PostgreSQL: the transaction is repeated. */
  readonly code = '40001';

  constructor() {
    super('another submission has made a lead of the number meanwhile');
  }
}

/**
 * Deletes or expires the earlier leads of the number at the owner. Returns true if it did: the
 * submission then creates a new lead. Submissions that request this at the same time run one after
 * the other, and each sees the lead of the previous one.
 */
async function endMatching(
  { sql }: Db,
  { submission, fields }: LeadWrite,
  warnings: FieldFaults,
): Promise<boolean> {
  const { offer_id, schedule_id, caller_number, now } = submission;
  const expires = Boolean(fields.expire_existing) && schedule_id !== null;
  const deletes = Boolean(fields.delete_existing);
  if (fields.expire_existing && !expires) warnings.expire_existing = [SCHEDULES_ONLY];
  if (!deletes && !expires) return false;
  await sql(END_MATCHING_LEADS, { offer_id, schedule_id, caller_number, deletes, now });
  return true;
}

const SCHEDULES_ONLY = fault(
  'not_applicable',
  'applies to the leads of schedules only; this lead belongs to an offer',
);

/** Maximum age of calls whose tokens a lead token may change. */
const RECENT_MS = 30 * 86_400_000;

async function updateMatching(
  { sql }: Db,
  { submission, fields, for_company, now: at }: LeadWrite,
  leadId: string,
): Promise<void> {
  const { offer_id, schedule_id, caller_number, data, removed = [], now } = submission;
  const matching = { offer_id, schedule_id, caller_number, lead_id: leadId, data, removed, now };
  const all = fields.update_all_matching_leads ?? false;
  if (all) {
    const log = { event: 'updated', message: 'with all leads of its number' };
    await sql(UPDATE_OTHER_LEADS, { ...matching, email: fields.email || null, ...log });
  }
  const since = for_company ? null : new Date(at.getTime() - RECENT_MS);
  if (fields.apply_to === 'calls') await sql(UPDATE_CALLS, { ...matching, all, since });
}

interface NumberAssignment {
  submission: Submission;
  lead: WrittenLead;
  warnings: FieldFaults;
}

/**
 * Assigns the numbers of the company that a submission asks for: one from which the lead is called,
 * one from which it is texted. Returns their digits; null when none was requested, or with a
 * warning when the company owns none.
 */
async function assignNumbers(
  db: Db,
  fields: SentLead,
  { submission, lead, warnings }: NumberAssignment,
): Promise<{ service_number: string | null; sms_number: string | null }> {
  const numbered = {
    id: BigInt(lead.id),
    caller_number: submission.caller_number,
    offer_id: lead.offer_id === null ? null : BigInt(lead.offer_id),
  };
  const assign = async (
    name: 'assign_service_number' | 'assign_sms_number',
    column: 'dial_number_id' | 'sms_number_id',
  ) => {
    const number = await assignNumber(db, numbered, column, new Date(submission.now));
    if (number === null)
      warnings[name] = [
        fault('number_unavailable', 'the company owns no number that could be assigned'),
      ];
    return number;
  };
  const isForCalls = fields.assign_service_number || fields.assign_trackdrive_number;
  return {
    service_number: isForCalls ? await assign('assign_service_number', 'dial_number_id') : null,
    sms_number: fields.assign_sms_number
      ? await assign('assign_sms_number', 'sms_number_id')
      : null,
  };
}

/** A sender with only a lead token is shown no others. */
const toSentColumns = ({ data, fields, zones }: Submission) => ({
  data: JSON.parse(data) as unknown,
  email: fields.email,
  remote_ip: fields.remote_ip,
  zones,
});

/** The record of a lead as JSON, limited to what the caller may read. */
async function loadRecord(
  db: Db,
  id: string,
  { form, submission }: { form: RecordForm; submission: Submission },
): Promise<string> {
  const statement = recordTemplate(leadProjection, 'id', {
    ...form,
    limited: db.accessScope !== undefined,
  });
  const [row] = await db.query<{ record: string }>(
    statement({
      ...db.accessScope,
      company_id: db.company_id,
      now: submission.now,
      id,
      request: JSON.stringify(toSentColumns(submission)),
    }),
  );
  return row!.record;
}

/** Taking a number off the blacklist needs a permission of its own. */
function buildUnblockProblem(): HttpProblem {
  const message = 'needs an auth_token with the permission leads:update';
  return HttpProblem.field('unblock_contact', 'not_permitted', message);
}

async function findSubmissionProblem(db: Db, submission: Submission): Promise<HttpProblem> {
  const { caller_number, update_only, only_own_source } = submission;
  const isLive = async () => (await findLead(db, submission, caller_number)) !== undefined;
  if (only_own_source && (await isLive()))
    return HttpProblem.field(
      'caller_id',
      'taken',
      'is that of a live lead which came from elsewhere: nothing was changed',
    );
  return update_only
    ? HttpProblem.field(
        'update_only',
        'wrong_state',
        'finds no live lead of this number to update; no lead was created',
      )
    : HttpProblem.field(
        'lead_token',
        'wrong_state',
        'belongs to an offer or a schedule that was deleted',
      );
}

function addWarnings(
  { status }: WrittenLead,
  { submission, owner }: { submission: Submission; owner: Owner },
  warnings: FieldFaults,
): void {
  const stopped = (message: string) =>
    void (warnings.caller_id ??= [fault('contact_refused', message)]);
  if (status === 'blocked')
    stopped('is blocked by the company or for the offer: the lead is stored, but not contacted');
  else if (status === 'opt_out') stopped('has opted out: the lead is stored, but not contacted');
  else if (status === 'disabled')
    warnings.lead_token = [
      fault(
        'wrong_state',
        'belongs to an offer or a schedule that is paused: the lead is stored, and contacted ' +
          'when it resumes',
      ),
    ];
  const refusal = contactRefusal(submission.caller_number, owner);
  if (refusal) stopped(`${refusal}: the lead is stored, but neither called nor texted`);
}
