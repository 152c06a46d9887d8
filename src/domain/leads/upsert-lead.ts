import { createBatchers } from '../../data/batcher';
import { template, type Template } from '../../data/statement';
import type { Db } from '../../data/db';
import { leadProjection } from './columns';
import { ADD_CALLBACK, END_CALLBACKS } from './queries/callbacks';
import { LOCK_LIVE_LEAD } from './queries/matching-leads';
import { WRITE_OFFER_LEADS, WRITE_SCHEDULE_LEADS } from './queries/upsert-lead';
import { selectRecords } from '../../data/projection/record-statements';

/** One submission, ready to be written. Null leaves the value of a live lead unchanged. */
export interface Submission {
  uuid: string;
  /** ISO 8601. */
  now: string;
  /** Null for the schedule's own offer. */
  offer_id: bigint | null;
  /** Null for the lead of an offer. */
  schedule_id: bigint | null;
  caller_number: number;
  zones: readonly string[];
  data: string;
  removed: readonly string[];
  email: string | null;
  contact_field_type: string | null;
  /** Minutes. */
  expires_in: number | null;
  sub_id: string | null;
  traffic_source_id: bigint | null;
  remote_ip: string | null;
  lead_priority: number | null;
  hours_to_expire: number | null;
  max_contact_attempts: number | null;
  next_action_at: string | null;
  callback_at: string | null;
  restart: boolean;
  update_only: boolean;
  /**
   * A live lead is assigned to the traffic source of the submission; otherwise it keeps its own.
   */
  moves_source: boolean;
  /** A live lead of another traffic source is left unchanged. */
  only_own_source: boolean;
  /** Chain of schedules whose events led to it; empty for a submission from outside. */
  triggered_by: readonly string[];
  /** Details for the history of the lead: sender and fields that could not be used. */
  sender: { ip: string; credentials: string; warnings?: readonly object[] };
  note: string | null;
}

/** Ids are decimal text. */
export interface WrittenLead {
  record: string;
  id: string;
  offer_id: string | null;
  created: boolean;
  status: string;
  paused: boolean;
}

export interface RecordForm {
  grid: boolean;
  external: boolean;
  /** For a sender who has only a lead token. */
  by_token: boolean;
}

/**
 * Creates the lead of a submission or updates the live lead of its number: however many submissions
 * run in parallel, one lead is live. Submissions that arrive together for one offer or schedule are
 * written by one statement. Undefined when the offer or schedule was deleted, with `update_only`
 * when there is no live lead, and with `only_own_source` when the lead belongs to another source.
 */
export async function upsertLead(
  db: Db,
  submission: Submission,
  form: RecordForm,
): Promise<WrittenLead | undefined> {
  if (submission.update_only || submission.callback_at !== null)
    return db.transaction((tx) => upsertInSteps(tx, submission, form));
  const writeSingle = async (item: Submission) => (await write(db, db.query, [item], form))[0];
  const { batched } = db;
  // A transaction is retried as a whole.
  if (!batched) return writeSingle(submission);
  if (!canBatch(submission)) return writeSingle(submission);
  const batch = [...BATCH_OPTIONS.map((option) => submission[option]), ...Object.values(form)].join(
    '|',
  );
  return getBatcher(db, batch, () => ({
    run: (all) => write(db, batched.query, all, form),
    toKey: ({ caller_number }) => caller_number,
    fallback: { runSingle: writeSingle, isItemError },
  }))(submission);
}

const BATCH_OPTIONS = [
  'offer_id',
  'schedule_id',
  'restart',
  'moves_source',
  'only_own_source',
] as const satisfies readonly (keyof Submission)[];

const getBatcher = createBatchers<Submission, WrittenLead | undefined>();

/** The remaining options are parameters of the whole statement. */
const canBatch = ({ removed, next_action_at }: Submission): boolean =>
  removed.length === 0 && next_action_at === null;

