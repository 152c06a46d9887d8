import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { changeContacts } from '../leads/queries/contacts';
import { claimDue, letGo, lockLeads, type DueKey, type DueLead } from './load-leads';
import { contactKey, lockContacts } from './lock-contacts';
import { writeLogs } from '../leads/queries/logs';
import { giveNumbers, recordSteps, type Recording } from './record-steps';
import type { Db } from '../db/tenant';
import { inTransaction } from '../db/transaction';
import type { Deps } from '../deps';
import { uuidv7 } from '../db/uuid';
import {
  advanceLead,
  FAULTY_MS,
  putOff,
  type Advanced,
  type Courier,
  type Errand,
} from './run-steps';
import { isInstant, send, type Edges } from './deliver';
import { resumeDelivery } from './resume-delivery';
import { openContext } from './context';
import { moveLeads } from './move-lead';

export type OutreachDeps = Pick<
  Deps,
  'database' | 'carrier' | 'mailer' | 'queue' | 'clock' | 'log' | 'config'
>;

export interface OutreachOptions {
  /** A worker that dies loses its claims after so long, and others take its leads over. */
  lease_ms?: number;
  /** Aborted when the worker is to end soon: what is being sent is sent, and the other leads are let go. */
  signal?: AbortSignal;
}

const LEASE_MS = 20_000;
/** Leads a worker takes at once; fewer of those that need a carrier outside, so that several workers share what is due. */
const BATCH = { instant: 400, distant: 40 };
/** Of them, those that are being sent to at the same time: each holds a connection to the database meanwhile. */
const AT_ONCE = 4;

interface Round {
  claim_id: string;
  lease_ms: number;
  now: Date;
}

/**
 * Contacts leads that are due, one batch of them, and answers how many there were. Any number of workers may do so at the same time: a lead is one
 * worker's, what is done for it is decided and recorded under locks of its contact and of itself, and every step has a key of its own, so that
 * none is done twice.
 */
export async function contactDueLeads(
  deps: OutreachDeps,
  { lease_ms = LEASE_MS, signal }: OutreachOptions = {},
): Promise<number> {
  const round = { claim_id: randomUUID(), lease_ms, now: deps.clock() };
  const limit = deps.carrier.instant && deps.mailer.instant ? BATCH.instant : BATCH.distant;
  const keys = await claimDue(deps.database.pool, { ...round, limit, lease_until: leaseOf(round) });
  if (keys.length === 0) return 0;
  const left = await advanceAll(keys, round, deps);
  await inParallel(left, AT_ONCE, (key) => sendTo(key, round, { deps, signal }));
  if (signal?.aborted)
    await letGo(deps.database.pool, { claim_id: round.claim_id, keys: left, due_at: deps.clock() });
  return keys.length;
}

const leaseOf = ({ now, lease_ms }: Round): Date => new Date(now.getTime() + lease_ms);

/** Takes the turns of all leads and answers those for which something is to be sent outside; what one of them breaks does not stop the others. */
async function advanceAll(keys: DueKey[], round: Round, deps: OutreachDeps): Promise<DueKey[]> {
  const courier: Courier = async (_, draft) =>
    isInstant(draft, edgesOf(deps)) ? send(draft, {}, edgesOf(deps)) : 'next turn';
  const attempt = (some: DueKey[]) =>
    inTransaction(deps.database.bulk, (client) =>
      takeTurns(client, some, { round, deps, courier }),
    );
  try {
    return await attempt(keys).catch(() => attempt(keys));
  } catch (error) {
    deps.log.warn({ err: error }, 'a batch of leads failed: they are taken one by one');
    // Not when it is the database that fails.
    await deps.database.pool.query('SELECT 1');
  }
  const left: DueKey[] = [];
  for (const key of keys)
    left.push(
      ...(await attempt([key]).catch(async (error: unknown) => fail(key, error, { round, deps }))),
    );
  return left;
}

/** Sends to one lead, one thing in each of its turns: in between others may change it, and it is decided anew. */
async function sendTo(
  key: DueKey,
  from: Round,
  { deps, signal }: { deps: OutreachDeps; signal: AbortSignal | undefined },
): Promise<void> {
  for (let left = [key]; left.length > 0 && !signal?.aborted;) {
    const round = { ...from, now: deps.clock() };
    left = await inTransaction(deps.database.bulk, (client) =>
      takeTurns(client, left, { round, deps, courier: oneAtATime(client, round, deps) }),
    ).catch((error: unknown) => {
      deps.log.error(
        { err: error, lead_id: key.id, company_id: key.company_id },
        'a lead could not be contacted: it is tried again when the lease is over',
      );
      return [];
    });
  }
}

function oneAtATime(client: PoolClient, { now }: Round, deps: OutreachDeps): Courier {
  const edges = edgesOf(deps);
  let is_sent = false;
  return async (lead, draft) => {
    if (isInstant(draft, edges)) return send(draft, {}, edges);
    if (is_sent) return 'next turn';
    is_sent = true;
    return resumeDelivery(lead, draft, { client, aside: deps.database.pool, edges, now });
  };
}

