import { batchers } from '../../db/batcher';
import { recordTemplate, selectRecords, type Projection } from '../../db/projection';
import { template, type Template } from '../../db/statement';
import type { Db } from '../../db/tenant';

export type OwnerKind = 'schedule' | 'offer';

/** One submission, ready to be written. Null leaves what a live lead has. */
export interface Submission {
  uuid: string;
  now: string;
  owner: OwnerKind;
  /** Of a schedule's lead: null for that of the schedule. */
  offer_id: bigint | null;
  schedule_id: bigint | null;
  caller_number: number;
  zones: readonly string[];
  /** JSON of the tokens. */
  data: string;
  /** Names of the tokens that it takes away. */
  removed: readonly string[];
  email: string | null;
  contact_field_type: string | null;
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
  /** Updates the live lead, and makes none. */
  update_only: boolean;
}

export interface Submitted {
  record: string;
  id: string;
  offer_id: string | null;
  created: boolean;
  status: string;
  paused: boolean;
}

/** What is a submission's own, by its type in SQL. Everything else is the same for all that are written in one statement. */
const OWN = {
  uuid: 'uuid',
  caller_number: 'bigint',
  zones: 'text[]',
  data: 'jsonb',
  email: 'text',
  contact_field_type: 'text',
  expires_in: 'int',
  sub_id: 'text',
  traffic_source_id: 'bigint',
  remote_ip: 'text',
  lead_priority: 'numeric',
  hours_to_expire: 'int',
  max_contact_attempts: 'int',
} as const satisfies Partial<Record<keyof Submission, string>>;

/** Columns of a new lead, by the SQL over the row s that gives them. */
const COLUMNS: Record<string, string> = {
  ...Object.fromEntries(Object.keys(OWN).map((name) => [name, `s.${name}`])),
  company_id: '{company_id}::bigint',
  created_at: '{now}::timestamptz',
  updated_at: '{now}::timestamptz',
  user_updated_at: '{now}::timestamptz',
  offer_id: 's.offer_id',
  schedule_id: '{schedule_id}::bigint',
  status: 's.status',
  first_queued_at: '{now}::timestamptz',
  entered_at: '{now}::timestamptz',
  callback_at: '{callback_at}::timestamptz',
  scheduled_callback_id: 's.callback_id',
  next_action_at: 's.next_action_at',
  due_at: 's.due_at',
};

/** A live lead keeps what the submission does not say. */
const KEPT = [
  'email',
  'contact_field_type',
  'expires_in',
  'sub_id',
  'traffic_source_id',
  'remote_ip',
  'lead_priority',
  'hours_to_expire',
  'max_contact_attempts',
  'callback_at',
  'scheduled_callback_id',
];

const ZIPS = `ARRAY['zip', 'zip_code', 'postal_code', 'zip_postal_code']`;
const IN_ACTION = `excluded.status IN ('queue', 'scheduled', 'waiting')`;
/** Stopped before, and free to go on now. */
const FREED = `leads.status IN ('blocked', 'opt_out', 'disabled')`;
const AGAIN = `({restart} OR ${FREED})`;

/** Columns of a lead that begins its schedule anew. */
const ANEW: Record<string, string> = {
  phase: `'actions'`,
  position: 'NULL',
  exit_reason: 'NULL',
  contact_attempts: '0',
  entered_at: '{now}::timestamptz',
  tries: '0',
  suppressed: 'false',
  unreachable: 'false',
};

