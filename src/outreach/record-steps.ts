import { callRank, messageRank } from './status-rank';
import { writeLogs, type LogEntry } from '../leads/queries/logs';
import { type Executor } from '../db/executor';
import { SLOT } from '../db/counters';

/** What of a message, an e-mail or a call every kind has. */
interface Contacted {
  company_id: string;
  /** The step's key: however often it is recorded, it is one row. */
  uuid: string;
  status: string;
  error_code: string | null;
  error_message: string | null;
  lead_id: string | null;
  offer_id: string | null;
  schedule_id: string | null;
  schedule_action_id: string | null;
  token_values: Record<string, unknown>;
}

export interface TextMessageRow extends Contacted {
  from_number: string;
  to_number: string;
  body: string;
  carrier: string;
  carrier_message_id: string | null;
}

export interface CallRow extends Contacted {
  from_number: string;
  to_number: string;
  connect_to: string;
  carrier: string;
  carrier_call_id: string | null;
}

export interface EmailRow extends Contacted {
  from_email: string;
  to_email: string;
  subject: string;
  body: string;
  html: boolean;
  mailer: string;
  message_id: string | null;
}

/** Columns of a lead that its turn may change. */
export interface LeadState {
  company_id: string;
  id: string;
  status: string;
  is_live: boolean;
  /** ISO times. */
  due_at: string | null;
  next_action_at: string | null;
  callback_at: string | null;
  entered_at: string;
  first_action_at: string | null;
  last_action_at: string | null;
  last_call_at: string | null;
  schedule_ended_at: string | null;
  phase: string;
  position: number | null;
  exit_reason: string | null;
  contact_attempts: number;
  delay_reason: string | null;
  suppressed: boolean;
  unreachable: boolean;
  step: number;
  tries: number;
  sms_number_id: string | null;
  dial_number_id: string | null;
  /** uuids of calls that were recorded with it, or before. */
  attempted_call: string | null;
  connected_call: string | null;
  /** Whether the callback it asked for has been dealt with. */
  called_back: boolean;
  /** Whether it stays claimed: something of it is on its way. */
  keeps_claim: boolean;
}

const COMMON =
  'company_id bigint, uuid uuid, status text, error_code text, error_message text, lead_id bigint, offer_id bigint, schedule_id bigint, schedule_action_id bigint, token_values jsonb';

interface Kind {
  table: string;
  /** Column definitions beyond the common ones. */
  own: string;
  /** Constants of new rows. */
  fixed?: Record<string, string>;
  /** SQL of when it was sent, answered or ended, from the row x. */
  times: Record<string, string>;
  rank: (status: string) => string;
  carrier_id: string;
}

const OUT = `x.status NOT IN ('sending', 'failed', 'unknown')`;
const emailRank = (status: string) => `CASE ${status} WHEN 'sending' THEN 0 ELSE 1 END`;

const KINDS: Record<'text_messages' | 'emails' | 'calls', Kind> = {
  text_messages: {
    table: 'text_messages',
    own: 'from_number bigint, to_number bigint, body text, carrier text, carrier_message_id text',
    fixed: { direction: `'outbound'` },
    times: {
      sent_at: `CASE WHEN ${OUT} THEN $1::timestamptz END`,
      delivered_at: `CASE WHEN x.status = 'delivered' THEN $1::timestamptz END`,
    },
    rank: messageRank,
    carrier_id: 'carrier_message_id',
  },
  emails: {
    table: 'emails',
    own: 'from_email text, to_email text, subject text, body text, html boolean, mailer text, message_id text',
    times: { sent_at: `CASE WHEN ${OUT} THEN $1::timestamptz END` },
    rank: emailRank,
    carrier_id: 'message_id',
  },
  calls: {
    table: 'calls',
    own: 'from_number bigint, to_number bigint, connect_to text, carrier text, carrier_call_id text',
    fixed: { direction: `'outbound'`, caller_number: 'x.to_number' },
    times: {
      answered_at: `CASE WHEN x.status IN ('in_progress', 'completed') THEN $1::timestamptz END`,
      ended_at: `CASE WHEN x.status NOT IN ('sending', 'queued', 'ringing', 'in_progress') THEN $1::timestamptz END`,
    },
    rank: callRank,
    carrier_id: 'carrier_call_id',
  },
};

