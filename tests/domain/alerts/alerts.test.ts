import { createRuleWatcher, type RuleWatcher } from '../../../src/domain/alerts/watch';
import { fanOutWebhookEvents } from '../../../src/domain/webhooks/fan-out-events';
import { confirmAddress } from '../../support/confirmed-addresses';
import type { Fields } from '../../support/records';
import { useMailWorld } from '../../support/sent-mail';

// Alerts: an alert begins once and ends once, however often and by however many processes its rule
// is evaluated, and its recipients are notified of both.

/** Monday 08:30 in New York. */
const MONDAY = '2026-06-01T12:30:00Z';
const here = useMailWorld({ clock: MONDAY, fresh: 'company' });
const { ok, create, nextNumber, clock: time } = here.world;
let watch: RuleWatcher;
let people = 0;
let to: string;
beforeAll(() => {
  watch = createRuleWatcher(here.world.deps, { max_company_ms: Infinity });
});
beforeEach(async () => {
  to = `desk${people++}@network.example`;
  await confirmAddress(here.world, to);
});

const rule = (fields: Fields) => create('alert_rules', { name: 'Rule', emails: [to], ...fields });
const buyer = (fields: Fields = {}) =>
  create('buyers', { name: 'Bayline', number: '+12125550100', ...fields });
const createOffer = (buyerIds: number[]) => create('offers', { name: 'Auto', buyer_ids: buyerIds });
const call = async (offerId: number, fields: Fields = {}) => {
  const body = { offer_id: offerId, caller_number: nextNumber('+1310555'), ...fields };
  return (await ok('post', 'call_sessions', body)).call_session;
};
const report = (
  session: { id: number; instruction: { dial: { attempt: string }[] } },
  event: string,
) =>
  ok('post', `call_sessions/${session.id}/events`, {
    event,
    attempt: session.instruction.dial[0]!.attempt,
  });
const later = (minutes: number) => time.later(minutes * 60);
/** The alerts of the company, and whether each lasts. */
const alerts = async (): Promise<[string, string, boolean][]> => {
  const { alerts: all } = await ok('get', 'alerts');
  return all.map(({ subject, message, ended_at }: Fields) => [subject, message, ended_at === null]);
};

test('a cap that is nearly used begins one alert, which ends with its window', async () => {
  await rule({ kind: 'cap_used', percent: 80 });
  const id = await buyer({ attempt_daily_limit: 5, attempt_total_limit: 100 });
  const offer = await createOffer([id]);
  for (let n = 0; n < 3; n++) await call(offer);
  await watch();
  expect(await alerts()).toEqual([]);
  await call(offer);
  await Promise.all([watch(), watch(), watch()]);
  await watch();
  const subject = `buyers/${id}/attempt_daily`;
  const message = 'Bayline: 80 % of attempt_daily is used (4 of 5)';
  expect(await alerts()).toEqual([[subject, message, true]]);
  const [mail] = await here.mailTo(to);
  expect(mail).toMatchObject({ subject: 'Rule' });
  expect(mail!.text).toBe(
    `${message}.\n\nIt began at 2026-06-01 12:30 UTC.\n\nAbout: /api/v1/${subject}\n`,
  );
  later(24 * 60);
  await Promise.all([watch(), watch()]);
  expect(await alerts()).toEqual([[subject, message, false]]);
  const [, end] = await here.mailTo(to, 2);
  expect([end!.subject, end!.text]).toEqual([
    'Rule: it is over',
    `${message}.\n\nIt began at 2026-06-01 12:30 UTC. It ended at 2026-06-02 12:30 UTC, after 1 d.` +
      `\n\nAbout: /api/v1/${subject}\n`,
  ]);
  expect(here.mails.filter((mail) => mail.to === to)).toHaveLength(2);
});

