import { findHidden, findNotWhole, selectVisibleBuyers } from '../../data/access/scope';
import { listMakerPermissions, loadMakerViewer, type Maker } from '../../data/access/makers';
import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import type { Deps } from '../deps';
import type { RequestOutcome } from '../../platform/egress/guarded-request';
import { fillTemplate, maskHeaders } from '../../platform/egress/request-template';
import { toResponseFields, type ResponseFields } from '../../platform/egress/response-fields';
import { deriveKeys, buildSignatureHeaders } from '../../platform/egress/standard-webhooks';
import { cutText, parseForeignJson } from '../../platform/storable-text';
import { passesFilters } from '../../platform/tokens/filters';
import type { TokenSource } from '../../platform/tokens/substitute';
import type { Veto } from './engine/eligibility';
import type { Member } from './engine/order';
import { INSERT_PRE_DIAL_LOGS } from './queries/pre-dial-webhooks';
import type { PreDialWebhook } from './queries/pre-dial-webhooks';

export type Edges = Pick<Deps, 'request' | 'pepper' | 'clock'>;

/** The data of a call that receivers get before a buyer is dialed. */
export interface CallToDial {
  uuid: string;
  /** Numbers are E.164 without the plus. */
  caller_number: number | null;
  number_called: number | null;
  offer_id: number | null;
  lead_id: number | null;
  traffic_source_id: number | null;
  token_values: Record<string, unknown>;
}

interface Subject {
  call: CallToDial;
  tokens: TokenSource;
}

/** Buyers about to be dialed, each with the webhooks that must be asked about it. */
export interface Question extends Subject {
  pendingChecks: { member: Member; webhooks: PreDialWebhook[] }[];
}

interface Answers {
  /** By buyer; null for a buyer that may be dialed. */
  verdicts: Map<number, Veto | null>;
  log_uuids: string[];
}

/** Asks all webhooks at the same time, and logs the requests. */
export async function askWebhooks(
  db: Connection,
  { pendingChecks, ...call }: Question,
  edges: Edges,
): Promise<Answers> {
  const logs: PreDialLog[] = [];
  const verdicts: Answers['verdicts'] = new Map();
  const views = await loadMakerViews(db, pendingChecks, call);
  await Promise.all(
    pendingChecks.map(async ({ member, webhooks }) => {
      const answers = await Promise.all(
        webhooks.flatMap((webhook) => {
          const subject = views(webhook, member);
          return subject ? [askWebhook(webhook, member, { ...subject, edges })] : [];
        }),
      );
      logs.push(...answers.map(({ log }) => log));
      verdicts.set(member.buyer.id, answers.find(({ veto }) => veto !== null)?.veto ?? null);
    }),
  );
  await db.sql(INSERT_PRE_DIAL_LOGS, { rows: JSON.stringify(logs) });
  return { verdicts, log_uuids: logs.map(({ uuid }) => uuid) };
}

/**
 * The data of the call that the receiver of a webhook gets; undefined when it must not be asked.
 */
type View = (webhook: PreDialWebhook, member: Member) => Subject | undefined;

/**
 * A webhook of a user with limited access is asked only about buyers that the user sees, and gets
 * the data of the call only if the user sees all of its offer.
 */
async function loadMakerViews(
  db: Connection,
  pendingChecks: Question['pendingChecks'],
  whole: Subject,
): Promise<View> {
  const limited = new Map<string, { buyers: ReadonlySet<number>; subject: Subject }>();
  const ids = pendingChecks.map(({ member }) => member.buyer.id);
  const hidden = maskCall(whole.call);
  for (const webhook of pendingChecks.flatMap(({ webhooks }) => webhooks)) {
    const id = String(webhook.id);
    if (webhook.maker_user_id === null || limited.has(id)) continue;
    const viewer = await loadMakerViewer(db, webhook, listMakerPermissions('outgoing_webhooks'));
    const isActing = (await findHidden(viewer, 'outgoing_webhooks', [id])).length === 0;
    limited.set(id, {
      buyers: isActing ? await selectVisibleBuyers(viewer, ids) : new Set(),
      subject: (await seesWholeOffer(db, webhook, whole.call)) ? whole : hidden,
    });
  }
  return (webhook, { buyer }) => {
    const view = limited.get(String(webhook.id));
    if (!view) return whole;
    const passes = passesFilters(webhook.token_filters, view.subject.tokens);
    return view.buyers.has(buyer.id) && passes ? view.subject : undefined;
  };
}

type Connection = Pick<Db, 'company_id' | 'query' | 'sql'>;

/** True when the maker of a webhook may read all calls and leads of the offer. */
async function seesWholeOffer(
  db: Connection,
  maker: Maker,
  { offer_id }: CallToDial,
): Promise<boolean> {
  if (offer_id === null) return false;
  for (const permission of ['calls:read', 'leads:read']) {
    const viewer = await loadMakerViewer(db, maker, [permission]);
    if ((await findNotWhole(viewer, 'offers', [offer_id])).length > 0) return false;
  }
  return true;
}

