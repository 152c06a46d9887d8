import { randomUUID } from 'node:crypto';
import { claimQueues, queueKey } from '../../../src/domain/webhooks/lease-queues';
import { buildWebhookHelpers } from '../../support/webhooks';
import type { Company } from '../../support/world';
import { useWorld } from '../../support/use-world';

// The share of a company in the queues that the fleet serves.

const world = useWorld({
  fresh: 'world',
  environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' },
});

const NOW = new Date('2026-06-01T12:00:00Z');
const UNTIL = new Date('2026-06-01T12:00:15Z');

/** Makes webhooks of a company to receivers of their own, due since so many seconds. */
async function createDueQueues(company: Company, count: number, seconds: number) {
  const { hook } = buildWebhookHelpers({ ...world, company });
  for (let n = 0; n < count; n++) await hook(`http://127.0.0.1:${10_000 + n}/`);
  await world.sql('UPDATE webhook_queues SET next_due_at = $1 WHERE company_id = $2', [
    new Date(NOW.getTime() - seconds * 1000),
    company.id,
  ]);
}

/** A process that serves what it has claimed. */
function openProcess() {
  const worker = randomUUID();
  const served = new Set<string>();
  return async (max: number, companyMax = 100) => {
    const claim = { worker, now: NOW, until: UNTIL, full: [], served: [...served] };
    const queues = await claimQueues(world.deps.database.sql, {
      ...claim,
      max,
      company_max: companyMax,
    });
    for (const queue of queues) served.add(queueKey(queue));
    return queues.map(({ company_id }) => company_id).toSorted();
  };
}

test('companies take turns, however long the queues of one have been due', async () => {
  const [flood, otherCompany] = [world.company, await world.addCompany()];
  await createDueQueues(flood, 6, 3_600);
  await createDueQueues(otherCompany, 2, 1);
  const [f, o] = [String(flood.id), String(otherCompany.id)];
  expect(await openProcess()(4)).toEqual([f, f, o, o]);
});

test('what other processes serve counts', async () => {
  const [flood, otherCompany] = [world.company, await world.addCompany()];
  await createDueQueues(flood, 8, 3_600);
  const [leaseFirst, leaseSecond] = [openProcess(), openProcess()];
  expect(await leaseFirst(4)).toHaveLength(4);
  await createDueQueues(otherCompany, 3, 1);
  expect(await leaseSecond(3)).toEqual(Array(3).fill(String(otherCompany.id)));
  expect(await leaseSecond(3)).toEqual(Array(3).fill(String(flood.id)));
});

test('a process serves no more of a company than its share, and leaves the rest free', async () => {
  const [flood, otherCompany] = [world.company, await world.addCompany()];
  await createDueQueues(flood, 6, 3_600);
  const [leaseFirst, leaseSecond] = [openProcess(), openProcess()];
  expect(await leaseFirst(8, 2)).toEqual(Array(2).fill(String(flood.id)));
  expect(await leaseFirst(6, 2)).toEqual([]);
  expect(await leaseSecond(8, 2)).toEqual(Array(2).fill(String(flood.id)));
  await createDueQueues(otherCompany, 1, 1);
  expect(await leaseFirst(6, 2)).toEqual([String(otherCompany.id)]);
});

test('processes that claim at the same time serve each queue once', async () => {
  await createDueQueues(world.company, 20, 60);
  const processes = Array.from({ length: 5 }, openProcess);
  const claimed: string[] = [];
  while (claimed.length < 20)
    claimed.push(...(await Promise.all(processes.map((claim) => claim(5)))).flat());
  expect(claimed).toHaveLength(20);
});
