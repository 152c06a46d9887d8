import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { pauses } from '../../data/jobs/pauses';
import { sqlOn, type Sql } from '../../data/sql';
import { queryOn } from '../../data/statement';
import { buildCompanyStatements } from '../../data/tenant';
import { runInTransaction } from '../../data/transaction';
import type { Deps } from '../deps';
import { findBuyerAvailability } from './buyer-availability';
import { followPlacedCalls, isInstant, resumeDelivery, sendDraft } from './channels';
import { loadLiveSwitches } from '../switches/originate';
import { loadOutreachContext } from './context';
import type { Channels } from './drafts';
import type { LeadKey } from './due-lead';
import { contactKey, lockContacts, lockLeads } from './load-leads';
import { CHECK_CONNECTION, CLAIM_BY_PRIORITY, CLAIM_BY_TIME, RELEASE_LEADS } from './queries/leads';
import { combineByCompany, recordSteps } from './record-steps';
import type { StepChanges } from './step-recorder';
import {
  FAULT_DELAY_MS,
  postponeLead,
  runLeadSteps,
  type Deliver,
  type StepContext,
} from './steps';

// Outreach contacts leads when they are due, by the calls, text messages and e-mails of their
// schedules. A worker claims a batch of leads under a lease. Their steps are decided, delivered and
// recorded in one transaction: in the sandbox all of them, else those of one lead up to its next
// delivery, whose intent is committed before it begins. Lock order: contacts, leads, deliveries,
// counters, numbers. Every step has its own key, so that it is done once, however many workers
// there are and wherever they fail.

export type OutreachDeps = Pick<
  Deps,
  'database' | 'carrier' | 'mailer' | 'queue' | 'clock' | 'log' | 'config'
>;

export interface OutreachOptions {
  /** The duration of claims: other workers take over the leads of a failed one afterwards. */
  lease_ms?: number;
  /** Leads that are claimed at once. */
  batch_size?: number | undefined;
  /** Aborted to end the worker soon: deliveries in progress finish, other leads are released. */
  signal?: AbortSignal;
}

const LEASE_MS = 20_000;
/**
 * Leads that a worker claims at once: fewer with an external carrier, so that several workers share
 * the work.
 */
const BATCH_SIZE = { instant: 400, external: 40 };
/** Leads that are sent to at the same time; each holds a database connection. */
const MAX_CONCURRENT = 4;

interface Batch {
  claim_id: string;
  lease_ms: number;
  now: Date;
}

/** Contacts one batch of due leads, and returns how many there were. */
export async function processDueLeads(
  deps: OutreachDeps,
  { lease_ms = LEASE_MS, batch_size, signal }: OutreachOptions = {},
): Promise<number> {
  const { database, carrier, mailer, clock } = deps;
  const sql = sqlOn(database.pool);
  const batch = { claim_id: randomUUID(), lease_ms, now: clock() };
  const usualSize = carrier.instant && mailer.instant ? BATCH_SIZE.instant : BATCH_SIZE.external;
  const limit = batch_size ?? usualSize;
  const leads = await claimDueLeads(sql, { ...batch, limit, lease_until: leaseEnd(batch) });
  if (leads.length === 0) return 0;
  const deferred = await processBatch(leads, batch, deps);
  await runInParallel(deferred, MAX_CONCURRENT, (lead) =>
    deliverDeferred(lead, batch, { deps, signal }),
  );
  if (signal?.aborted)
    await releaseLeads(sql, { claim_id: batch.claim_id, leads: deferred, due_at: clock() });
  return leads.length;
}

const leaseEnd = ({ now, lease_ms }: Batch): Date => new Date(now.getTime() + lease_ms);

const pickChannels = ({ carrier, mailer, config }: OutreachDeps): Channels => ({
  carrier,
  mailer,
  mail_from: config.mail_from,
});

/**
 * Runs the steps of a batch in one transaction, and returns the leads with a deferred draft. When
 * the transaction fails twice, each lead gets its own, so that a lead whose data fails does not
 * stop the others.
 */
