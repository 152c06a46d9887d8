import { TIMING } from '../../../src/data/jobs/queue';
import { startWorkers } from '../../../src/data/jobs/workers';
import { createRunners } from '../../../src/main/background/runners';
import {
  newPath,
  loadOutcomes,
  type Queued,
  queueWebhook,
  run,
  setUp,
  listReceived,
  world,
} from '../../support/action-webhooks';
import { eventually } from '../../support/engine-process';

setUp();

describe('a job that runs again', () => {
  test.each([
    ['after it was done', async (job: Queued) => [await run(job), await run(job)]],
    ['at the same time', (job: Queued) => Promise.all([run(job), run(job), run(job)])],
  ])('%s records one outcome', async (_name, twice) => {
    const path = newPath();
    const job = await queueWebhook(path);
    await twice(job);
    expect((await loadOutcomes(job)).map(({ event }) => event)).toEqual(['webhook_delivered']);
    expect(new Set(listReceived(path).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  test('after it was given up sends nothing more', async () => {
    const job = await queueWebhook('/down/2');
    for (let tries = 1; tries < 5; tries++) await expect(run(job)).rejects.toThrow('answered 500');
    await run(job);
    await run(job);
    expect([listReceived('/down/2').length, (await loadOutcomes(job)).length]).toEqual([5, 1]);
  });

  test('whose lead is deleted sends nothing', async () => {
    const path = newPath();
    const job = await queueWebhook(path);
    expect((await world.company.api('delete', `leads/${job.lead_id}/id`)).status).toBe(200);
    await run(job);
    expect([listReceived(path), await loadOutcomes(job)]).toEqual([[], []]);
  });

  test('whose action is deleted or changed its type sends nothing and logs that', async () => {
    const path = newPath();
    const [deletedJob, changedJob] = [await queueWebhook(path), await queueWebhook(path)];
    expect(
      (await world.company.api('delete', `schedule_actions/${deletedJob.schedule_action_id}`))
        .status,
    ).toBe(200);
    const changed = await world.company.api(
      'put',
      `schedule_actions/${changedJob.schedule_action_id}`,
      {
        body: { action_type: 'exit' },
      },
    );
    expect(changed.status).toBe(200);
    await run(deletedJob);
    await run(changedJob);
    const failed = [
      {
        event: 'webhook_failed',
        message: expect.stringContaining('the action is gone'),
        details: { tries: 0 },
      },
    ];
    expect([
      listReceived(path),
      await loadOutcomes(deletedJob),
      await loadOutcomes(changedJob),
    ]).toMatchObject([[], failed, failed]);
  });

  test('whose process is to end sends nothing, and is left to another', async () => {
    const path = newPath();
    const job = await queueWebhook(path);
    await expect(run(job, { signal: AbortSignal.abort() })).rejects.toThrow();
    expect([listReceived(path), await loadOutcomes(job)]).toEqual([[], []]);
  });
});

describe('a worker', () => {
  test('retries under the same Webhook-Id until it is delivered, at most five times', async () => {
    const jobs = [await queueWebhook('/flaky/1'), await queueWebhook('/down/1')];
    const { deps } = world;
    const timing = { ...TIMING, poll_ms: 50 };
    const { stop } = await startWorkers({ ...deps, runners: createRunners(deps), timing });
    await eventually(async () => {
      // A retry that waits for its time is due.
      await world.sql(`UPDATE jobs.job SET due_at = now() WHERE expires_at IS NULL`);
      return (await Promise.all(jobs.map(loadOutcomes))).every((logs) => logs.length > 0);
    }, 50);
    const ids = (path: string) => listReceived(path).map(({ headers }) => headers['webhook-id']);
    expect(ids('/flaky/1')).toEqual(Array(4).fill(`lead_log_${jobs[0]!.lead_log_id}`));
    expect(ids('/down/1')).toEqual(Array(5).fill(`lead_log_${jobs[1]!.lead_log_id}`));
    expect(await loadOutcomes(jobs[0]!)).toMatchObject([
      { event: 'webhook_delivered', message: 'answered 200', details: { tries: 4 } },
    ]);
    expect(await loadOutcomes(jobs[1]!)).toMatchObject([
      { event: 'webhook_failed', message: 'answered 500', details: { tries: 5, code: 500 } },
    ]);
    const left = `SELECT FROM jobs.job
      WHERE name = 'send_action_webhook' AND data->>'lead_log_id' = ANY($1)`;
    const idsOfLogs = jobs.map(({ lead_log_id }) => lead_log_id);
    await eventually(async () => (await world.sql(left, [idsOfLogs])).length === 0);
    await stop();
  });
});
