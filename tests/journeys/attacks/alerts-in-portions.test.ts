import { enqueueAlertMails } from '../../../src/domain/alerts/tell-of-alert';
import { createRuleWatcher } from '../../../src/domain/alerts/watch';
import { confirmAddress } from '../../support/confirmed-addresses';
import type { Fields } from '../../support/records';
import { repetitions } from '../../support/repetitions';
import { useWorld } from '../../support/use-world';

// All alerts of a rule are sent, however many: in portions that commit, with one job per alert. A
// rule that fails records its error and does not stop other rules.

const world = useWorld({ fresh: 'company' });
const { api, ok, create } = world;
beforeEach(async () => {
  // A pass looks at all companies.
  await world.sql('UPDATE alert_rules SET paused = true');
  await world.sql('UPDATE alerts SET ended_at = now() WHERE ended_at IS NULL');
});

/** No time limit: the machine may be slow. */
const ALL = { max_company_ms: Infinity };
const EMAILS = Array.from({ length: 20 }, (_, n) => `desk${n}@network.example`);
const rule = (fields: Fields = {}) =>
  create('alert_rules', { name: 'Rule', kind: 'balance_low', amount: 1, ...fields });
const show = async (id: number) => (await ok('get', `alert_rules/${id}`)).alert_rule;

/** Prepaid buyers without money, copied from one that the API has made. */
async function addPoorBuyers(count: number): Promise<void> {
  const id = await create('buyers', { name: 'Bayline', number: '+12125550100', prepaid: true });
  for (const table of ['buyers', 'call_limits']) {
    const idColumn = table === 'buyers' ? 'id' : 'buyer_id';
    const [columns] = await world.sql<{ names: string }>(
      `SELECT string_agg(quote_ident(column_name), ', ') AS names
        FROM information_schema.columns
        WHERE table_name = $1 AND table_schema = current_schema() AND is_generated = 'NEVER'
          AND column_name NOT IN ('id', 'uuid', 'buyer_id')`,
      [table],
    );
    const { names } = columns!;
    const keys = table === 'buyers' ? 'id, uuid' : 'buyer_id';
    const values = table === 'buyers' ? '$3 + n, gen_random_uuid()' : '$3 + n';
    await world.sql(
      `INSERT INTO ${table} (${keys}, ${names})
        SELECT ${values}, ${names} FROM ${table}, generate_series(1, $2) n
        WHERE company_id = $1 AND ${idColumn} = $3::bigint`,
      [world.company.id, count - 1, id],
    );
  }
}
const openAlerts = async (): Promise<number> =>
  (await ok('get', 'alerts?open=true&per_page=1')).metadata.total_count;
const jobs = async (name: string): Promise<{ id: string; data: never }[]> =>
  world.sql(`SELECT id, data FROM jobs.job WHERE name = $1 AND data ->> 'company_id' = $2`, [
    name,
    String(world.company.id),
  ]);

const ALERTS = repetitions(250, 2_500);

test(`${ALERTS} alerts of a rule with 20 addresses are begun and ended, with a job for each`, async () => {
  await addPoorBuyers(ALERTS);
  const id = await rule({ emails: EMAILS });
  // Two processes at once.
  const options = { ...ALL, portion: ALERTS / 5 };
  const watchers = [1, 2].map(() => createRuleWatcher(world.deps, options));
  const watch = async () => {
    while ((await Promise.all(watchers.map((watcher) => watcher()))).some(Boolean));
  };
  await watch();
  expect([await openAlerts(), (await jobs('tell_of_alert')).length]).toEqual([ALERTS, ALERTS]);
  expect(await show(id)).toMatchObject({ last_error: null, open_alerts_count: ALERTS });
  await world.sql('UPDATE call_limits SET balance = 5 WHERE company_id = $1', [world.company.id]);
  await watch();
  expect([await openAlerts(), (await jobs('tell_of_alert')).length]).toEqual([0, 2 * ALERTS]);
});