/** What a submission makes of the live lead of its number; `excluded` is the lead that it would be if there were none. */
const SET = [
  ...KEPT.map((name) => `${name} = coalesce(excluded.${name}, leads.${name})`),
  `data = (leads.data - {removed}::text[]) || excluded.data`,
  `zones = CASE WHEN excluded.data ?| ${ZIPS} OR {removed}::text[] && ${ZIPS} THEN excluded.zones ELSE leads.zones END`,
  `offer_id = coalesce({offer_id}::bigint, leads.offer_id, excluded.offer_id)`,
  `status = CASE WHEN NOT ${IN_ACTION} OR ${AGAIN} OR {next_action_at}::timestamptz IS NOT NULL OR {callback_at}::timestamptz IS NOT NULL THEN excluded.status ELSE leads.status END`,
  `due_at = CASE WHEN NOT ${IN_ACTION} THEN NULL WHEN {callback_at}::timestamptz IS NOT NULL OR {next_action_at}::timestamptz IS NOT NULL OR ${AGAIN} THEN excluded.due_at
    WHEN excluded.expires_in IS NOT NULL OR excluded.hours_to_expire IS NOT NULL OR excluded.max_contact_attempts IS NOT NULL THEN {now}::timestamptz ELSE leads.due_at END`,
  `claim_id = CASE WHEN NOT ${IN_ACTION} OR {callback_at}::timestamptz IS NOT NULL OR {next_action_at}::timestamptz IS NOT NULL OR ${AGAIN}
    OR excluded.expires_in IS NOT NULL OR excluded.hours_to_expire IS NOT NULL OR excluded.max_contact_attempts IS NOT NULL THEN NULL ELSE leads.claim_id END`,
  `next_action_at = CASE WHEN {next_action_at}::timestamptz IS NOT NULL OR {restart} THEN excluded.next_action_at ELSE leads.next_action_at END`,
  ...Object.entries(ANEW).map(
    ([name, sql]) => `${name} = CASE WHEN {restart} THEN ${sql} ELSE leads.${name} END`,
  ),
  `updated_at = {now}::timestamptz`,
  `user_updated_at = {now}::timestamptz`,
].join(', ');

/** Whether the owner lets leads into action, what the company knows of the number, and what follows for a new lead. */
const START: Record<
  OwnerKind,
  { owner: string; status: string; due: string; conflict: string; match: string }
> = {
  schedule: {
    owner: `SELECT o.paused OR coalesce(f.paused, false) AS paused, coalesce({offer_id}::bigint, o.offer_id) AS offer_id FROM schedules o LEFT JOIN offers f ON f.company_id = o.company_id AND f.id = coalesce({offer_id}::bigint, o.offer_id)
      WHERE o.company_id = {company_id} AND o.id = {schedule_id}::bigint AND o.deleted_at IS NULL`,
    status: `CASE WHEN {callback_at}::timestamptz IS NOT NULL THEN 'waiting' ELSE 'scheduled' END`,
    due: `coalesce({callback_at}::timestamptz, {next_action_at}::timestamptz, {now}::timestamptz)`,
    conflict: '(company_id, schedule_id, caller_number) WHERE is_live AND schedule_id IS NOT NULL',
    match: 'leads.schedule_id = {schedule_id}::bigint',
  },
  offer: {
    owner: `SELECT o.paused, o.id AS offer_id FROM offers o WHERE o.company_id = {company_id} AND o.id = {offer_id}::bigint AND {schedule_id}::bigint IS NULL AND o.deleted_at IS NULL`,
    status: `CASE WHEN {callback_at}::timestamptz IS NOT NULL THEN 'waiting' ELSE 'queue' END`,
    due: `coalesce({callback_at}::timestamptz, {now}::timestamptz + q.expires_in * interval '1 minute')`,
    conflict: '(company_id, offer_id, caller_number) WHERE is_live AND schedule_id IS NULL',
    match: 'leads.offer_id = {offer_id}::bigint AND leads.schedule_id IS NULL',
  },
};

const LOGGED = `SELECT i.id, e.event, e.message FROM i, LATERAL (VALUES
    (1, CASE WHEN i.created THEN 'created' ELSE 'updated' END, NULL),
    (2, CASE WHEN {restart} AND NOT i.created THEN 'restarted' END, 'asked for by a submission'),
    (3, CASE WHEN {next_action_at}::timestamptz IS NOT NULL THEN 'next_action_changed' END, {next_action_at}::timestamptz::text),
    (4, CASE WHEN {callback_at}::timestamptz IS NOT NULL THEN 'callback_scheduled' END, {callback_at}::timestamptz::text),
    (5, CASE i.status WHEN 'disabled' THEN 'disabled' WHEN 'blocked' THEN 'blocked' WHEN 'opt_out' THEN 'opted_out' END,
      CASE i.status WHEN 'disabled' THEN 'its offer or schedule is paused' WHEN 'blocked' THEN 'its number is on the blacklist' ELSE 'its number has opted out' END)
  ) e(n, event, message) WHERE e.event IS NOT NULL ORDER BY e.n`;