async function processBatch(
  leads: readonly LeadKey[],
  batch: Batch,
  deps: OutreachDeps,
): Promise<LeadKey[]> {
  const { bulk, pool } = deps.database;
  const channels = pickChannels(deps);
  const deliver: Deliver = async (_, draft) =>
    isInstant(draft, channels) ? sendDraft(draft, {}, channels) : 'deferred';
  const attempt = (some: readonly LeadKey[]) =>
    runInTransaction(bulk, (client) => runSteps(client, some, { batch, channels, deliver, deps }));
  try {
    return await attempt(leads).catch(() => attempt(leads));
  } catch (error) {
    deps.log.warn({ err: error }, 'a batch of leads failed; its leads are tried one by one');
    // Throws when the database is down: then the leads are not the cause.
    await sqlOn(pool)(CHECK_CONNECTION, {});
  }
  const deferred: LeadKey[] = [];
  for (const lead of leads) {
    const rest = await attempt([lead]).catch(async (error: unknown) => {
      await postponeFailedLead(lead, batch, { error, deps });
      return [];
    });
    deferred.push(...rest);
  }
  return deferred;
}

/** SQLSTATE classes of temporary errors: connections, deadlocks, resources, locks, shutdown. */
const TEMPORARY = /^(08|40|53|55|57)/;

/** Postpones a lead whose statements fail. After a temporary error the lease simply expires. */
async function postponeFailedLead(
  lead: LeadKey,
  { claim_id, now }: Batch,
  { error, deps }: { error: unknown; deps: OutreachDeps },
): Promise<void> {
  deps.log.error(
    { err: error, lead_id: lead.id, company_id: lead.company_id },
    'a lead could not be contacted; it is tried again later',
  );
  if (TEMPORARY.test((error as { code?: string }).code ?? '')) return;
  const dueAt = new Date(now.getTime() + FAULT_DELAY_MS);
  await releaseLeads(sqlOn(deps.database.pool), { claim_id, leads: [lead], due_at: dueAt });
}

/**
 * Sends everything that is due to one lead, one message in each transaction. The lead may change
 * between them, so that each transaction decides again.
 */
async function deliverDeferred(
  lead: LeadKey,
  batch: Batch,
  { deps, signal }: { deps: OutreachDeps; signal: AbortSignal | undefined },
): Promise<void> {
  const channels = pickChannels(deps);
  for (let rest = [lead]; rest.length > 0 && !signal?.aborted;) {
    const current = { ...batch, now: deps.clock() };
    rest = await runInTransaction(deps.database.bulk, (client) => {
      const deliver = singleDelivery(client, current, deps);
      return runSteps(client, rest, { batch: current, channels, deliver, deps });
    }).catch((error: unknown) => {
      deps.log.error(
        { err: error, lead_id: lead.id, company_id: lead.company_id },
        'a lead could not be contacted; it is tried again when the lease is over',
      );
      return [];
    });
  }
}

/** Delivers one draft to an external carrier or mailer, and defers those after it. */
function singleDelivery(client: PoolClient, { now }: Batch, deps: OutreachDeps): Deliver {
  const channels = pickChannels(deps);
  let isSent = false;
  return async (lead, draft) => {
    if (isInstant(draft, channels)) return sendDraft(draft, {}, channels);
    if (isSent) return 'deferred';
    isSent = true;
    const [sql, outside] = [sqlOn(client), sqlOn(deps.database.pool)];
    return resumeDelivery(lead, draft, { sql, outside, channels, now });
  };
}

interface StepOptions {
  batch: Batch;
  channels: Channels;
  deliver: Deliver;
  deps: Pick<Deps, 'database' | 'log' | 'queue'>;
}

/**
 * Runs the steps of claimed leads in the open transaction: locks them, decides and delivers each
 * step, and records all. Returns the leads with a deferred draft, which need another call at once.
 */
