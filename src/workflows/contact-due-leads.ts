import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { changeContacts } from '../db/contacts';
import { claimDue, contactKey, lockContacts, lockLeads, type DueKey } from '../db/due-leads';
import { recordTurns, type Recorded, type Recording } from '../db/lead-turns';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import { uuidv7 } from '../ids';
import { advanceLead, type Advanced, type Courier } from './advance-lead';
import { isInstant, send, type Edges } from './contact';
import { earlierTries } from './earlier-tries';
import { openWorld } from './lead-world';
import { moveLead } from './move-lead';

export type EngineDeps = Pick<Deps, 'database' | 'carrier' | 'mailer' | 'queue' | 'clock' | 'log' | 'config'>;

/** A worker that dies loses its claims after so long, and others take its leads over. */
const LEASE_MS = 20_000;
/** Leads a worker takes at once: of those that need a carrier outside, no more than it can see to before the lease is over. */
const BATCH = { instant: 400, distant: 40 };
/** Of them, those that are being sent to at the same time: each holds a connection to the database meanwhile. */
const AT_ONCE = 4;

interface Round {
  claim_id: string;
  lease_until: Date;
  now: Date;
}

/**
 * Contacts leads that are due, one batch of them, and answers how many there were. Any number of workers may do so at the same time: a lead is one
 * worker's, what is done for it is decided and recorded under locks of its contact and of itself, and every step has a key of its own, so that
 * none is done twice.
 */
export async function contactDueLeads(deps: EngineDeps): Promise<number> {
  const now = deps.clock();
  const round = { claim_id: randomUUID(), now, lease_until: new Date(now.getTime() + LEASE_MS) };
  const limit = deps.carrier.instant && deps.mailer.instant ? BATCH.instant : BATCH.distant;
  const keys = await claimDue(deps.database.pool, { ...round, limit });
  if (keys.length === 0) return 0;
  const { intended, fresh } = await advanceAll(keys, round, deps);
  await inParallel(intended, AT_ONCE, (key) => sendIntended(key, round, { fresh, deps }));
  return keys.length;
}

interface Intentions {
  intended: DueKey[];
  /** Keys of the steps that nobody has begun before. */
  fresh: ReadonlySet<string>;
}

/** Takes the turns of all leads; what one of them breaks does not stop the others. */
async function advanceAll(keys: DueKey[], round: Round, deps: EngineDeps): Promise<Intentions> {
  const writeDown: Courier = async (_, draft) => (isInstant(draft, edgesOf(deps)) ? send(draft, {}, edgesOf(deps)) : 'intended');
  const attempt = (some: DueKey[]) => inTransaction(deps, (client) => takeTurns(client, some, { round, deps, courier: writeDown }));
  try {
    return await attempt(keys).catch(() => attempt(keys));
  } catch (error) {
    if (keys.length === 1) throw error;
    deps.log.warn({ err: error }, 'a batch of leads failed: they are taken one by one');
  }
  const all: Intentions = { intended: [], fresh: new Set() };
  for (const key of keys) {
    const { intended, fresh } = await attempt([key]).catch((error: unknown) => {
      deps.log.error({ err: error, lead_id: key.id, company_id: key.company_id }, 'a lead could not be contacted: it is tried again');
      return { intended: [], fresh: new Set<string>() };
    });
    all.intended.push(...intended);
    all.fresh = new Set([...all.fresh, ...fresh]);
  }
  return all;
}

/** Sends what was written down for one lead: decided anew, since anything may have happened meanwhile. */
async function sendIntended(key: DueKey, round: Round, { fresh, deps }: { fresh: ReadonlySet<string>; deps: EngineDeps }): Promise<void> {
  const edges = edgesOf(deps);
  await inTransaction(deps, (client) => {
    const courier: Courier = async (lead, draft) => {
      if (isInstant(draft, edges)) return send(draft, {}, edges);
      const earlier = fresh.has(draft.row.uuid) ? {} : await earlierTries(client, lead, draft);
      if (earlier === undefined) return 'intended';
      return 'sent' in earlier ? earlier.sent : send(draft, earlier, edges);
    };
    return takeTurns(client, [key], { round: { ...round, now: deps.clock() }, deps, courier });
  }).catch((error: unknown) => deps.log.error({ err: error, lead_id: key.id, company_id: key.company_id }, 'a lead could not be contacted: it is tried again'));
}

