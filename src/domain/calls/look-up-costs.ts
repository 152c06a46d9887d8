import type { Legs } from '../../platform/carriers/carrier';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import {
  CLAIM_COST_LOOKS,
  END_COST_LOOK,
  LOCK_COST_LOOK,
  POSTPONE_COST_LOOK,
  SAVE_PROVIDER_COST,
  SUM_LEGS,
} from './queries/call-costs';

/** Calls of one run; the carrier is asked about all of them at the same time. */
const BATCH = 10;
/** Longer than the timeout of the carrier. */
const LEASE_MS = 60_000;
const MINUTE_MS = 60_000;
/**
 * Minutes to wait after each attempt without a result. The first attempt is a minute after the end
 * of the call.
 */
export const WAITS = [4, 10, 45, 120, 180, 360, 720, 1440];

interface Look {
  call_id: number;
  /** How often the carrier was asked, this time included. */
  tries: number;
}

type Outcome = 'known' | 'unknown' | 'foreign';

/**
 * Asks carriers what ended calls have cost, and returns how many were asked about. The price of a
 * call is often not known for minutes, and sometimes for hours: it is asked for with growing waits,
 * and given up after two days. It is written once, when all legs of the call have their price. Any
 * number of processes may do this at the same time.
 */
export async function lookUpCosts(
  deps: Pick<Deps, 'database' | 'tenants' | 'carrier' | 'clock' | 'log'>,
): Promise<number> {
  const { database, tenants, carrier, clock, log } = deps;
  const now = clock();
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  const due = await database.sql(CLAIM_COST_LOOKS, { now, lease_until: leaseUntil, limit: BATCH });
  await Promise.all(
    due.map(async ({ company_id, carrier: name, carrier_call_id, ...look }) => {
      const legs =
        name === carrier.name && carrier_call_id !== null
          ? await carrier.findLegs(carrier_call_id)
          : undefined;
      const outcome = await settle(tenants.of(BigInt(company_id)), look, { legs, now });
      if (outcome === undefined) return;
      log.warn(
        { company_id: Number(company_id), call_id: look.call_id },
        outcome === 'foreign'
          ? 'the carrier charges for a call in another currency than dollars: it has no cost'
          : 'the carrier has not reported the price of a call for two days: it has no cost',
      );
    }),
  );
  return due.length;
}

/** Writes the known costs. Returns the reason if the call is given up without a cost. */
function settle(
  db: Db,
  { call_id, tries }: Look,
  { legs, now }: { legs: Legs | undefined; now: Date },
): Promise<Exclude<Outcome, 'known'> | undefined> {
  return db.transaction(async ({ sql }) => {
    // Another process has finished it.
    if ((await sql(LOCK_COST_LOOK, { call_id })).length === 0) return undefined;
    const isAsked = legs?.ok === true;
    const legsJson = JSON.stringify(isAsked ? legs.legs : []);
    // A carrier that can be asked knows more than the reports it sends by itself, which may not name
    // all legs.
    const isSilent = legs?.ok === false && legs.code === 'not_supported';
    const isCertain = isAsked || legs === undefined || isSilent;
    const [sum] = isCertain
      ? await sql(SUM_LEGS, { call_id, legs: legsJson, is_asked: isAsked })
      : [];
    if (sum?.is_complete) {
      if (sum.is_in_dollars) await sql(SAVE_PROVIDER_COST, { call_id, cost: sum.cost, now });
      await sql(END_COST_LOOK, { call_id });
      return sum.is_in_dollars ? undefined : 'foreign';
    }
    const wait = WAITS[tries - 1];
    if (wait === undefined) {
      await sql(END_COST_LOOK, { call_id });
      return isSilent ? undefined : 'unknown';
    }
    await sql(POSTPONE_COST_LOOK, { call_id, due_at: new Date(now.getTime() + wait * MINUTE_MS) });
    return undefined;
  });
}
