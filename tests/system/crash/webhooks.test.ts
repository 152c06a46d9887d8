import { Webhook } from 'standardwebhooks';
import { eventually } from '../../support/engine-process';
import { kill } from '../../support/job-process';
import { checkPayload, startReceiver } from '../../support/receiver';
import { useWorld } from '../../support/use-world';
import { startWebhookProcess } from '../../support/webhook-process';
import { buildWebhookHelpers, parseCallId } from '../../support/webhooks';

// Webhooks arrive although the processes that send them are killed.

const world = useWorld({ environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' } });
const here = buildWebhookHelpers(world);

test('1,000 events arrive despite failures and kills, signed, with one id each', async () => {
  // It fails every second attempt of an event, while the worker is killed twice.
  const tries = new Map<string, number>();
  const receiver = await startReceiver(({ headers }) => {
    const id = headers['webhook-id'] as string;
    tries.set(id, (tries.get(id) ?? 0) + 1);
    return tries.get(id)! % 2 === 1 ? 500 : 200;
  });
  world.closeLater(receiver.close);
  const { secret } = await here.hook(receiver.url, { retries: 9 });
  const options = { lease_ms: 1_500, delays: [1] };
  const startOne = () => startWebhookProcess(world, options);
  const first = await startOne();
  const calls = here.calls(1_000);
  await eventually(() => receiver.received.length > 200);
  await kill(first);
  const second = await startOne();
  await eventually(() => receiver.received.length > 900);
  await kill(second);
  const third = await startOne();
  const ids = await calls;
  const arrived = () =>
    new Set(
      receiver.received
        .filter(({ answered }) => answered === 200)
        .map(({ body }) => parseCallId(body)),
    );
  await eventually(() => arrived().size === 1_000, 50);
  await kill(third);
  expect([...arrived()].toSorted((a, b) => a - b)).toEqual(ids);
  const names = new Map<number, Set<string>>();
  for (const { body, headers } of receiver.received) {
    const call = parseCallId(body);
    names.set(call, (names.get(call) ?? new Set()).add(headers['webhook-id'] as string));
    new Webhook(secret).verify(body, headers as Record<string, string>);
    checkPayload(body);
  }
  expect([...names.values()].every((uuids) => uuids.size === 1)).toBe(true);
  expect(new Set([...names.values()].flatMap((uuids) => [...uuids])).size).toBe(1_000);
});
