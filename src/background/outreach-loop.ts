import {
  contactDueLeads,
  type OutreachDeps,
  type OutreachOptions,
} from '../outreach/contact-due-leads';
import { repeat, type Running } from '../jobs/loop';

/** How often it is looked for due leads when there are none. */
const POLL_MS = 500;
const PAUSE_MS = 2_000;

/** Contacts leads as they become due, until it is stopped; any number of processes may. A stop begins with no further lead, and waits for what is being sent. */
export function startEngine(
  deps: OutreachDeps,
  options: Pick<OutreachOptions, 'lease_ms'> = {},
): Running {
  const work = async (signal: AbortSignal) =>
    (await contactDueLeads(deps, { ...options, signal })) > 0;
  return repeat(deps.log, {
    work,
    every_ms: POLL_MS,
    pause_ms: PAUSE_MS,
    failure: 'leads could not be contacted: tried again',
  });
}