/** What is known of a row only grows: a carrier may have told more than the one who sent has recorded. Until it is sent it may be written anew. */
function upsert({ table, own, fixed = {}, times, rank, carrier_id }: Kind): string {
  const columns = `${COMMON}, ${own}`.split(', ').map((column) => column.split(' ')[0]!);
  const names = [
    'created_at',
    'updated_at',
    ...columns,
    ...Object.keys(fixed),
    ...Object.keys(times),
  ];
  const values = [
    '$1::timestamptz',
    '$1::timestamptz',
    ...columns.map((name) => `x.${name}`),
    ...Object.values(fixed),
    ...Object.values(times),
  ];
  const newer = `${rank('excluded.status')} >= ${rank(`${table}.status`)}`;
  const set = ['status', 'error_code', 'error_message'].map(
    (name) => `${name} = CASE WHEN ${newer} THEN excluded.${name} ELSE ${table}.${name} END`,
  );
  const content = columns.filter(
    (name) =>
      ![
        'company_id',
        'uuid',
        'lead_id',
        'status',
        'error_code',
        'error_message',
        carrier_id,
      ].includes(name),
  );
  const anew = content.map(
    (name) =>
      `${name} = CASE WHEN ${table}.status = 'sending' THEN excluded.${name} ELSE ${table}.${name} END`,
  );
  const kept = [carrier_id, ...Object.keys(times)].map(
    (name) => `${name} = coalesce(${table}.${name}, excluded.${name})`,
  );
  return `WITH made AS (INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM jsonb_to_recordset($2::jsonb) AS x(${COMMON}, ${own})
      ON CONFLICT (company_id, uuid) DO UPDATE SET ${[...set, ...anew, ...kept].join(', ')}, updated_at = excluded.updated_at RETURNING company_id, id, uuid, xmax = 0 AS is_new),
    counted AS (INSERT INTO record_counts (company_id, resource, slot, n) SELECT company_id, '${table}', ${SLOT}, count(*) FROM made WHERE is_new GROUP BY company_id ORDER BY company_id
      ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n)
    SELECT id::text, uuid::text FROM made`;
}

const TABLES = ['text_messages', 'emails', 'calls'] as const;
type Table = (typeof TABLES)[number];
const UPSERTS = {
  text_messages: upsert(KINDS.text_messages),
  emails: upsert(KINDS.emails),
  calls: upsert(KINDS.calls),
};

/** Writes texts, e-mails or calls, and answers their ids by uuid. */
async function record(
  client: Executor,
  table: Table,
  rows: readonly Contacted[],
  now: Date,
): Promise<[uuid: string, id: string][]> {
  const written = await client.query({
    name: `record_${table}`,
    text: UPSERTS[table],
    values: [now.toISOString(), JSON.stringify(rows)],
  });
  return (written.rows as { id: string; uuid: string }[]).map(({ uuid, id }) => [uuid, id]);
}

/** Writes down what is about to be sent: from then on it may have been, until it is recorded what became of it. */
export async function recordIntent(
  client: Executor,
  table: Table,
  row: Contacted,
  now: Date,
): Promise<void> {
  await record(client, table, [row], now);
}

/** Of a step that is given up. Texts and calls that may have got through are left as they are: the carrier will tell. */
const GIVE_UP = TABLES.map(
  (
    table,
  ) => `UPDATE ${table} t SET status = CASE WHEN t.error_code IS NULL THEN 'unknown' ELSE 'failed' END, error_code = coalesce(t.error_code, 'unknown'), updated_at = $1::timestamptz
    FROM jsonb_to_recordset($2::jsonb) AS x(company_id bigint, lead_id bigint)
    WHERE t.company_id = x.company_id AND t.lead_id = x.lead_id AND t.status = 'sending' ${table === 'emails' ? '' : 'AND t.error_code IS NOT NULL'}`,
);

const STATE: Record<
  Exclude<
    keyof LeadState,
    'company_id' | 'id' | 'attempted_call' | 'connected_call' | 'called_back' | 'keeps_claim'
  >,
  string
> = {
  status: 'text',
  is_live: 'boolean',
  due_at: 'timestamptz',
  next_action_at: 'timestamptz',
  callback_at: 'timestamptz',
  entered_at: 'timestamptz',
  first_action_at: 'timestamptz',
  last_action_at: 'timestamptz',
  last_call_at: 'timestamptz',
  schedule_ended_at: 'timestamptz',
  phase: 'text',
  position: 'double precision',
  exit_reason: 'text',
  contact_attempts: 'int',
  delay_reason: 'text',
  suppressed: 'boolean',
  unreachable: 'boolean',
  step: 'int',
  tries: 'int',
  sms_number_id: 'bigint',
  dial_number_id: 'bigint',
};

const UPDATE_LEADS = `UPDATE leads l SET ${Object.keys(STATE)
  .map((name) => `${name} = x.${name}`)
  .join(', ')},
    attempted_call_id = coalesce(x.attempted_call_id, l.attempted_call_id), connected_call_id = coalesce(x.connected_call_id, l.connected_call_id),
    scheduled_callback_id = CASE WHEN x.called_back THEN NULL ELSE l.scheduled_callback_id END, claim_id = CASE WHEN x.keeps_claim THEN l.claim_id END, updated_at = $1::timestamptz
  FROM jsonb_to_recordset($2::jsonb) AS x(company_id bigint, id bigint, ${Object.entries(STATE)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')}, attempted_call_id bigint, connected_call_id bigint,
    called_back boolean, keeps_claim boolean)
  WHERE l.company_id = x.company_id AND l.id = x.id`;

