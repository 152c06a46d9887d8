import type { Statements } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import type { Endpoint } from './read-request';
import { COUNT_OPEN_HOLDS, LOCK_HOLDS } from './queries/holds';

/** A seller offers a caller once or twice; more often would only keep buyers from other callers. */
const MAX_OF_CALLER = 5;

export interface NewHold {
  endpoint: Endpoint;
  /** The network that the request comes from. */
  from: string;
  /** E.164 without the plus. */
  caller_number: number;
  now: Date;
  /** The ping whose hold the new one replaces. */
  replaces?: string | null;
}

/**
 * Throws 429 if the address, or the caller that it offers, has as many open holds at an endpoint as
 * it may have. Locks until the end of the transaction make this exact; that of the caller comes
 * before that of the address. Without the lock of the address, at most as many holds can be under
 * way as the database has connections: an address waits for its other pings only near its limit.
 */
export async function limitHolds(
  db: Statements,
  { endpoint, from, caller_number, now, replaces = null }: NewHold,
): Promise<void> {
  const hold = { inbound_webhook_id: endpoint.id, remote_ip: from, caller_number };
  const lock = (whose: string) => db.sql(LOCK_HOLDS, { inbound_webhook_id: endpoint.id, whose });
  const count = async () => (await db.sql(COUNT_OPEN_HOLDS, { ...hold, replaces, now }))[0]!;
  await lock(`caller ${caller_number}`);
  let open = await count();
  if (open.of_address + open.under_way >= endpoint.max_open_holds) {
    await lock(`address ${from}`);
    open = await count();
  }
  const { of_address, of_caller, next_end } = open;
  if (of_caller >= MAX_OF_CALLER) throw tooMany(of_caller, 'this caller', { next_end, now });
  if (of_address >= endpoint.max_open_holds)
    throw tooMany(of_address, 'this address', { next_end, now });
}

function tooMany(
  count: number,
  whose: string,
  { next_end, now }: { next_end: Date | null; now: Date },
): HttpProblem {
  const waitMs = next_end ? next_end.getTime() - now.getTime() : 1_000;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new HttpProblem(
    'rate_limited',
    `The endpoint already holds buyers for ${count} pings of ${whose}.` +
      ` The next hold ends in ${seconds} seconds.`,
    { headers: { 'Retry-After': String(seconds) } },
  );
}
