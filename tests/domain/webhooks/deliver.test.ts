import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { type Deps } from '../../../src/domain/deps';
import type { Running } from '../../../src/data/jobs/loop';
import { startWebhooks } from '../../../src/main/background/start';
import { fanOutWebhookEvents } from '../../../src/domain/webhooks/fan-out-events';
import { confirmAddress } from '../../support/confirmed-addresses';
import { eventually, createGate } from '../../support/engine-process';
import { startReceiver, type Answer, type Received } from '../../support/receiver';
import { parseCallId, buildWebhookHelpers } from '../../support/webhooks';
import { useWorld } from '../../support/use-world';

const ALLOWED = { WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' };
const world = useWorld({ fresh: 'world', environment: ALLOWED });
const { api } = world;
const here = buildWebhookHelpers(world);

const openReceiver = async (
  answer?: (received: Omit<Received, 'answered'>, n: number) => Answer,
) => {
  const receiver = await startReceiver(answer);
  world.closeLater(receiver.close);
  return receiver;
};
const start = (
  options: Parameters<typeof startWebhooks>[1] = {},
  deps: Deps = world.deps,
): Running => {
  const running = startWebhooks(deps, { delays: [1], ...options });
  world.closeLater(running.stop);
  return running;
};

test('a receiver that hangs, with many webhooks, does not delay the others', async () => {
  const held = new Set<ServerResponse>();
  let most = 0;
  const hanging = await openReceiver(() => (res) => {
    most = Math.max(most, held.add(res).size);
    // On a busy machine, a request may end by its timeout and come again.
    res.once('close', () => held.delete(res));
  });
  const well = await openReceiver();
  for (let n = 0; n < 24; n++) await here.hook(hanging.url);
  await here.hook(well.url);
  await here.calls(100);
  start();
  await eventually(() => well.received.length === 100);
  expect(well.received.map(({ body }) => parseCallId(body))).toEqual(
    well.received.map(({ body }) => parseCallId(body)).toSorted((a, b) => a - b),
  );
  // At most ten at once; it has not responded to any of them yet.
  await eventually(() => most >= 10);
  expect(most).toBe(10);
  held.forEach((res) => void res.writeHead(200).end());
});

test('two workers send the events of a webhook in order, one after the other', async () => {
  let atOnce = 0;
  let most = 0;
  const receiver = await openReceiver(() => (res) => {
    most = Math.max(most, ++atOnce);
    setTimeout(() => {
      atOnce--;
      res.writeHead(200).end();
    }, 2);
  });
  await here.hook(receiver.url);
  const otherDeps = world.openProcess(ALLOWED);
  start({ lease_ms: 1_000 });
  start({ lease_ms: 1_000 }, otherDeps);
  const ids = await here.calls(300);
  await eventually(() => receiver.received.length === 300);
  expect([most, receiver.received.map(({ body }) => parseCallId(body))]).toEqual([1, ids]);
});

test('a worker that lost its lease writes no results, and another one continues', async () => {
  const { open, opened } = createGate();
  const receiver = await openReceiver((_, n) =>
    n === 0 ? (res) => void opened.then(() => res.writeHead(200).end()) : 200,
  );
  const { id } = await here.hook(receiver.url);
  await here.calls(1);
  // Its renewals come too late: another worker takes the queue over when the lease has ended.
  const stuck = startWebhooks(
    { ...world.deps, clock: () => new Date(Date.now() - 60_000) },
    { lease_ms: 20_000, delays: [1] },
  );
  await eventually(() => receiver.received.length === 1);
  start();
  await eventually(async () => (await here.logs(id)).length === 1);
  open();
  await stuck.stop();
  expect(new Set(receiver.ids()).size).toBe(1);
  expect([receiver.received.length, (await here.logs(id)).length, await here.statuses(id)]).toEqual(
    [2, 1, ['delivered']],
  );
});

test('410 pauses the webhook and alerts; unpausing sends the deliveries that wait', async () => {
  let isGone = true;
  const receiver = await openReceiver(() => (isGone ? 410 : 200));
  const { id } = await here.hook(receiver.url, { alert_email: 'ops@example.com' });
  await confirmAddress(world, 'ops@example.com');
  await here.calls(3);
  start();
  await eventually(async () => (await here.shown(id)).paused);
  expect((await here.shown(id)).paused_reason).toContain('410');
  expect([await here.statuses(id), receiver.received.length]).toEqual([
    ['waiting', 'waiting', 'waiting'],
    1,
  ]);
  const mails = await world.sql<{ data: { news: string } }>(
    `SELECT data FROM jobs.job WHERE name = 'tell_of_webhook'`,
  );
  expect(mails).toMatchObject([{ data: { outgoing_webhook_id: String(id), news: 'paused' } }]);
  // Events in the meantime are not delivered.
  await here.calls(1);
  isGone = false;
  await here.ok('put', `outgoing_webhooks/${id}`, { paused: false });
  await eventually(async () => (await here.statuses(id)).every((status) => status === 'delivered'));
  expect([
    (await here.shown(id)).paused_reason,
    receiver.received.length,
    new Set(receiver.ids()).size,
  ]).toEqual([null, 4, 3]);
});

test('Retry-After is respected, redirects are not; dead deliveries can be resent', async () => {
  const answers: Answer[] = [
    (res) => void res.writeHead(429, { 'Retry-After': '3600' }).end(),
    302,
    500,
  ];
  const receiver = await openReceiver((_, n) => answers[n] ?? 200);
  const { id } = await here.hook(receiver.url, { retries: 1, alert_email: 'ops@example.com' });
  await confirmAddress(world, 'ops@example.com');
  start();
  await here.calls(1);
  await eventually(async () => (await here.logs(id)).length === 1);
  const [waiting] = await world.sql<{ in_minutes: number }>(
    `SELECT round(extract(epoch FROM due_at - now()) / 60)::int AS in_minutes
    FROM webhook_deliveries`,
  );
  expect(waiting!.in_minutes).toBe(60);
  const [log] = await here.logs(id);
  expect(log).toMatchObject({
    code: 429,
    success: false,
    attempt: 1,
    notes: expect.stringContaining('tried again at'),
  });
  const redelivered = await api('post', `webhook_logs/${log.id}/redeliver`);
  expect([redelivered.status, redelivered.body.webhook_log.id]).toEqual([202, log.id]);
  await eventually(async () => (await here.statuses(id))[0] === 'dead');
  const logs = await here.logs(id);
  expect(
    logs.map(({ code, attempt }: { code: number; attempt: number }) => [code, attempt]),
  ).toEqual([
    [429, 1],
    [302, 1],
    [500, 2],
  ]);
  expect([logs[1].notes, logs[2].notes]).toEqual([
    expect.stringContaining('not followed'),
    expect.stringContaining('dead'),
  ]);
  expect(
    await world.sql(`SELECT data->>'news' AS news FROM jobs.job WHERE name = 'tell_of_webhook'`),
  ).toEqual([{ news: 'dead' }]);
  await here.ok('post', `webhook_logs/${log.uuid}/redeliver`);
  await eventually(async () => (await here.statuses(id))[0] === 'delivered');
  expect(new Set(receiver.ids()).size).toBe(1);
  await here.ok('delete', `outgoing_webhooks/${id}`);
  expect((await api('post', `webhook_logs/${log.id}/redeliver`)).body.errors).toEqual({
    id: [expect.stringContaining('deleted')],
  });
});

describe('all failed events of a webhook', () => {
  const redeliver = (id: number, body: object = {}) =>
    here.ok('post', `outgoing_webhooks/${id}/redeliver_failed`, body);
  /** A webhook with four events: one delivered, two dead, one that waits for its next attempt. */
  const failSome = async (answer: () => Answer) => {
    const receiver = await openReceiver(() => answer());
    const { id } = await here.hook(receiver.url);
    const ids = await here.calls(4);
    await fanOutWebhookEvents(world.deps);
    await world.sql(
      `UPDATE webhook_deliveries d
      SET status = x.status, attempts = x.attempts, due_at = x.due_at
      FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM webhook_deliveries
          WHERE outgoing_webhook_id = $1) o
        JOIN (VALUES (1, 'dead', 10, NULL), (2, 'delivered', 1, NULL),
          (3, 'waiting', 3, now() + interval '9 hours'), (4, 'dead', 10, NULL)
        ) x (n, status, attempts, due_at) ON x.n = o.n
      WHERE d.id = o.id`,
      [id],
    );
    return { id, receiver, failedIds: [ids[0], ids[2], ids[3]] };
  };

  test('are sent again in their order, and those that have arrived are not', async () => {
    const { id, receiver, failedIds } = await failSome(() => 200);
    start();
    expect(await redeliver(id)).toMatchObject({ redelivered: 3, remaining: 0 });
    await eventually(async () => !(await here.statuses(id)).includes('waiting'));
    expect(receiver.received.map(({ body }) => parseCallId(body))).toEqual(failedIds);
    expect(new Set(await here.statuses(id))).toEqual(new Set(['delivered']));
    expect(await redeliver(id)).toMatchObject({ redelivered: 0, remaining: 0 });
  });

  test('are sent once, however often that is requested at the same time', async () => {
    const { id, receiver } = await failSome(() => 200);
    start();
    const counts = await Promise.all(Array.from({ length: 8 }, () => redeliver(id)));
    expect(counts.reduce((sum, { redelivered }) => sum + Number(redelivered), 0)).toBe(3);
    await eventually(async () => !(await here.statuses(id)).includes('waiting'));
    expect(receiver.received.length).toBe(3);
  });

  test('are counted from the start again, and those of a paused webhook wait', async () => {
    const { id, receiver } = await failSome(() => 500);
    await here.ok('put', `outgoing_webhooks/${id}`, { paused: true });
    expect(await redeliver(id)).toMatchObject({ redelivered: 3 });
    const [queue] = await world.sql<{ next_due_at: Date | null }>(
      'SELECT next_due_at FROM webhook_queues WHERE outgoing_webhook_id = $1',
      [id],
    );
    expect([queue!.next_due_at, receiver.received.length]).toEqual([null, 0]);
    await here.ok('put', `outgoing_webhooks/${id}`, { paused: false });
    start({ delays: [1_000_000] });
    await eventually(async () => (await here.logs(id)).length === 3);
    expect((await here.logs(id)).map(({ attempt }: { attempt: number }) => attempt)).toEqual([
      1, 1, 1,
    ]);
  });

  test('are so many at most, the oldest first, and the number of the others is known', async () => {
    const { id } = await failSome(() => 200);
    const counts = await world.sql(
      `SELECT redelivered::int, remaining::int
      FROM redeliver_failed($1, $2, NULL, NULL, 2, now())`,
      [world.company.id, id],
    );
    expect([counts, await here.statuses(id)]).toEqual([
      [{ redelivered: 2, remaining: 1 }],
      ['waiting', 'delivered', 'waiting', 'dead'],
    ]);
  });

  test('are those of a period, of one company, that can be sent', async () => {
    const { id } = await failSome(() => 200);
    await world.sql(
      `UPDATE webhook_deliveries SET created_at = '2026-03-01T12:00:00Z'
      WHERE id = (SELECT min(id) FROM webhook_deliveries WHERE outgoing_webhook_id = $1)`,
      [id],
    );
    expect(await redeliver(id, { to: '2026-02-28' })).toMatchObject({ redelivered: 0 });
    // An erased event, and one whose body was too large.
    const spoil = (set: string) =>
      world.sql(
        `UPDATE webhook_deliveries SET ${set}
        WHERE id = (SELECT max(id) FROM webhook_deliveries WHERE outgoing_webhook_id = $1)`,
        [id],
      );
    await spoil('request_body = NULL');
    expect(await redeliver(id, { from: '2026-03-02' })).toMatchObject({ redelivered: 1 });
    await spoil(`request_method = 'GET', request_url = ''`);
    expect(await redeliver(id, { from: '2026-03-01', to: '2026-03-01' })).toMatchObject({
      redelivered: 1,
    });
    expect(await redeliver(id)).toMatchObject({ redelivered: 0 });
    const other = await world.addCompany();
    const path = `outgoing_webhooks/${id}/redeliver_failed`;
    expect((await other.api('post', path)).status).toBe(404);
    await here.ok('delete', `outgoing_webhooks/${id}`);
    expect((await api('post', path)).status).toBe(404);
  });
});

test('both secrets verify for a day after a rotation, later only the new one', async () => {
  let now = new Date();
  const receiver = await openReceiver();
  const { id, secret: old } = await here.hook(receiver.url);
  const rotated = (await here.ok('post', `outgoing_webhooks/${id}/rotate_secret`)) as {
    secret: string;
    outgoing_webhook: { secret_version: number };
  };
  expect([
    rotated.outgoing_webhook.secret_version,
    rotated.secret === old,
    rotated.secret.startsWith('whsec_'),
  ]).toEqual([2, false, true]);
  expect((await here.ok('post', `outgoing_webhooks/${id}/rotate_secret`)).secret).not.toBe(
    rotated.secret,
  );
  await world.sql('UPDATE outgoing_webhooks SET secret_version = 2');
  start({}, { ...world.deps, clock: () => now });
  await here.calls(1);
  await eventually(() => receiver.received.length === 1);
  const verify = (secret: string, { body, headers }: Received) =>
    new Webhook(secret).verify(body, headers as Record<string, string>);
  for (const secret of [old, rotated.secret]) verify(secret, receiver.received[0]!);
  expect(receiver.received[0]!.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
  await world.sql(`UPDATE outgoing_webhooks SET secret_rotated_at = now() - interval '25 hours'`);
  now = new Date();
  await here.calls(1);
  await eventually(() => receiver.received.length === 2);
  verify(rotated.secret, receiver.received[1]!);
  expect(() => verify(old, receiver.received[1]!)).toThrow();
});

test('parallel processes make the deliveries of an event once', async () => {
  const receiver = await openReceiver();
  const { id } = await here.hook(receiver.url);
  await here.calls(50);
  const counts = await Promise.all(
    Array.from({ length: 6 }, () => fanOutWebhookEvents(world.deps)),
  );
  expect([counts.reduce((sum, n) => sum + n, 0), (await here.statuses(id)).length]).toEqual([
    50, 50,
  ]);
});