const END_CALLBACKS = `UPDATE scheduled_callbacks c SET status = x.status, call_id = x.call_id FROM jsonb_to_recordset($1::jsonb) AS x(company_id bigint, id bigint, status text, call_id bigint)
  WHERE c.company_id = x.company_id AND c.id = x.id`;

const COUNT_CONTACTS = `UPDATE contacts k SET calls_count = k.calls_count + x.calls, sms_count = k.sms_count + x.sms, emails_count = k.emails_count + x.emails, last_contacted_at = $1::timestamptz, updated_at = $1::timestamptz
  FROM jsonb_to_recordset($2::jsonb) AS x(company_id bigint, caller_number bigint, calls int, sms int, emails int) WHERE k.company_id = x.company_id AND k.caller_number = x.caller_number`;

/** Locked one by one in the order of ids, and no further than others need who have just named them in a lead, so that two workers never wait for each other. */
const GIVE_NUMBERS = `UPDATE numbers n SET last_assigned_at = $1::timestamptz FROM (SELECT t.company_id, t.id FROM jsonb_to_recordset($2::jsonb) AS x(company_id bigint, id bigint)
  JOIN numbers t ON t.company_id = x.company_id AND t.id = x.id ORDER BY t.company_id, t.id FOR NO KEY UPDATE OF t) g WHERE n.company_id = g.company_id AND n.id = g.id`;

type Linked = LogEntry & {
  company_id: string;
  call?: string;
  text_message?: string;
  email?: string;
};

/** What the turns of some leads came to. */
export interface Recording {
  text_messages: TextMessageRow[];
  emails: EmailRow[];
  calls: CallRow[];
  /** In order; `call`, `text_message` and `email` are uuids of rows above. */
  logs: Linked[];
  leads: LeadState[];
  contacts: {
    company_id: string;
    caller_number: string;
    calls: number;
    sms: number;
    emails: number;
  }[];
  callbacks: { company_id: string; id: string; status: string; call?: string }[];
  numbers: { company_id: string; id: string }[];
  /** Leads that have left a step behind whose sending had been begun. */
  given_up: { company_id: string; lead_id: string }[];
}

/** Writes what the turns of locked leads came to, in a fixed number of statements, and answers the ids of the logs in their order. */
export async function recordSteps(
  client: Executor,
  recording: Recording,
  now: Date,
): Promise<string[]> {
  const at = now.toISOString();
  if (recording.given_up.length > 0)
    for (const text of GIVE_UP)
      await client.query({ text, values: [at, JSON.stringify(recording.given_up)] });
  const ids = new Map<string, string>();
  for (const table of TABLES) {
    if (recording[table].length === 0) continue;
    for (const [uuid, id] of await record(client, table, recording[table], now)) ids.set(uuid, id);
  }
  const idOf = (uuid: string | null | undefined) => (uuid ? (ids.get(uuid) ?? null) : null);
  const logs = recording.logs.map(({ call, text_message, email, ...log }) => ({
    ...log,
    call_id: idOf(call),
    text_message_id: idOf(text_message),
    email_id: idOf(email),
  }));
  const log_ids = await writeLogs(
    { query: async (statement) => (await client.query(statement)).rows as never },
    logs,
    now,
  );
  const leads = recording.leads.map(({ attempted_call, connected_call, ...state }) => ({
    ...state,
    attempted_call_id: idOf(attempted_call),
    connected_call_id: idOf(connected_call),
  }));
  await client.query({
    name: 'record_leads',
    text: UPDATE_LEADS,
    values: [at, JSON.stringify(leads)],
  });
  if (recording.contacts.length > 0)
    await client.query({
      name: 'count_contacts',
      text: COUNT_CONTACTS,
      values: [at, JSON.stringify(recording.contacts)],
    });
  const callbacks = recording.callbacks.map(({ call, ...callback }) => ({
    ...callback,
    call_id: idOf(call),
  }));
  if (callbacks.length > 0)
    await client.query({ text: END_CALLBACKS, values: [JSON.stringify(callbacks)] });
  return log_ids;
}

/** Records that numbers were given to leads. Numbers are locked after leads and whatever is counted: this comes last. */
export async function giveNumbers(
  client: Executor,
  numbers: Recording['numbers'],
  now: Date,
): Promise<void> {
  if (numbers.length > 0)
    await client.query({
      name: 'give_numbers',
      text: GIVE_NUMBERS,
      values: [now.toISOString(), JSON.stringify(numbers)],
    });
}
