import { createRuleWatcher } from '../../domain/alerts/watch';
import { lookUpCosts } from '../../domain/calls/look-up-costs';
import { stopLegs } from '../../domain/calls/stop-legs';
import type { Deps } from '../../domain/deps';
import { repeat, type Running } from '../../data/jobs/loop';
import { startTriggered } from '../../domain/leads/start-triggered';

// Loops that do what is due in batches, until they are stopped. Any number of processes may run
// them. Each is a loop of its own, so that none holds up another: an import may trigger thousands
// of schedules.

/** Work that runs again at once as long as there was something to do. */
const repeatWhileBusy = (batch: () => Promise<number>) => async () => (await batch()) > 0;

export const startLegs = (deps: Deps): Running =>
  repeat(deps.log, {
    sql: deps.database.sql,
    work: repeatWhileBusy(() => stopLegs(deps)),
    every_ms: 1_000,
    pause_ms: 5_000,
    failure: 'stopping legs failed and will be tried again',
  });

export const startTriggers = (deps: Deps): Running =>
  repeat(deps.log, {
    sql: deps.database.sql,
    work: repeatWhileBusy(() => startTriggered(deps)),
    every_ms: 1_000,
    pause_ms: 5_000,
    failure: 'schedules could not be started by their triggers; this will be tried again',
  });

export const startAlerts = (deps: Deps): Running =>
  repeat(deps.log, {
    sql: deps.database.sql,
    work: createRuleWatcher(deps),
    every_ms: 15_000,
    pause_ms: 30_000,
    failure: 'alert rules could not be looked at; this will be tried again',
  });

/** Asks carriers for the costs of calls. */
export const startCallCosts = (deps: Deps): Running =>
  repeat(deps.log, {
    sql: deps.database.sql,
    work: repeatWhileBusy(() => lookUpCosts(deps)),
    every_ms: 5_000,
    pause_ms: 30_000,
    failure: 'looking up the costs of calls failed and will be tried again',
  });
