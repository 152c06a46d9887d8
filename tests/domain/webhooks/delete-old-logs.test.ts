import { startWebhooks } from '../../../src/main/background/start';
import { deleteOldWebhookLogs } from '../../../src/domain/webhooks/delete-old-logs';
import { eventually } from '../../support/engine-process';
import { startReceiver } from '../../support/receiver';
import { buildWebhookHelpers } from '../../support/webhooks';
import { useWorld } from '../../support/use-world';

const DAY_MS = 24 * 3_600_000;
const world = useWorld({
  fresh: 'world',
  environment: { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' },
});

const deleteIn = (days: number) =>
  deleteOldWebhookLogs({ ...world.deps, clock: () => new Date(Date.now() + days * DAY_MS) }, 30);

test('deliveries are deleted with their logs when old, unless they wait', async () => {
  const here = buildWebhookHelpers(world);
  const receiver = await startReceiver();
  const { id } = await here.hook(receiver.url);
  const [callId] = await here.calls(3);
  const fired = (
    await here.ok('post', 'webhook_manual_fires', { outgoing_webhook_id: id, call_id: callId })
  ).webhook_manual_fire;
  const running = startWebhooks(world.deps, { delays: [1] });
  await eventually(async () => (await here.logs(id)).length === 4);
  await running.stop();
  await receiver.close();
  const [, waiting, recentDelivery] = (
    await world.sql<{ id: string }>('SELECT id FROM webhook_deliveries ORDER BY id')
  ).map((row) => row.id);
  await world.sql(
    `UPDATE webhook_deliveries SET status = 'waiting', due_at = now() WHERE id = $1`,
    [waiting],
  );
  await world.sql(
    `UPDATE webhook_logs SET created_at = now() + interval '20 days'
    WHERE webhook_delivery_id = $1`,
    [recentDelivery],
  );
  const shown = async () =>
    (await here.ok('get', `webhook_manual_fires/${fired.id}`)).webhook_manual_fire
      .webhook_log_ids as number[];
  const left = async () =>
    (
      await world.sql<{ id: string }>(
        'SELECT webhook_delivery_id AS id FROM webhook_logs ORDER BY 1',
      )
    ).map((row) => row.id);

  await deleteIn(29);
  expect([(await left()).length, (await shown()).length]).toEqual([4, 1]);
  await Promise.all([deleteIn(31), deleteIn(31)]);
  expect([await left(), await shown(), (await here.statuses(id)).length]).toEqual([
    [waiting, recentDelivery].toSorted(),
    [],
    2,
  ]);
  const [counted] = await world.sql<{ n: number }>(
    `SELECT sum(n)::int AS n FROM record_counts WHERE resource = 'webhook_logs'`,
  );
  expect(counted!.n).toBe(2);
  await deleteIn(60);
  expect(await left()).toEqual([waiting]);
});

test('old logs of pre-dial requests are deleted', async () => {
  const { id } = await buildWebhookHelpers(world).hook('http://127.0.0.1:9999');
  await world.sql(
    `INSERT INTO webhook_logs (
      company_id, uuid, created_at, outgoing_webhook_id, trigger_type, event_id, attempt,
      request_headers, started_at, duration, success
    )
    SELECT $1, gen_random_uuid(), now() - n * interval '20 days', $2, 'before_buyer_dialled',
      gen_random_uuid(), 1, '{}', now(), 1, true
    FROM generate_series(2, 0, -1) n`,
    [world.company.id, id],
  );
  await deleteIn(0);
  expect(await world.sql('SELECT count(*)::int AS n FROM webhook_logs')).toEqual([{ n: 2 }]);
});
