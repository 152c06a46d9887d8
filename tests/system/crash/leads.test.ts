import { eventually, startEngineProcess } from '../../support/engine-process';
import { kill } from '../../support/job-process';
import { DIAL, fillSchedule, openShop, runEngine, SMS, wait } from '../../support/leads';
import { repetitions } from '../../support/repetitions';
import { useWorld } from '../../support/use-world';

const world = useWorld();

const count = async (expression: string, table: string): Promise<number> =>
  Number(
    (
      await world.sql<{ n: string }>(
        `SELECT ${expression} AS n FROM ${table} WHERE company_id = $1`,
        [world.company.id],
      )
    )[0]!.n,
  );

test('leads of a killed worker are taken over, and nothing is done twice', async () => {
  const leads = repetitions(1_000, 3_000);
  const actions = [SMS, wait(1, 'seconds'), { ...SMS, body: 'Two' }, DIAL];
  const anyTime = { daylight_hours: '00:00..23:59' };
  const shop = await openShop(world, actions as never, anyTime, world.company);
  const child = await startEngineProcess(world, 1_500);
  await fillSchedule(world, shop.schedule.id, {
    first: 12_122_000_000,
    count: leads,
    now: new Date(),
  });
  const countSent = () => count('count(*)', 'text_messages');
  await eventually(async () => (await countSent()) >= 200);
  await kill(child);
  expect(await countSent()).toBeLessThan(2 * leads);
  const countLeft = () => count('count(*) FILTER (WHERE is_live)', 'leads');
  await eventually(async () => (await runEngine(world)) === 0 && (await countLeft()) === 0, 100);
  const steps = 'count(DISTINCT (lead_id, schedule_action_id))';
  expect([await countSent(), await count(steps, 'text_messages')]).toEqual([2 * leads, 2 * leads]);
  expect(await count('count(*)', 'calls')).toBe(leads);
  const complete = 'count(*) FILTER (WHERE sms_count = 2 AND calls_count = 1)';
  expect(await count(complete, 'contacts')).toBe(leads);
});