/** SQLSTATEs that one row or its lock can cause; other errors concern the whole database. */
const isItemError = (error: unknown): boolean =>
  /^(2[123]|40|55P03)/.test((error as { code?: string }).code ?? '');

async function upsertInSteps(
  tx: Db,
  submission: Submission,
  form: RecordForm,
): Promise<WrittenLead | undefined> {
  if (submission.update_only) {
    const { offer_id, schedule_id, caller_number } = submission;
    // The lock keeps the lead live until it is written.
    const live = await tx.sql(LOCK_LIVE_LEAD, { offer_id, schedule_id, caller_number });
    if (live.length === 0) return undefined;
  }
  const [lead] = await write(tx, tx.query, [submission], form);
  if (lead && submission.callback_at !== null) {
    const { now, callback_at } = submission;
    await tx.sql(END_CALLBACKS, { lead_id: lead.id, status: 'replaced' });
    await tx.sql(ADD_CALLBACK, { id: lead.callback_id, lead_id: lead.id, callback_at, now });
  }
  return lead;
}

interface WrittenRow extends WrittenLead {
  caller_number: string;
  /** The new callback, else the last one of the lead. */
  callback_id: string | null;
}

/** Writes submissions of different numbers that share all other options. */
async function write(
  { company_id }: Db,
  query: Db['query'],
  submissions: readonly Submission[],
  form: RecordForm,
): Promise<(WrittenRow | undefined)[]> {
  const options = submissions[0]!;
  const rows = `[${submissions.map(toRowJson).join(',')}]`;
  const statement = statementFor(options.schedule_id === null ? 'offer' : 'schedule', form);
  const writtenRows = await query<WrittenRow>(statement({ ...options, company_id, rows }));
  const byNumber = new Map(writtenRows.map((row) => [Number(row.caller_number), row]));
  return submissions.map(({ caller_number }) => byNumber.get(caller_number));
}

/** `data` is JSON already. */
function toRowJson(submission: Submission): string {
  const { traffic_source_id, data } = submission;
  const row = {
    uuid: submission.uuid,
    caller_number: submission.caller_number,
    zones: submission.zones,
    email: submission.email,
    contact_field_type: submission.contact_field_type,
    expires_in: submission.expires_in,
    sub_id: submission.sub_id,
    traffic_source_id: traffic_source_id && String(traffic_source_id),
    remote_ip: submission.remote_ip,
    lead_priority: submission.lead_priority,
    hours_to_expire: submission.hours_to_expire,
    max_contact_attempts: submission.max_contact_attempts,
    sender: submission.sender,
    note: submission.note,
  };
  return `${JSON.stringify(row).slice(0, -1)},"data":${data}}`;
}

/** The rows of the statement contain the columns that the request has sent. */
const SUBMITTED_LEAD = {
  ...leadProjection,
  joins: {
    ...leadProjection.joins,
    request: 'JOIN started request ON request.caller_number = t.caller_number',
  },
};
const CTES = { offer: WRITE_OFFER_LEADS, schedule: WRITE_SCHEDULE_LEADS };
const templates = new Map<string, Template>();

function statementFor(owner: keyof typeof CTES, form: RecordForm): Template {
  const key = `${owner}|${form.grid}|${form.external}|${form.by_token}`;
  const cachedTemplate = templates.get(key);
  if (cachedTemplate) return cachedTemplate;
  const more = [
    't.id::text',
    't.offer_id::text',
    't.caller_number::text',
    't.created',
    't.status',
    't.scheduled_callback_id::text AS callback_id',
    '(SELECT paused FROM owner) AS paused',
  ].join(', ');
  const select = selectRecords(SUBMITTED_LEAD, 'written', { ...form, more });
  const text = `${CTES[owner].text} ${select} WHERE t.company_id = {company_id}`;
  const createdTemplate = template(text, { prepared: true });
  templates.set(key, createdTemplate);
  return createdTemplate;
}