/** The callback that is asked for takes the place of the one before. */
const CALLBACK = `x AS (UPDATE scheduled_callbacks y SET status = 'replaced' FROM i WHERE y.company_id = i.company_id AND y.lead_id = i.id AND y.status = 'pending'),
    c AS (INSERT INTO scheduled_callbacks (company_id, id, created_at, lead_id, callback_at)
      SELECT i.company_id, i.scheduled_callback_id, {now}::timestamptz, i.id, i.callback_at FROM i),`;

const kept = new Map<string, Template>();

interface Selected {
  grid: boolean;
  external: boolean;
}

function statementFor(
  projection: Projection,
  submission: Submission,
  selection: Selected,
): Template {
  const { owner, update_only, callback_at, next_action_at, restart } = submission;
  const key = [
    owner,
    update_only,
    callback_at !== null,
    next_action_at !== null,
    restart,
    selection.grid,
    selection.external,
  ].join('|');
  const found = kept.get(key);
  if (found) return found;
  // What is not asked for is planned away.
  let sql = statementSql(projection, submission, selection).replaceAll(
    '{restart}',
    String(restart),
  );
  for (const [name, value] of Object.entries({ callback_at, next_action_at }))
    if (value === null) sql = sql.replaceAll(`{${name}}::timestamptz`, 'NULL::timestamptz');
  const made = template(sql, { prepared: true });
  kept.set(key, made);
  return made;
}

/** What is sent together is written in the order of its numbers, so that two sets never wait for each other. */
function statementSql(
  projection: Projection,
  { owner, update_only, callback_at }: Submission,
  selection: Selected,
): string {
  const calls_back = callback_at !== null;
  const { owner: source, status, due, conflict, match } = START[owner];
  const names = Object.keys(COLUMNS).join(', ');
  const would_be = `SELECT ${Object.entries(COLUMNS)
    .map(([name, sql]) => `${sql} AS ${name}`)
    .join(', ')} FROM s`;
  const returning = (created: string) => `RETURNING leads.*, ${created} AS created`;
  const write = update_only
    ? `UPDATE leads SET ${SET} FROM (${would_be}) excluded
        WHERE leads.company_id = {company_id} AND ${match} AND leads.caller_number = excluded.caller_number AND leads.is_live ${returning('false')}`
    : `INSERT INTO leads (${names}) ${would_be} ORDER BY s.caller_number ON CONFLICT ${conflict} DO UPDATE SET ${SET} ${returning('(leads.xmax = 0)')}`;
  const own = Object.entries(OWN).map(([name, type]) => `${name} ${type}`);
  return `WITH o AS (${source}),
    w AS (SELECT q.*, CASE WHEN k.blocked THEN 'blocked' WHEN k.opt_out THEN 'opt_out' WHEN o.paused THEN 'disabled' ELSE ${status} END AS status, o.offer_id, ${due} AS would_be_due
      FROM o, json_to_recordset({rows}::json) AS q(${own.join(', ')}) LEFT JOIN contacts k ON k.company_id = {company_id} AND k.caller_number = q.caller_number),
    s AS (SELECT w.*, ${calls_back ? `nextval('scheduled_callbacks_id_seq')` : 'NULL::bigint'} AS callback_id,
      coalesce({next_action_at}::timestamptz, CASE WHEN {schedule_id}::bigint IS NOT NULL THEN {now}::timestamptz END) AS next_action_at,
      CASE WHEN w.status IN ('queue', 'scheduled', 'waiting') THEN w.would_be_due END AS due_at FROM w),
    i AS (${write}),
    ${calls_back ? CALLBACK : ''}
    l AS (INSERT INTO lead_logs (company_id, created_at, lead_id, event, message) SELECT {company_id}, {now}::timestamptz, g.id, g.event, g.message FROM (${LOGGED}) g),
    n AS (INSERT INTO record_counts (company_id, resource, slot, n) SELECT {company_id}, 'leads', {slot}::int, count(*) FROM i WHERE i.created HAVING count(*) > 0
      ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n)
    ${selectRecords(projection, 'i', { ...selection, more: 't.id::text, t.offer_id::text, t.caller_number, t.created, t.status, (SELECT paused FROM o) AS paused' })}`;
}

