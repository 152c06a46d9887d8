import {
  nameCallOfAsked,
  writeAsked,
  type AskedLog,
  type VetoWebhook,
} from './queries/pre-dial-webhooks';
import type { Db, Statements } from '../db/tenant';
import type { Deps } from '../deps';
import { uuidv7 } from '../db/uuid';
import type { Veto } from './engine/eligibility';
import type { Member } from './engine/route';
import { compileFilter } from '../tokens/filters';
import type { TokenSource } from '../tokens/substitute';
import type { Answered } from '../egress/guarded-request';
import { filled, shownHeaders } from '../egress/request-template';
import { keysAt, signed } from '../egress/standard-webhooks';
import { newSeed } from './seed';
import { responseFields } from '../egress/response-fields';

type Edges = Pick<Deps, 'request' | 'pepper' | 'clock'>;

/** A call as far as receivers are told of it before a buyer is dialed. */
export interface DialledCall {
  uuid: string;
  caller_number: number | null;
  number_called: number | null;
  offer_id: number | null;
  lead_id: number | null;
  traffic_source_id: number | null;
  token_values: Record<string, unknown>;
}

/** What has been asked so far, by buyer: null for those that may be dialed. */
export interface PreDialVetoes {
  verdicts: Map<number, Veto | null>;
  /** Of the call, if it is a new one, and what is drawn with: the same each time it is done anew. */
  uuid: string;
  seed: string;
}

/** Whom somebody wants to be asked about, of those about to be dialed. */
interface Question {
  call: DialledCall;
  tokens: TokenSource;
  asked: { member: Member; webhooks: VetoWebhook[] }[];
}

/** Undoes the transaction in which somebody was about to be dialed who must be asked about first: no lock is held while that is done. */
class PreDialCheckRequired extends Error {
  constructor(readonly question: Question) {
    super('webhooks must be asked before this buyer is dialed');
  }
}

/** Throws when some of those about to be dialed must be asked about first. */
export function requirePreDialChecks(
  members: readonly Member[],
  webhooks: readonly VetoWebhook[],
  { vetoes, ...about }: Omit<Question, 'asked'> & { vetoes: PreDialVetoes },
): void {
  const asked = members.flatMap((member) => {
    const wanted = vetoes.verdicts.has(member.buyer.id)
      ? []
      : webhooks.filter((webhook) => isAsked(webhook, member, about));
    return wanted.length > 0 ? [{ member, webhooks: wanted }] : [];
  });
  if (asked.length > 0) throw new PreDialCheckRequired({ ...about, asked });
}

function isAsked(
  { owner_type, owner_id, token_filters }: VetoWebhook,
  { buyer }: Member,
  { call, tokens }: Pick<Question, 'call' | 'tokens'>,
): boolean {
  const owners: Record<string, boolean> = {
    Company: true,
    Offer: call.offer_id === owner_id,
    Buyer: buyer.id === owner_id,
    BuyerGroup: buyer.groups.some(({ id }) => id === owner_id),
    TrafficSource: call.traffic_source_id === owner_id,
  };
  return (
    (owners[owner_type] ?? false) &&
    token_filters.every((filter) => compileFilter(filter)?.(tokens) ?? false)
  );
}

/**
 * Does what may dial buyers, and asks first about those of whom somebody wants to be asked: what was begun is undone, they are asked, and it is done anew
 * with what they said, as things then stand.
 */
export async function withPreDialChecks<T>(
  db: Db,
  edges: Edges,
  work: (vetoes: PreDialVetoes) => Promise<T>,
): Promise<T> {
  const vetoes: PreDialVetoes = {
    verdicts: new Map(),
    uuid: uuidv7(edges.clock().getTime()),
    seed: newSeed(),
  };
  const logs = new Map<string, string[]>();
  for (;;) {
    const done = await atSavepoint(db, () => work(vetoes)).then(
      (value) => ({ value }),
      (error: unknown) => {
        if (error instanceof PreDialCheckRequired) return error.question;
        throw error;
      },
    );
    if ('value' in done) {
      for (const [call_uuid, uuids] of logs) await nameCallOfAsked(db, uuids, call_uuid);
      return done.value;
    }
    const { uuid } = done.call;
    logs.set(uuid, [...(logs.get(uuid) ?? []), ...(await ask(db, done, { edges, vetoes }))]);
  }
}

/** A transaction that is open already (a request with an Idempotency-Key has one) goes back to where it was. */
async function atSavepoint<T>(db: Db, work: () => Promise<T>): Promise<T> {
  if (db.joint) return work();
  await db.query({ text: 'SAVEPOINT asking', values: [] });
  try {
    return await work();
  } catch (error) {
    if (error instanceof PreDialCheckRequired)
      await db.query({ text: 'ROLLBACK TO SAVEPOINT asking', values: [] });
    throw error;
  }
}

