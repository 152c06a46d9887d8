import { findHidden } from '../../data/access/scope';
import { listMakerPermissions, loadMakerViewer, type Maker } from '../../data/access/makers';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { RequestOutcome, OutgoingRequest } from '../../platform/egress/guarded-request';
import { fillTemplate } from '../../platform/egress/request-template';
import type { JobContext } from '../../data/jobs/queue';
import type { Tasks } from '../../data/jobs/tasks';
import { writeLogs } from '../leads/write-logs';
import type { ActionRow } from '../schedules/engine/plan';
import { CALL_TOKENS } from '../../platform/tokens/system';
import type { TokenSource } from '../../platform/tokens/substitute';
import { cutText } from '../../platform/storable-text';
import { loadOutreachContext } from './context';
import { readLead } from './load-leads';
import { type DueLead } from './due-lead';
import {
  READ_QUEUED_WEBHOOK,
  READ_WEBHOOK_ACTION,
  UPDATE_QUEUED_WEBHOOK,
} from './queries/lead-logs';

type Context = Pick<Deps, 'tenants' | 'clock' | 'request'>;

const TIMEOUT_MS = 15_000;
const MAX_TRIES = 5;
const MAX_RESPONSE_CHARS = 1_000;
const NO_ACTION: RequestOutcome = {
  ok: false,
  reason: 'the action is gone, or no longer sends a webhook',
  duration_ms: 0,
};

const NOT_VISIBLE: RequestOutcome = {
  ok: false,
  reason: 'refused_scope: the user who made the action or last changed it does not see the lead',
  duration_ms: 0,
};

interface QueuedWebhook {
  lead_log_id: string;
  lead_id: string;
  schedule_action_id: string;
  details: { tries?: number; over?: boolean } | null;
}

/**
 * Sends the webhook of a schedule's action with the lead's current tokens. A failed webhook is
 * tried five times in all, each time with the same `Webhook-Id`. Throws so that the job is retried.
 */
export async function sendActionWebhook(
  { company_id, lead_log_id }: Tasks['send_action_webhook'],
  { signal }: JobContext,
  { tenants, clock, request }: Context,
): Promise<void> {
  const db = tenants.of(BigInt(company_id));
  const queued = await loadQueuedWebhook(db, lead_log_id);
  const lead = queued && (await readLead(db.sql, company_id, queued.lead_id));
  if (!lead || queued.details?.over) return;
  const records = await loadOutreachContext(db.sql, [lead], clock());
  const [action] = await db.sql(READ_WEBHOOK_ACTION, { id: queued.schedule_action_id });
  signal.throwIfAborted();
  const webhookId = `lead_log_${lead_log_id}`;
  const tokens =
    action && (await selectTokens(db, action, { lead, tokens: records.buildTokens(lead) }));
  const answer = tokens
    ? await request(buildWebhook(lead, action!, { tokens, webhook_id: webhookId }))
    : toRefusal(action);
  const tries = (queued.details?.tries ?? 0) + (tokens ? 1 : 0);
  const delivered = answer.ok && answer.code >= 200 && answer.code < 300;
  const wasRefused = !answer.ok && answer.reason.startsWith('refused_');
  const over = delivered || tries >= MAX_TRIES || !action || wasRefused;
  const outcome = { answer, tries, delivered, over, now: clock() };
  await db.transaction((tx) => recordTry(tx, queued, outcome));
  if (!over) throw new Error(`the webhook was not delivered: ${formatResult(answer)}`);
}

const toRefusal = (action: WebhookAction | undefined): RequestOutcome =>
  action ? NOT_VISIBLE : NO_ACTION;

/**
 * The tokens of a lead that an action may send; undefined when it may not send the lead. The action
 * of a limited user sends leads that the user sees, without data about the number's calls and about
 * buyers that the user does not see.
 */
async function selectTokens(
  db: Db,
  action: WebhookAction,
  { lead, tokens }: { lead: DueLead; tokens: TokenSource },
): Promise<TokenSource | undefined> {
  if (action.maker_user_id === null) return tokens;
  const maker = await loadMakerViewer(db, action, listMakerPermissions('schedule_actions'));
  if ((await findHidden(maker, 'schedule_actions', [action.id])).length > 0) return undefined;
  const reader = await loadMakerViewer(db, action, ['leads:read']);
  if ((await findHidden(reader, 'leads', [lead.id])).length > 0) return undefined;
  const buyers = lead.buyer_id === null ? [] : [lead.buyer_id];
  const hidesBuyer = (await findHidden(maker, 'buyers', buyers)).length > 0;
  const isHidden = (name: string) =>
    CALL_TOKEN_NAMES.has(name) || (hidesBuyer && BUYER_TOKENS.has(name));
  return Object.assign((name: string) => (isHidden(name) ? undefined : tokens(name)), {
    exists: tokens.exists,
  });
}

const CALL_TOKEN_NAMES: ReadonlySet<string> = new Set(CALL_TOKENS);
const BUYER_TOKENS: ReadonlySet<string> = new Set(['buyer_name', 'previous_buyer_fleet_ids']);

async function loadQueuedWebhook(db: Db, leadLogId: string): Promise<QueuedWebhook | undefined> {
  const [log] = await db.sql(READ_QUEUED_WEBHOOK, { id: leadLogId });
  return log && { ...log, lead_log_id: leadLogId };
}

type WebhookAction = Pick<ActionRow, 'id' | 'url' | 'method' | 'headers' | 'body'> & Maker;

function buildWebhook(
  lead: DueLead,
  { url, method, headers, body }: WebhookAction,
  { tokens, webhook_id }: { tokens: TokenSource; webhook_id: string },
): OutgoingRequest {
  const template = { url: url!, method: method ?? 'post', headers: headers ?? {}, body };
  const request = fillTemplate(template, tokens, JSON.stringify(toSummary(lead)));
  return {
    ...request,
    headers: { ...request.headers, 'Webhook-Id': webhook_id },
    timeout_ms: TIMEOUT_MS,
  };
}

const toSummary = (lead: DueLead) => ({
  lead_id: Number(lead.id),
  uuid: lead.uuid,
  caller_id: `+${lead.caller_number}`,
  email: lead.email,
  offer_id: lead.offer_id && Number(lead.offer_id),
  schedule_id: lead.schedule_id && Number(lead.schedule_id),
  status: lead.status,
  data: lead.data,
});

const formatResult = (answer: RequestOutcome): string =>
  answer.ok ? `answered ${answer.code}` : answer.reason;

interface Outcome {
  answer: RequestOutcome;
  tries: number;
  delivered: boolean;
  over: boolean;
  now: Date;
}

/** Records a try once, even when two runs of the job end at the same time. */
async function recordTry(
  db: Db,
  { lead_log_id, lead_id, schedule_action_id }: QueuedWebhook,
  { answer, tries, delivered, over, now }: Outcome,
): Promise<void> {
  const result = formatResult(answer);
  const changed = await db.sql(UPDATE_QUEUED_WEBHOOK, {
    id: lead_log_id,
    details: JSON.stringify({ tries, over, last: result }),
  });
  if (!over || changed.length === 0) return;
  const response = answer.ok
    ? { code: answer.code, response_body: cutText(answer.body, MAX_RESPONSE_CHARS) }
    : { reason: answer.reason };
  const entry = {
    company_id: db.company_id,
    lead_id,
    event: delivered ? 'webhook_delivered' : 'webhook_failed',
    message: result,
    schedule_action_id,
    details: { tries, duration_ms: answer.duration_ms, ...response },
  };
  await writeLogs(db.sql, [entry], now);
}