test('hourly caps of business hours, of groups and of sources count too, each by itself', async () => {
  const open = [0, 1, 2, 3, 4, 5, 6].map((day) => ({ day, times: ['00:00..23:59'] }));
  const id = await buyer({
    business_hours_schedule: [{ attempt_hourly_limit: 1, schedule: open }],
  });
  const { id: group } = (
    await ok('post', 'buyer_groups', { name: 'Night', buyer_ids: [id], attempt_daily_limit: 1 })
  ).buyer_group;
  const { id: source } = (
    await ok('post', 'traffic_sources', { name: 'Ads', concurrency_cap_limit: 1 })
  ).traffic_source;
  const offer = await create('offers', { name: 'Auto', buyer_group_ids: [group] });
  await rule({ kind: 'cap_used', percent: 100 });
  await rule({ kind: 'cap_used', percent: 100, traffic_source_id: source });
  await call(offer, { traffic_source_id: source });
  await watch();
  expect((await alerts()).map(([subject]) => subject).toSorted()).toEqual([
    `buyer_groups/${group}/attempt_daily`,
    `buyers/${id}/attempt_hourly`,
    `traffic_sources/${source}/concurrency`,
    `traffic_sources/${source}/concurrency`,
  ]);
});

test('a connect rate counts calls that have ended, if there were enough', async () => {
  const offer = await createOffer([await buyer()]);
  await rule({ kind: 'connect_rate_low', percent: 50, minutes: 30, min_calls: 4, offer_id: offer });
  for (const event of ['no_answer', 'no_answer', 'answered']) {
    const session = await call(offer);
    await report(session, event);
    if (event === 'answered') await report(session, 'completed');
  }
  await watch();
  expect(await alerts()).toEqual([]);
  await report(await call(offer), 'busy');
  await watch();
  const message = 'Auto: 1 of 4 calls of the last 30 minutes were connected (25 %)';
  expect(await alerts()).toEqual([[`offers/${offer}`, message, true]]);
  later(31);
  await watch();
  expect(await alerts()).toEqual([[`offers/${offer}`, message, false]]);
});

test('that no call comes is said once, after hours of silence that are watched', async () => {
  const id = await buyer();
  const offer = await createOffer([id]);
  const office = [{ day: 1, times: ['09:00..16:59'] }];
  const zone = { time_zone: 'America/New_York', schedule: office };
  await rule({ kind: 'no_calls', minutes: 60, buyer_id: id, ...zone });
  await watch();
  later(45); // 09:15: open, but not for an hour
  await watch();
  expect(await alerts()).toEqual([]);
  later(50);
  await watch();
  const message = 'Bayline: no call has come in for 60 minutes';
  expect(await alerts()).toEqual([[`buyers/${id}`, message, true]]);
  await call(offer);
  await watch();
  expect(await alerts()).toEqual([[`buyers/${id}`, message, false]]);
  time.set('2026-06-02T12:30:00Z'); // Tuesday: closed
  await watch();
  expect(await alerts()).toHaveLength(1);
});

test("a balance is low by the rule's amount, or by the buyer's own limit", async () => {
  const limitedBuyer = await buyer({ prepaid: true, balance_low_limit: 20, credit_limit: 100 });
  const otherBuyer = await buyer({ prepaid: true });
  await rule({ kind: 'balance_low' });
  await rule({ kind: 'balance_low', amount: -5.5, buyer_id: limitedBuyer });
  const enter = (amount: number, buyerId = limitedBuyer) =>
    ok('post', 'account_entries', { buyer_id: buyerId, kind: 'adjustment', amount });
  await enter(20);
  await enter(-50, otherBuyer);
  await watch();
  expect(await alerts()).toEqual([]);
  await enter(-0.01);
  await watch();
  await enter(-30);
  await watch();
  expect(await alerts()).toEqual([
    [`buyers/${limitedBuyer}`, 'Bayline: the balance is $19.99, below $20.00', true],
    [`buyers/${limitedBuyer}`, 'Bayline: the balance is -$10.01, below -$5.50', true],
  ]);
  await enter(30.01);
  await watch();
  expect((await alerts()).map(([, , lasts]) => lasts)).toEqual([false, false]);
});