/** Asks all at the same time, and answers the uuids of the logs. */
async function ask(
  db: Statements,
  { call, tokens, asked }: Question,
  { edges, vetoes }: { edges: Edges; vetoes: PreDialVetoes },
): Promise<string[]> {
  const logs: AskedLog[] = [];
  await Promise.all(
    asked.map(async ({ member, webhooks }) => {
      const answers = await Promise.all(
        webhooks.map((webhook) => askOne(webhook, member, { call, tokens, edges })),
      );
      logs.push(...answers.map(({ log }) => log));
      vetoes.verdicts.set(member.buyer.id, answers.find(({ veto }) => veto !== null)?.veto ?? null);
    }),
  );
  await writeAsked(db, logs);
  return logs.map(({ uuid }) => uuid);
}

interface Asking {
  call: DialledCall;
  tokens: TokenSource;
  edges: Edges;
}

async function askOne(
  webhook: VetoWebhook,
  { buyer }: Member,
  { call, tokens, edges: { request, pepper, clock } }: Asking,
): Promise<{ veto: Veto | null; log: AskedLog }> {
  const at = clock();
  const id = uuidv7(at.getTime());
  const sent = filled(webhook, tokens, questionOf(call, buyer, at));
  const secret_rotated_at =
    webhook.secret_rotated_at === null ? null : new Date(webhook.secret_rotated_at);
  const keys = keysAt(pepper, { ...webhook, secret_rotated_at }, at);
  const headers = {
    'User-Agent': 'Trunkline',
    ...sent.headers,
    ...signed(keys, { id, at, body: sent.body ?? '' }),
  };
  const answered = await request({ ...sent, headers, timeout_ms: webhook.timeout_seconds * 1000 });
  const { vetoed, notes } = verdictOf(answered);
  const veto = vetoed === undefined ? null : { outgoing_webhook_id: webhook.id, reason: vetoed };
  const { lead_id, offer_id } = call;
  const of_request = {
    request_method: sent.method,
    request_url: sent.url,
    request_headers: shownHeaders(headers),
    request_body: sent.body ?? null,
  };
  const success = answered.ok && (isAnswer(answered.code) || isRefusal(answered.code));
  const log = {
    ...responseFields(answered),
    ...of_request,
    uuid: id,
    event_id: id,
    outgoing_webhook_id: String(webhook.id),
    buyer_id: buyer.id,
    lead_id,
    offer_id,
    started_at: at.toISOString(),
    success,
    notes,
  };
  return { veto, log };
}

const e164 = (number: number | null) => (number === null ? null : `+${number}`);

function questionOf(
  call: DialledCall,
  { id, name, user_buyer_id, number }: Member['buyer'],
  at: Date,
): string {
  const { offer_id, lead_id, traffic_source_id, token_values } = call;
  const told = {
    uuid: call.uuid,
    caller_number: e164(call.caller_number),
    number_called: e164(call.number_called),
    offer_id,
    lead_id,
    traffic_source_id,
    token_values,
  };
  const buyer = { id, name, user_buyer_id, number, routes_show_path: `/api/v1/buyers/${id}` };
  return JSON.stringify({
    type: 'before_buyer_dialled',
    timestamp: at.toISOString(),
    data: { call: told, buyer },
  });
}

const isAnswer = (code: number) => code >= 200 && code < 300;
const isRefusal = (code: number) => code >= 400 && code < 500;
const REASON_CHARS = 200;

/** Only who says no keeps a buyer from being dialed: callers do not suffer for a receiver that is down. */
function verdictOf(answered: Answered): { vetoed?: string; notes: string } {
  if (!answered.ok) return { notes: `${answered.reason}: the buyer may be dialed all the same` };
  const { code, body } = answered;
  const { accept, reason } = readAnswer(body);
  const said = reason === undefined ? `answered ${code}` : reason;
  if (isRefusal(code) || (isAnswer(code) && accept === false))
    return { vetoed: said, notes: `vetoed: ${said}` };
  return {
    notes: isAnswer(code)
      ? 'the buyer may be dialed'
      : `answered ${code}: the buyer may be dialed all the same`,
  };
}

function readAnswer(body: string): { accept?: unknown; reason?: string } {
  try {
    const { accept, reason } = (JSON.parse(body) ?? {}) as { accept?: unknown; reason?: unknown };
    return {
      accept,
      ...(typeof reason === 'string' &&
        reason.trim() && { reason: reason.replace(/[\0\s]+/g, ' ').slice(0, REASON_CHARS) }),
    };
  } catch {
    return {};
  }
}