const maskCall = ({ uuid }: CallToDial): Subject => ({
  call: {
    uuid,
    caller_number: null,
    number_called: null,
    offer_id: null,
    lead_id: null,
    traffic_source_id: null,
    token_values: {},
  },
  tokens: () => undefined,
});

interface PreDialLog extends ResponseFields {
  uuid: string;
  outgoing_webhook_id: string;
  started_at: string;
  success: boolean;
  notes: string | null;
  request_headers: Record<string, string>;
  event_id: string;
  buyer_id: number;
  lead_id: number | null;
  offer_id: number | null;
  request_method: string;
  request_url: string;
  request_body: string | null;
}

interface WebhookQuestion {
  call: CallToDial;
  tokens: TokenSource;
  edges: Edges;
}

async function askWebhook(
  webhook: PreDialWebhook,
  { buyer }: Member,
  { call, tokens, edges: { request, pepper, clock } }: WebhookQuestion,
): Promise<{ veto: Veto | null; log: PreDialLog }> {
  const at = clock();
  const id = uuidv7(at.getTime());
  const filledRequest = fillTemplate(webhook, tokens, buildBody(call, buyer, at));
  const headers = {
    'User-Agent': 'Trunkline',
    ...filledRequest.headers,
    ...buildSignatureHeaders(toSigningKeys(webhook, pepper, at), {
      id,
      at,
      body: filledRequest.body ?? '',
    }),
  };
  const answered = await request({
    ...filledRequest,
    headers,
    timeout_ms: webhook.timeout_seconds * 1000,
  });
  const { vetoed, notes } = toVerdict(answered);
  const log = {
    ...toResponseFields(answered),
    request_method: filledRequest.method,
    request_url: filledRequest.url,
    request_headers: maskHeaders(headers),
    request_body: filledRequest.body ?? null,
    uuid: id,
    event_id: id,
    outgoing_webhook_id: String(webhook.id),
    buyer_id: buyer.id,
    lead_id: call.lead_id,
    offer_id: call.offer_id,
    started_at: at.toISOString(),
    success: answered.ok && (isSuccess(answered.code) || isClientError(answered.code)),
    notes,
  };
  const veto = vetoed === undefined ? null : { outgoing_webhook_id: webhook.id, reason: vetoed };
  return { veto, log };
}

function toSigningKeys(webhook: PreDialWebhook, pepper: Edges['pepper'], at: Date) {
  const rotatedAt = webhook.secret_rotated_at;
  const secretRotatedAt = rotatedAt === null ? null : new Date(rotatedAt);
  return deriveKeys(pepper, { ...webhook, secret_rotated_at: secretRotatedAt }, at);
}

const e164 = (number: number | null) => (number === null ? null : `+${number}`);

function buildBody(
  { uuid, caller_number, number_called, ...call }: CallToDial,
  { id, name, user_buyer_id, number }: Member['buyer'],
  at: Date,
): string {
  const { offer_id, lead_id, traffic_source_id, token_values } = call;
  return JSON.stringify({
    type: 'before_buyer_dialled',
    timestamp: at.toISOString(),
    data: {
      call: {
        uuid,
        caller_number: e164(caller_number),
        number_called: e164(number_called),
        offer_id,
        lead_id,
        traffic_source_id,
        token_values,
      },
      buyer: { id, name, user_buyer_id, number, routes_show_path: `/api/v1/buyers/${id}` },
    },
  });
}

const isSuccess = (code: number) => code >= 200 && code < 300;
const isClientError = (code: number) => code >= 400 && code < 500;
const MAX_REASON_CHARS = 200;

/** Only an explicit refusal excludes a buyer: callers must not suffer from an outage. */
function toVerdict(answered: RequestOutcome): { vetoed?: string; notes: string } {
  if (!answered.ok) return { notes: `${answered.reason}: the buyer may be dialed all the same` };
  const { code, body } = answered;
  const { accept, reason = `answered ${code}` } = parseAnswer(body);
  if (isClientError(code) || (isSuccess(code) && accept === false))
    return { vetoed: reason, notes: `vetoed: ${reason}` };
  if (isSuccess(code)) return { notes: 'the buyer may be dialed' };
  return { notes: `answered ${code}: the buyer may be dialed all the same` };
}

function parseAnswer(body: string): { accept?: unknown; reason?: string } {
  const answer = (parseForeignJson(body) ?? {}) as { accept?: unknown; reason?: unknown };
  const { accept, reason } = answer;
  if (typeof reason !== 'string' || !reason.trim()) return { accept };
  return { accept, reason: cutText(reason.replace(/\s+/g, ' '), MAX_REASON_CHARS) };
}
