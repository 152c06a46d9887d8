import type { Db } from '../../data/db';
import type { Queue } from '../../data/jobs/queue';
import type { Tasks } from '../../data/jobs/tasks';
import type { Sql } from '../../data/sql';
import { SOFTSWITCH, type Carrier } from '../../platform/carriers/carrier';
import { COMMAND_CHANNEL } from './follow';
import { ORIGINATE_CALLS } from './queries/commands';
import { FIND_LIVE_SWITCHES, LIST_CALLERS_WITHOUT } from './queries/switches';

// Calls that the switches of companies place.

/**
 * By company id: the switch that places its calls now; null where none is live. Companies without a
 * switch are absent, and all of them where the carrier is no switch.
 */
export type LiveSwitches = ReadonlyMap<string, string | null>;

export async function loadLiveSwitches(
  sql: Sql,
  { name }: Pick<Carrier, 'name'>,
  { company_ids, now }: { company_ids: readonly string[]; now: Date },
): Promise<LiveSwitches> {
  if (name !== SOFTSWITCH) return new Map();
  const rows = await sql(FIND_LIVE_SWITCHES, { company_ids: [...new Set(company_ids)], now });
  return new Map(rows.map(({ company_id, id }) => [company_id, id]));
}

const MAX_CALLERS = 20;

/** Names of companies, at most 20, whose schedules call although no switch of theirs is live. */
export const listCallersWithoutSwitch = async (sql: Sql, now: Date): Promise<string[]> =>
  (await sql(LIST_CALLERS_WITHOUT, { now, limit: MAX_CALLERS })).map(({ name }) => name);

export interface PlacedCall {
  company_id: string;
  /** The uuid of a call that was recorded in this transaction. */
  uuid: string;
  carrier: string;
  status: string;
  /** How long the person's telephone rings. */
  timeout_seconds: number;
  detect_machine: 'at_once' | 'for_message' | undefined;
}

/** A switch that is slower has lost the command, or has too much to do. */
const ORIGINATE_SECONDS = 120;

/**
 * Has switches place those of the calls that are theirs, in the transaction that has recorded them,
 * as its last step: it locks the switches, company after company.
 */
export async function originateCalls(
  sql: Sql,
  calls: readonly PlacedCall[],
  { queue, db, now }: { queue: Queue; db: Pick<Db, 'query'>; now: Date },
): Promise<void> {
  const queued = calls.filter(
    ({ carrier, status }) => carrier === SOFTSWITCH && status === 'queued',
  );
  const companies = [...new Set(queued.map(({ company_id }) => company_id))];
  for (const companyId of companies.toSorted((a, b) => Number(a) - Number(b))) {
    const placed = queued
      .filter(({ company_id }) => company_id === companyId)
      .map(({ uuid, timeout_seconds, detect_machine }) => ({
        ...{ uuid, timeout_seconds, detect_machine },
      }));
    const pushed = await sql(ORIGINATE_CALLS, {
      ...{ company_id: companyId, placed: JSON.stringify(placed), now },
      ...{ valid_seconds: ORIGINATE_SECONDS, channel: COMMAND_CHANNEL },
    });
    const pushes = pushed.map((key) => ({ company_id: companyId, ...key }));
    await queue.addAll(db, 'push_switch_command', pushes as Tasks['push_switch_command'][]);
  }
}