/** Alerts of the company cannot be written where the condition holds, until this is undone. */
async function refuseAlerts(condition: string): Promise<() => Promise<unknown>> {
  await world.sql(
    `CREATE FUNCTION refuse_alert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.company_id = ${world.company.id} AND ${condition} THEN
        RAISE EXCEPTION 'not this one';
      END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER refuse_alert BEFORE INSERT ON alerts
      FOR EACH ROW EXECUTE FUNCTION refuse_alert()`,
  );
  return () => world.sql('DROP TRIGGER refuse_alert ON alerts; DROP FUNCTION refuse_alert()');
}

test('a process that is stopped has done a portion, and the next goes on', async () => {
  await addPoorBuyers(5);
  await rule();
  const stopping = new AbortController();
  const clock = () => (stopping.abort(), world.deps.clock());
  const stopped = createRuleWatcher({ ...world.deps, clock }, { ...ALL, portion: 2 });
  expect([await stopped(stopping.signal), await openAlerts()]).toEqual([true, 2]);
  const watch = createRuleWatcher(world.deps, { ...ALL, portion: 2 });
  expect([await watch(), await openAlerts()]).toEqual([false, 5]);
});

test('what a pass has begun stays where it breaks off', async () => {
  await addPoorBuyers(5);
  await rule();
  const hasFour = '(SELECT count(*) FROM alerts WHERE company_id = NEW.company_id) >= 4';
  const allow = await refuseAlerts(hasFour);
  const watch = createRuleWatcher(world.deps, { ...ALL, portion: 2 });
  await watch();
  expect(await openAlerts()).toBe(4);
  await allow();
  await watch();
  expect(await openAlerts()).toBe(5);
});

test('a rule that fails says why, keeps no other from being told, and recovers', async () => {
  await addPoorBuyers(1);
  const [before, failing, after] = [await rule(), await rule(), await rule()];
  const allow = await refuseAlerts(`NEW.alert_rule_id = ${failing}`);
  const watch = createRuleWatcher(world.deps, ALL);
  await watch();
  for (const id of [before, after])
    expect(await show(id)).toMatchObject({ last_error: null, open_alerts_count: 1 });
  expect(await show(failing)).toMatchObject({
    open_alerts_count: 0,
    last_error: 'it failed inside the service; the log of the service has the reason',
    last_error_at: expect.any(String),
  });
  await allow();
  await watch();
  const recovered = { open_alerts_count: 1, last_error: null, last_error_at: null };
  expect(await show(failing)).toMatchObject(recovered);
});

test('a pass goes on with the rules that follow, where its time is over', async () => {
  await addPoorBuyers(1);
  for (let n = 0; n < 3; n++) await rule();
  const watch = createRuleWatcher(world.deps, { max_company_ms: -1 });
  const counts = [];
  for (let n = 0; n < 4; n++) {
    await watch();
    counts.push(await openAlerts());
  }
  expect(counts).toEqual([1, 2, 3, 3]);
});

test('a job that runs again queues the mails of an alert once', async () => {
  await addPoorBuyers(1);
  for (const email of EMAILS) await confirmAddress(world, email);
  await rule({ emails: EMAILS });
  await createRuleWatcher(world.deps, ALL)();
  const [job] = await jobs('tell_of_alert');
  await Promise.all([1, 2, 3].map(() => enqueueAlertMails(job!.data, world.deps)));
  expect(await jobs('mail_alert')).toHaveLength(20);
});

test('forty requests at once leave a company with a hundred rules', async () => {
  const answers = [];
  await Promise.all(Array.from({ length: 90 }, () => rule()));
  for (let n = 0; n < 40; n++)
    answers.push(
      api('post', 'alert_rules', {
        body: { name: 'One more', kind: 'webhook_paused' },
      }),
    );
  const refused = (await Promise.all(answers)).filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(30);
  for (const { status, body } of refused)
    expect([status, Object.keys(body.errors)]).toEqual([422, ['alert_rules']]);
  const otherCompany = await world.addCompany();
  const body = { name: 'Theirs', kind: 'webhook_paused' };
  expect((await otherCompany.api('post', 'alert_rules', { body })).status).toBe(201);
});
