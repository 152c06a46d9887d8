import type { Deps } from '../../domain/deps';
import { type Running, repeat } from '../../data/jobs/loop';
import { startWorkers } from '../../data/jobs/workers';
import { ANALYZE_GROWN_TABLES } from './queries/background';
import { createRunners } from './runners';
import {
  processDueLeads,
  type OutreachDeps,
  type OutreachOptions,
} from '../../domain/outreach/due-leads';
import { createRuleWatcher } from '../../domain/alerts/watch';
import { lookUpCosts } from '../../domain/calls/look-up-costs';
import { checkPlacedCalls } from '../../domain/calls/check-placed-calls';
import { endStaleCalls } from '../../domain/calls/end-stale-calls';
import { forEach } from '../../data/jobs/each';
import { applyCalls } from '../../domain/leads/apply-calls';
import { expireReservations } from '../../domain/routing/expire-reservations';
import { createDeliverer, type DeliveryOptions } from '../../domain/webhooks/deliver';
import { type DeliveryDeps } from '../../domain/webhooks/serve-queue';
import { fanOutWebhookEvents } from '../../domain/webhooks/fan-out-events';
import { stopLegs } from '../../domain/calls/stop-legs';
import { startTriggered } from '../../domain/leads/start-triggered';
import { pause } from '../../platform/pause';

const LOOK_MS = 1_000;

/**
 * Starts everything that runs without a request: queued jobs, outreach, housekeeping, triggers,
 * legs, webhooks. In a distributed installation the jobs follow the cells, which come, go and move.
 */
export async function startJobs({ parts, log }: Pick<Deps, 'parts' | 'log'>): Promise<Running> {
  const running = new Map<Deps, Running>();
  const follow = async () => {
    const currentParts = new Set(parts());
    for (const [part, jobs] of running)
      if (!currentParts.has(part)) {
        running.delete(part);
        await jobs.stop();
      }
    for (const part of currentParts)
      if (!running.has(part)) running.set(part, await startPartJobs(part));
  };
  await follow();
  const stopping = new AbortController();
  const following = (async () => {
    while (!stopping.signal.aborted) {
      await pause(LOOK_MS, stopping.signal);
      await follow().catch((error: unknown) => log.warn({ err: error }, 'jobs do not start'));
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await following;
      await Promise.all([...running.values()].map((jobs) => jobs.stop()));
    },
  };
}

async function startPartJobs(deps: Deps): Promise<Running> {
  const { database, log } = deps;
  const workers = await startWorkers({ database, log, runners: createRunners(deps) });
  const all: Running[] = [
    workers,
    startOutreach(deps),
    startHousekeeping(deps),
    startAnalyzing(deps),
    startTriggers(deps),
    startLegs(deps),
    startCallCosts(deps),
    startAlerts(deps),
    startWebhooks(deps),
  ];
  return { stop: async () => void (await Promise.all(all.map((loop) => loop.stop()))) };
}

const ANALYZE_MS = 2_000;

/** Keeps plans right while the tables of a new installation fill, until it is stopped. */
const startAnalyzing = ({ database: { sql }, log }: Pick<Deps, 'database' | 'log'>): Running =>
  repeat(log, {
    sql,
    work: async () => (await sql(ANALYZE_GROWN_TABLES, {}), false),
    every_ms: ANALYZE_MS,
    pause_ms: 30_000,
    failure: 'tables that have grown were not analyzed',
  });

/** Time between two looks for due leads when there are none. */
const POLL_MS = 500;
const PAUSE_MS = 2_000;

/**
 * Contacts leads as they become due, until it is stopped. Any number of processes may do so. A stop
 * starts no further lead, and waits for messages that are being sent.
 */
export function startOutreach(
  deps: OutreachDeps,
  options: Pick<OutreachOptions, 'lease_ms'> = {},
): Running {
  const work = async (signal: AbortSignal) =>
    (await processDueLeads(deps, { ...options, signal })) > 0;
  return repeat(deps.log, {
    sql: deps.database.sql,
    work,
    every_ms: POLL_MS,
    pause_ms: PAUSE_MS,
    failure: 'leads could not be contacted; this will be tried again',
  });
}

// Loops that do what is due in batches, until they are stopped. Any number of processes may run
// them. Each is a loop of its own, so that none holds up another: an import may trigger thousands
// of schedules.

/** Work that runs again at once as long as there was something to do. */
const repeatWhileBusy = (batch: () => Promise<number>) => async () => (await batch()) > 0;

const startLegs = (deps: Deps): Running =>
  repeat(deps.log, {
    sql: deps.database.sql,
    work: repeatWhileBusy(() => stopLegs(deps)),
    every_ms: 1_000,
    pause_ms: 5_000,
    failure: 'stopping legs failed and will be tried again',
  });

const startTriggers = (deps: Deps): Running =>
  repeat(deps.log, {
    sql: deps.database.sql,
    work: repeatWhileBusy(() => startTriggered(deps)),
    every_ms: 1_000,
    pause_ms: 5_000,
    failure: 'schedules could not be started by their triggers; this will be tried again',
  });

const startAlerts = (deps: Deps): Running =>
  repeat(deps.log, {
    sql: deps.database.sql,
    work: createRuleWatcher(deps),
    every_ms: 15_000,
    pause_ms: 30_000,
    failure: 'alert rules could not be looked at; this will be tried again',
  });

/** Asks carriers for the costs of calls. */
const startCallCosts = (deps: Deps): Running =>
  repeat(deps.log, {
    sql: deps.database.sql,
    work: repeatWhileBusy(() => lookUpCosts(deps)),
    every_ms: 5_000,
    pause_ms: 30_000,
    failure: 'looking up the costs of calls failed and will be tried again',
  });

/**
 * Ends calls that are no longer reported, releases reservations that have expired, and applies
 * calls to their leads, until it is stopped. Any number of processes may do so.
 */
export function startHousekeeping(deps: Deps): Running {
  const work = async () => {
    const { pool } = deps.database;
    const works = [
      () => endStaleCalls(deps),
      () => checkPlacedCalls(deps),
      () => expireReservations(pool, deps.clock()),
      () => applyCalls(pool, deps.clock()),
    ];
    await forEach(works, (task) => task());
    return false;
  };
  return repeat(deps.log, {
    sql: deps.database.sql,
    work,
    every_ms: 1_000,
    pause_ms: 5_000,
    failure: 'housekeeping failed and will be tried again',
  });
}

const RENEW_MS = 3_000;

/** Delivers webhook events, until it is stopped. Any number of processes may do so. */
export function startWebhooks(deps: DeliveryDeps, options: DeliveryOptions = {}): Running {
  const { log, database } = deps;
  const { sql } = database;
  const deliveries = createDeliverer(deps, options);
  const delivering = repeat(log, {
    sql,
    every_ms: 250,
    pause_ms: PAUSE_MS,
    work: async () => {
      const events = await fanOutWebhookEvents(deps);
      await deliveries.begin();
      return events > 0;
    },
    failure: 'webhook events could not be delivered; this will be tried again',
  });
  const renewing = repeat(log, {
    sql,
    every_ms: Math.min(RENEW_MS, (options.lease_ms ?? Infinity) / 4),
    pause_ms: PAUSE_MS,
    work: () => deliveries.renew().then(() => false),
    failure: 'leases of webhook queues could not be renewed; this will be tried again',
  });
  return {
    stop: async () => {
      await delivering.stop();
      await deliveries.stop();
      await renewing.stop();
    },
  };
}
