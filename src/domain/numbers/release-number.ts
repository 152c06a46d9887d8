import type { Carrier } from '../../platform/carriers/carrier';
import { toKey } from '../../data/references';
import type { Db } from '../../data/db';
import { deletedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import type { JobContext, Queue } from '../../data/jobs/queue';
import type { Tasks } from '../../data/jobs/tasks';
import { carrierUnavailable } from './find-numbers';
import { REMOVE_NUMBER_FROM_LEADS } from './queries/leads';

interface ReleaseContext {
  carrier: Carrier;
  queue: Queue;
  now: Date;
}

/**
 * Releases a locked number of the company at the carrier. The carrier is asked last: when it
 * declines, the transaction rolls back. Releasing a number twice is no error.
 */
export async function releaseNumber(
  db: Db,
  id: bigint,
  { carrier, queue, now }: ReleaseContext,
): Promise<void> {
  const where = toKey(db, id);
  const number = await db.prisma.number.update({
    where,
    data: deletedAt(now),
  });
  const { phone_number } = number;
  await db.prisma.numberLookup.deleteMany({ where: { phone_number, company_id: db.company_id } });
  db.afterCommit(() => void db.keys.release('number', String(phone_number)));
  await queue.add(db, 'forget_number', { company_id: String(db.company_id), id: String(id) });
  if (number.carrier_number_id === null) return;
  if (number.carrier !== carrier.name) {
    // The sandbox never sold a real number.
    if (number.carrier === 'sandbox') return;
    throw HttpProblem.field(
      'carrier',
      'carrier_refused',
      `is ${number.carrier}, and this installation works with ${carrier.name} now: ` +
        `only ${number.carrier} can release the number`,
    );
  }
  const released = await carrier.releaseNumber(number.carrier_number_id);
  if (released.ok) return;
  if (released.retryable) throw carrierUnavailable(released, 'The number is still yours.');
  throw HttpProblem.field(
    'phone_number',
    'carrier_refused',
    `cannot be released (${released.message})`,
  );
}

/**
 * Removes a released number from the leads that had it, in batches in the order of ids. No index
 * serves this rare job.
 */
export async function forgetNumber(
  { company_id, id }: Tasks['forget_number'],
  { signal }: JobContext,
  { tenants }: Pick<Deps, 'tenants'>,
): Promise<void> {
  const db = tenants.of(BigInt(company_id));
  for (let after: string | null = '0'; after !== null;) {
    signal.throwIfAborted();
    const rows: { last: string | null }[] = await db.sql(REMOVE_NUMBER_FROM_LEADS, {
      after,
      number_id: id,
    });
    after = rows[0]!.last;
  }
}
