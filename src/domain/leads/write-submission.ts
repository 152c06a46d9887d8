import { createBatchers } from '../../data/batcher';
import { template, type Template } from '../../data/statement';
import type { Db } from '../../data/db';
import { leadProjection } from './columns';
import { SUBMIT_LEADS, SUBMITTED_COLUMNS } from './queries/submit-leads';
import { cacheTemplate, selectionKey } from '../../data/projection/projection-sql';
import { selectRecords } from '../../data/projection/record-statements';

/** One submission, ready to be written. */
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
  /** Columns that it sets; a live lead keeps the others. Ids are decimal text. */
  fields: Readonly<Record<string, unknown>>;
  /** JSON. */
  data: string;
  /** Tokens that the lead loses. */
  removed?: readonly string[];
  next_action_at?: string | null | undefined;
  callback_at?: string | undefined;
  restart?: boolean | undefined;
  update_only?: boolean | undefined;
  /** A live lead is left unchanged. */
  new_only?: boolean;
  /**
   * A live lead is assigned to the traffic source of the submission; otherwise it keeps its own.
   */
  moves_source?: boolean;
  /** A live lead of another traffic source is left unchanged. */
  only_own_source?: boolean;
  /** Chain of schedules whose events led to it; absent for a submission from outside. */
  triggered_by?: readonly string[];
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
 * written by one statement (prisma/sql/leads/submit_leads.sql). Undefined when the submission
 * changes nothing.
 */
export async function writeSubmission(
  db: Db,
  submission: Submission,
  form: RecordForm,
): Promise<WrittenLead | undefined> {
  const { batched } = db;
  const writeSingle = async (item: Submission) => (await write(db, db.query, [item], form))[0];
  // A transaction is retried as a whole.
  if (!batched) return writeSingle(submission);
  const { offer_id, schedule_id } = submission;
  const batch = [offer_id, schedule_id, ...Object.values(form)].join('|');
  return getBatcher(db, batch, () => ({
    run: (all) => write(db, batched.query, all, form),
    toKey: ({ caller_number }) => caller_number,
    fallback: { runSingle: writeSingle, isItemError },
  }))(submission);
}

const getBatcher = createBatchers<Submission, WrittenLead | undefined>();

/** SQLSTATEs that one row or its lock can cause; other errors concern the whole database. */
const isItemError = (error: unknown): boolean =>
  /^(2[123]|40|55P03)/.test((error as { code?: string }).code ?? '');

interface WrittenRow extends Omit<WrittenLead, 'created'> {
  uuid: string;
  caller_number: string;
}

/** Writes submissions of different numbers to one offer or schedule. */
async function write(
  { company_id }: Db,
  query: Db['query'],
  submissions: readonly Submission[],
  form: RecordForm,
): Promise<(WrittenLead | undefined)[]> {
  const { now, offer_id, schedule_id } = submissions[0]!;
  const writtenRows = await query<WrittenRow>(
    statementFor(form)({
      ...{ company_id, offer_id, schedule_id, now },
      numbers: submissions.map(({ caller_number }) => caller_number).sort((a, b) => a - b),
      submissions: `[${submissions.map(toRowJson).join(',')}]`,
    }),
  );
  const byNumber = new Map(writtenRows.map((row) => [Number(row.caller_number), row]));
  return submissions.map(({ caller_number, uuid }) => {
    const row = byNumber.get(caller_number);
    return row && { ...row, created: row.uuid === uuid };
  });
}

/** `data` is JSON already. */
function toRowJson({ now, offer_id, schedule_id, data, ...row }: Submission): string {
  void [now, offer_id, schedule_id];
  return `${JSON.stringify(row).slice(0, -1)},"data":${data}}`;
}

/** A sender with only a lead token is shown columns of the submission. */
const SUBMITTED_LEAD = {
  ...leadProjection,
  joins: { ...leadProjection.joins, request: SUBMITTED_COLUMNS.text },
};

const statementFor = (form: RecordForm): Template =>
  cacheTemplate(`submitted|${selectionKey(leadProjection, form)}`, () => {
    const more = 't.id::text, t.uuid, t.offer_id::text, t.caller_number::text, t.status';
    const select = selectRecords(SUBMITTED_LEAD, SUBMIT_LEADS.text, { ...form, more });
    return template(`${select} WHERE t.company_id = {company_id}`, { prepared: true });
  });
