import { repeat, type Running } from '../../data/jobs/loop';
import {
  processDueLeads,
  type OutreachDeps,
  type OutreachOptions,
} from '../../domain/outreach/contact-due-leads';

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