/** Rows of record_counts a submission may move; parallel ones choose different ones. */
const SLOTS = 64;

/** Writes submissions that differ in nothing but what is their own, of different numbers, in one statement. */
async function write(
  query: Db['query'],
  company_id: bigint,
  submissions: readonly Submission[],
  { projection, selection }: Written,
): Promise<(Submitted | undefined)[]> {
  const statement = statementFor(projection, submissions[0]!, selection);
  const values = {
    ...submissions[0],
    company_id,
    rows: `[${submissions.map(rowOf).join(',')}]`,
    slot: Math.floor(Math.random() * SLOTS),
  };
  const found = await query<Submitted & { caller_number: string }>(statement(values));
  const rows = new Map(found.map((row) => [Number(row.caller_number), row]));
  return submissions.map(({ caller_number }) => rows.get(caller_number));
}

function rowOf(submission: Submission): string {
  const own = Object.entries(submission).filter(
    ([name, value]) => name in OWN && name !== 'data' && value !== null,
  );
  const { traffic_source_id } = submission;
  return `${JSON.stringify({ ...Object.fromEntries(own), ...(traffic_source_id !== null && { traffic_source_id: String(traffic_source_id) }) }).slice(0, -1)},"data":${submission.data}}`;
}

interface Written {
  projection: Projection;
  selection: Selected;
}

/**
 * Makes the lead of a submission or updates the live one of its number: however many come at once, one lead lives. Undefined when the owner is
 * gone, or with `update_only` when there is no live lead. What many send to one owner at the same time is written together.
 */
export async function submit(
  db: Db,
  submission: Submission,
  how: Written,
): Promise<Submitted | undefined> {
  const alone = async (one: Submission) => (await write(db.query, db.company_id, [one], how))[0];
  const { joint } = db;
  if (!joint || !isJoinable(submission)) return alone(submission);
  const { owner, offer_id, schedule_id, restart } = submission;
  const way = [
    owner,
    offer_id,
    schedule_id,
    restart,
    how.projection.schema,
    how.selection.grid,
    how.selection.external,
  ].join('|');
  const run = (all: readonly Submission[]) => write(joint, db.company_id, all, how);
  return together(db, way, () => ({
    run,
    keyOf: ({ caller_number }) => caller_number,
    apart: { alone, isOfOne: isOfOneRow },
  }))(submission);
}

const together = batchers<Submission, Submitted | undefined>();

const isJoinable = ({ removed, next_action_at, callback_at, update_only }: Submission): boolean =>
  removed.length === 0 && next_action_at === null && callback_at === null && !update_only;

/** Whether the database refused because of one row, or of a row that somebody has locked; not because it cannot serve. */
const isOfOneRow = (error: unknown): boolean =>
  /^(2[123]|40|55P03)/.test((error as { code?: string }).code ?? '');

/** The record of a lead as JSON, as it now is. */
export async function recordOf(
  db: Db,
  projection: Projection,
  id: string,
  { now, ...selection }: { grid: boolean; external: boolean; now: string },
): Promise<string> {
  const [row] = await db.query<{ record: string }>(
    recordTemplate(projection, 'id', selection)({ company_id: db.company_id, now, id }),
  );
  return row!.record;
}

/** Whether an error of the database, in a transaction or outside one, says that the data of a lead is larger than it may be. */
export function isDataTooLarge(error: unknown): boolean {
  const { message, meta } = error as {
    message?: string;
    meta?: { driverAdapterError?: { cause?: { originalMessage?: string } } };
  };
  return [message, meta?.driverAdapterError?.cause?.originalMessage].some((text) =>
    text?.includes('"leads_data_check"'),
  );
}