const edgesOf = ({ carrier, mailer, config }: EngineDeps): Edges => ({ carrier, mailer, mail_from: config.mail_from });

interface Taking {
  round: Round;
  deps: EngineDeps;
  courier: Courier;
}

/** The turns of claimed leads, within one transaction: locks, decisions, sending, and the record of it all. */
async function takeTurns(client: PoolClient, keys: DueKey[], { round, deps, courier }: Taking): Promise<Intentions> {
  const { now, lease_until } = round;
  const newUuid = () => uuidv7(now.getTime());
  const contacts = await lockContacts(client, keys, { now, newUuid });
  const leads = await lockLeads(client, round.claim_id, keys);
  if (leads.length === 0) return { intended: [], fresh: new Set() };
  const world = await openWorld(client, leads, now);
  const turns: Advanced[] = [];
  for (const lead of leads)
    turns.push(await advanceLead(lead, { world, contact: contacts.get(contactKey(lead))!, edges: edgesOf(deps), courier, lease_until }));
  const recording = together(turns);
  const recorded = await recordTurns(client, recording, now);
  await follow(client, turns, { recorded, deps, now });
  return { intended: turns.flatMap(({ lead, state }) => (state.keeps_claim ? [lead] : [])), fresh: recorded.made };
}

/** One recording of many turns. */
function together(turns: readonly Advanced[]): Recording {
  const all: Recording = { text_messages: [], emails: [], calls: [], logs: [], leads: [], contacts: [], callbacks: [], numbers: [] };
  const contacts = new Map<string, Recording['contacts'][number]>();
  for (const { lead, state, made, counts } of turns) {
    for (const kind of ['text_messages', 'emails', 'calls', 'logs', 'callbacks', 'numbers'] as const) (all[kind] as unknown[]).push(...made[kind]);
    all.leads.push(state);
    if (counts.calls + counts.sms + counts.emails === 0) continue;
    const { company_id, caller_number } = lead;
    const sum = contacts.get(contactKey(lead)) ?? { company_id, caller_number, calls: 0, sms: 0, emails: 0 };
    contacts.set(contactKey(lead), {
      company_id,
      caller_number,
      calls: sum.calls + counts.calls,
      sms: sum.sms + counts.sms,
      emails: sum.emails + counts.emails,
    });
  }
  return { ...all, contacts: [...contacts.values()] };
}

/** What the turns lead to beyond the leads themselves. */
async function follow(
  client: PoolClient,
  turns: readonly Advanced[],
  { recorded, deps, now }: { recorded: Recorded; deps: EngineDeps; now: Date },
): Promise<void> {
  let first_log = 0;
  for (const { lead, made, webhooks, contact_changes, move_to } of turns) {
    const { company_id, caller_number } = lead;
    const db = companyOf(client, company_id);
    for (const place of webhooks) await deps.queue.add(db, 'send_action_webhook', { company_id, lead_log_id: recorded.logs[first_log + place]! });
    first_log += made.logs.length;
    const context = { now, message: 'by the schedule of another lead of this number', newUuid: () => uuidv7(now.getTime()) };
    for (const change of contact_changes) await changeContacts(db, change, [Number(caller_number)], context);
    if (move_to) await moveLead(client, lead, move_to, now);
  }
}

const companyOf = (client: PoolClient, company_id: string): Pick<Db, 'company_id' | 'query'> => ({
  company_id: BigInt(company_id),
  query: async <Row>(statement: { text: string; values: unknown[] }) => (await client.query(statement)).rows as Row[],
});

async function inTransaction<T>({ database }: EngineDeps, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await database.bulk.connect();
  let broken: Error | undefined;
  // The pool listens only to idle connections.
  const onError = (error: Error) => void (broken = error);
  client.on('error', onError);
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((fault: Error) => void (broken ??= fault));
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

async function inParallel<T>(items: readonly T[], width: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = [...items];
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