const edgesOf = ({ carrier, mailer, config }: OutreachDeps): Edges => ({
  carrier,
  mailer,
  mail_from: config.mail_from,
});

/** SQLSTATE classes of what is no fault of a statement: connections, deadlocks, what is short, locked or shut down. */
const PASSING = /^(08|40|53|55|57)/;

/** Puts a lead off whose turn breaks its transaction. */
async function fail(
  key: DueKey,
  error: unknown,
  { round, deps }: { round: Round; deps: OutreachDeps },
): Promise<[]> {
  deps.log.error(
    { err: error, lead_id: key.id, company_id: key.company_id },
    'a lead could not be contacted: it is tried again later',
  );
  // Taken again when the lease is over.
  if (PASSING.test((error as { code?: string }).code ?? '')) return [];
  await letGo(deps.database.pool, {
    claim_id: round.claim_id,
    keys: [key],
    due_at: new Date(round.now.getTime() + FAULTY_MS),
  });
  return [];
}

interface Taking {
  round: Round;
  deps: OutreachDeps;
  courier: Courier;
}

/** The turns of claimed leads, within one transaction: locks, decisions, sending, and the record of it all. Answers those that have another turn at once. */
async function takeTurns(
  client: PoolClient,
  keys: DueKey[],
  { round, deps, courier }: Taking,
): Promise<DueKey[]> {
  const { now } = round;
  const contacts = await lockContacts(client, keys, { now, newUuid: () => uuidv7(now.getTime()) });
  const leads = await lockLeads(client, round.claim_id, keys);
  if (leads.length === 0) return [];
  const world = await openContext(client, leads, now);
  const turns: Advanced[] = [];
  for (const lead of leads) {
    const errand = {
      world,
      contact: contacts.get(contactKey(lead))!,
      edges: edgesOf(deps),
      courier,
      lease_until: leaseOf(round),
    };
    turns.push(
      await advanceLead(lead, errand).catch((error: unknown) =>
        faulty(lead, errand, { error, deps }),
      ),
    );
  }
  const recording = together(turns);
  const log_ids = await recordSteps(client, recording, now);
  await follow(client, turns, { log_ids, deps, now });
  await giveNumbers(client, recording.numbers, now);
  return turns.flatMap(({ lead, state }) => (state.keeps_claim ? [lead] : []));
}

/** What breaks before anything is asked of the database concerns this lead alone. */
function faulty(
  lead: DueLead,
  errand: Errand,
  { error, deps }: { error: unknown; deps: OutreachDeps },
): Advanced {
  deps.log.error(
    { err: error, lead_id: lead.id, company_id: lead.company_id },
    'it cannot be worked out what is due for a lead: it is put off',
  );
  return putOff(lead, errand);
}

/** One recording of many turns. */
function together(turns: readonly Advanced[]): Recording {
  const all: Recording = {
    text_messages: [],
    emails: [],
    calls: [],
    logs: [],
    leads: [],
    contacts: [],
    callbacks: [],
    numbers: [],
    given_up: [],
  };
  const contacts = new Map<string, Recording['contacts'][number]>();
  for (const { lead, state, made, counts } of turns) {
    for (const kind of Object.keys(made) as (keyof typeof made)[])
      (all[kind] as unknown[]).push(...made[kind]);
    all.leads.push(state);
    if (counts.calls + counts.sms + counts.emails === 0) continue;
    const { company_id, caller_number } = lead;
    const sum = contacts.get(contactKey(lead)) ?? {
      company_id,
      caller_number,
      calls: 0,
      sms: 0,
      emails: 0,
    };
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
  { log_ids, deps, now }: { log_ids: readonly string[]; deps: OutreachDeps; now: Date },
): Promise<void> {
  let first_log = 0;
  const context = {
    now,
    message: 'by the schedule of a lead of this number',
    newUuid: () => uuidv7(now.getTime()),
  };
  for (const { lead, made, webhooks, contact_changes } of turns) {
    const { company_id, caller_number } = lead;
    const db = companyOf(client, company_id);
    for (const place of webhooks)
      await deps.queue.add(db, 'send_action_webhook', {
        company_id,
        lead_log_id: log_ids[first_log + place]!,
      });
    first_log += made.logs.length;
    for (const change of contact_changes)
      await changeContacts(db, change, [Number(caller_number)], context);
  }
  const moves = turns.flatMap(({ lead, move_to }) => (move_to ? [{ lead, to: move_to }] : []));
  await writeLogs(
    { query: async (statement) => (await client.query(statement)).rows as never },
    await moveLeads(client, moves, now),
    now,
  );
}

const companyOf = (client: PoolClient, company_id: string): Pick<Db, 'company_id' | 'query'> => ({
  company_id: BigInt(company_id),
  query: async <Row>(statement: { text: string; values: unknown[] }) =>
    (await client.query(statement)).rows as Row[],
});

async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const waiting = [...items];
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