async function runSteps(
  client: PoolClient,
  keys: readonly LeadKey[],
  { batch, channels, deliver, deps }: StepOptions,
): Promise<LeadKey[]> {
  const sql = sqlOn(client);
  const { claim_id, now } = batch;
  const contacts = await lockContacts(sql, keys, now);
  const leads = await lockLeads(sql, claim_id, keys);
  if (leads.length === 0) return [];
  const records = await loadOutreachContext(sql, leads, now);
  const companyIds = leads.map(({ company_id }) => company_id);
  const switches = await loadLiveSwitches(sql, channels.carrier, { company_ids: companyIds, now });
  const buyerFor: StepContext['buyerFor'] = (lead, offerId) => {
    const db = buildCompanyStatements(deps.database, BigInt(lead.company_id), client);
    return findBuyerAvailability(db, lead, { offer_id: offerId, carrier: channels.carrier, now });
  };
  const lease = { lease_until: leaseEnd(batch) };
  const changes: StepChanges[] = [];
  const pause = pauses();
  for (const lead of leads) {
    await pause();
    const contact = contacts.get(contactKey(lead))!;
    const context = {
      ...{ records, contact, deliver, buyerFor, ...lease },
      channels: { ...channels, switches },
    };
    // An error before the next statement concerns this lead alone.
    const result = await runLeadSteps(lead, context).catch((error: unknown) => {
      deps.log.error(
        { err: error, lead_id: lead.id, company_id: lead.company_id },
        'the next step of a lead could not be determined; the lead is put off',
      );
      return postponeLead(lead, context);
    });
    changes.push(result);
  }
  await recordChanges(client, changes, { now, queue: deps.queue });
  return changes.flatMap(({ lead, rows }) => (rows.leads[0]!.stays_claimed ? [lead] : []));
}

async function recordChanges(
  client: PoolClient,
  changes: readonly StepChanges[],
  { now, queue }: Pick<Deps, 'queue'> & { now: Date },
): Promise<void> {
  const db = { query: queryOn(() => client) };
  const batches = combineByCompany(
    changes.map(({ lead: { company_id }, rows }) => ({ company_id, ...rows })),
  );
  const webhooks = await recordSteps(sqlOn(client), batches, now);
  for (const webhook of webhooks) await queue.add(db, 'send_action_webhook', webhook);
  const calls = batches.flatMap((batch) => batch.calls);
  await followPlacedCalls(sqlOn(client), calls, { queue, db, now });
}

async function runInParallel<T>(
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

interface Claim {
  claim_id: string;
  now: Date;
  lease_until: Date;
  limit: number;
}

/**
 * Leads without a priority get at least a quarter of each batch: otherwise a company that gives all
 * its leads a priority would keep the leads of all others waiting.
 */
const SHARE_OF_PRIORITY = 0.75;

/**
 * Claims due leads and returns them in the order in which they are contacted: leads with a priority
 * first, the lowest number before others. No other worker gets them until the lease ends.
 */
export async function claimDueLeads(
  sql: Sql,
  { claim_id, now, lease_until, limit }: Claim,
): Promise<LeadKey[]> {
  const claim = { claim_id, now, lease_until };
  const withPriority = await sql(CLAIM_BY_PRIORITY, {
    ...claim,
    limit: Math.ceil(limit * SHARE_OF_PRIORITY),
  });
  const withoutPriority = await sql(CLAIM_BY_TIME, {
    ...claim,
    limit: limit - withPriority.length,
  });
  return [...withPriority.toSorted(byPriority), ...withoutPriority.toSorted(byPriority)];
}

interface ClaimedLead extends LeadKey {
  due_at: Date;
  lead_priority: number | null;
}

const byPriority = (a: ClaimedLead, b: ClaimedLead): number =>
  (a.lead_priority ?? 0) - (b.lead_priority ?? 0) ||
  a.due_at.getTime() - b.due_at.getTime() ||
  Number(a.id) - Number(b.id);

/** Releases claimed leads, so that any worker may claim them at `due_at`. */
async function releaseLeads(
  sql: Sql,
  { claim_id, leads, due_at }: { claim_id: string; leads: readonly LeadKey[]; due_at: Date },
): Promise<void> {
  const companyIds = leads.map(({ company_id }) => company_id);
  const ids = leads.map(({ id }) => id);
  await sql(RELEASE_LEADS, { company_ids: companyIds, ids, claim_id, due_at });
}
