import type { Carrier } from '../carriers/carrier';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { JobContext, Queue } from '../jobs/queue';
import type { Tasks } from '../jobs/tasks';
import { HttpProblem } from '../errors';
import { carrierUnavailable } from './find-numbers';

interface Releasing {
  carrier: Carrier;
  queue: Queue;
  now: Date;
}

/**
 * Gives a locked number of the company back. The carrier is asked last: what it refuses has changed nothing, and what it did before this process died
 * it answers again as done.
 */
export async function releaseNumber(
  db: Db,
  id: bigint,
  { carrier, queue, now }: Releasing,
): Promise<void> {
  const where = { company_id_id: { company_id: db.company_id, id } };
  const number = await db.prisma.number.update({
    where,
    data: { deleted_at: now, updated_at: now, user_updated_at: now },
  });
  await db.query({
    text: 'DELETE FROM number_lookups WHERE phone_number = $1::bigint AND company_id = $2',
    values: [number.phone_number, db.company_id],
  });
  await queue.add(db, 'forget_number', { company_id: String(db.company_id), id: String(id) });
  if (number.carrier_number_id === null) return;
  if (number.carrier !== carrier.name) {
    // What the sandbox sold was never anybody's.
    if (number.carrier === 'sandbox') return;
    throw HttpProblem.field(
      'carrier',
      `is ${number.carrier}, and this installation works with ${carrier.name} now: the number can be released there only`,
    );
  }
  const released = await carrier.releaseNumber(number.carrier_number_id);
  if (released.ok) return;
  if (released.retryable) throw carrierUnavailable(released, 'The number is still yours.');
  throw HttpProblem.field('phone_number', `cannot be released (${released.message})`);
}

const BATCH = 10_000;

/** Takes a released number from the leads that had it, in the order of their ids: no index of leads is kept for what happens so seldom. */
export async function forgetNumber(
  { company_id, id }: Tasks['forget_number'],
  { signal }: JobContext,
  { tenants }: Pick<Deps, 'tenants'>,
): Promise<void> {
  const db = tenants.of(BigInt(company_id));
  const text = `WITH batch AS (SELECT l.id FROM leads l WHERE l.company_id = $1 AND l.id > $3::bigint ORDER BY l.id LIMIT ${BATCH}),
    theirs AS (SELECT l.id FROM leads l JOIN batch b ON b.id = l.id WHERE l.company_id = $1 AND $2::bigint IN (l.sms_number_id, l.dial_number_id) ORDER BY l.id FOR UPDATE OF l),
    changed AS (UPDATE leads l SET sms_number_id = nullif(l.sms_number_id, $2::bigint), dial_number_id = nullif(l.dial_number_id, $2::bigint)
      FROM theirs t WHERE l.company_id = $1 AND l.id = t.id)
    SELECT max(id)::text AS last FROM batch`;
  for (let last: string | null = '0'; last !== null;) {
    signal.throwIfAborted();
    const rows: { last: string | null }[] = await db.query({
      text,
      values: [company_id, id, last],
    });
    last = rows[0]!.last;
  }
}