test('calls and texts that fail at the carrier, and webhooks that are paused for them', async () => {
  const offer = await createOffer([await buyer()]);
  await rule({ kind: 'carrier_errors', count: 2, minutes: 10 });
  await rule({ kind: 'webhook_paused' });
  await report(await call(offer), 'failed');
  await watch();
  expect(await alerts()).toEqual([]);
  await report(await call(offer), 'failed');
  const hook = { name: 'CRM', trigger_type: 'manual', url: 'https://crm.example/hook' };
  const { id } = (await ok('post', 'outgoing_webhooks', hook)).outgoing_webhook;
  await here.world.sql(
    'UPDATE outgoing_webhooks SET paused = true, paused_reason = $2 WHERE id = $1',
    [id, 'its receiver is gone'],
  );
  await watch();
  expect((await alerts()).toSorted()).toEqual([
    ['company', '2 calls and texts of the last 10 minutes failed at the carrier', true],
    [`outgoing_webhooks/${id}`, 'the webhook "CRM" was paused: its receiver is gone', true],
  ]);
  await ok('put', `outgoing_webhooks/${id}`, { paused: false });
  later(11);
  await watch();
  expect((await alerts()).map(([, , lasts]) => lasts)).toEqual([false, false]);
});

test('webhooks are told when an alert begins and when it ends, once each', async () => {
  for (const triggerType of ['alert_started', 'alert_ended'])
    await ok('post', 'outgoing_webhooks', {
      name: triggerType,
      trigger_type: triggerType,
      url: 'https://crm.example/hook',
    });
  const id = await rule({ kind: 'balance_low', amount: 10 });
  const poor = await buyer({ prepaid: true });
  await Promise.all([watch(), watch(), watch()]);
  await watch();
  await ok('post', 'account_entries', { buyer_id: poor, kind: 'deposit', amount: 10 });
  later(90);
  await watch();
  await watch();
  await fanOutWebhookEvents(here.world.deps);
  const deliveries = await here.world.sql<{ body: string }>(
    'SELECT request_body AS body FROM webhook_deliveries WHERE company_id = $1 ORDER BY id',
    [here.world.company.id],
  );
  const events = deliveries.map(({ body }) => JSON.parse(body));
  const alert = {
    alert_rule_id: id,
    rule: 'Rule',
    kind: 'balance_low',
    subject: `buyers/${poor}`,
    value: 0,
    threshold: 10,
    started_at: '2026-06-01T12:30:00.000+00:00',
  };
  expect(events).toMatchObject([
    { type: 'alert_started', data: { alert: { ...alert, ended_at: null } } },
    {
      type: 'alert_ended',
      data: { alert: { ...alert, ended_at: '2026-06-01T14:00:00.000+00:00' } },
    },
  ]);
});

test('a rule that is paused or deleted ends its alerts without a word', async () => {
  await buyer({ prepaid: true });
  const [paused, deleted] = [
    await rule({ kind: 'balance_low', amount: 10 }),
    await rule({ kind: 'balance_low', amount: 10 }),
  ];
  await watch();
  expect((await ok('get', `alert_rules/${paused}`)).alert_rule.open_alerts_count).toBe(1);
  expect((await ok('get', 'alerts?open=true')).alerts).toHaveLength(2);
  await ok('put', `alert_rules/${paused}`, { paused: true });
  await ok('delete', `alert_rules/${deleted}`);
  await watch();
  expect((await ok('get', 'alerts?open=true')).alerts).toEqual([]);
  await here.mailTo(to, 2);
  expect(here.mails.filter((mail) => mail.to === to).map(({ subject }) => subject)).toEqual([
    'Rule',
    'Rule',
  ]);
});
