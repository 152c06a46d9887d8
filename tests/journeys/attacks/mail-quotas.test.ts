import { createRuleWatcher } from '../../../src/domain/alerts/watch';
import { enqueueAlertMails } from '../../../src/domain/alerts/tell-of-alert';
import { reserveMails } from '../../../src/domain/people/take-mails';
import { standingClock } from '../../support/clock';
import { confirmAddress } from '../../support/confirmed-addresses';
import { repetitions } from '../../support/repetitions';
import { createMailWorld, type MailWorld } from '../../support/sent-mail';
import { requests } from '../../support/requests';

// A company sends so many mails a day to addresses that it names, and so many to one of them. An
// address gets nothing but a question until it has confirmed; it is invited once an hour.

type Fields = Record<string, unknown>;
const NOON = '2026-06-01T12:00:00.000Z';
const MIDNIGHT = '2026-06-02T00:00:00.000Z';
const time = standingClock(NOON);
let here: MailWorld;
beforeAll(async () => {
  const quotas = { MAILS_PER_DAY: '20', MAILS_PER_ADDRESS_PER_DAY: '3' };
  const environment = { TRUST_PROXY: '1', ...quotas };
  here = await createMailWorld({ clock: time.read, environment });
});
beforeEach(async () => {
  time.set(NOON);
  here.mails.length = 0;
  here.world.company = await here.world.addCompany();
});
afterAll(() => here.close());

const { api, ok } = requests(() => here.world.company);
const later = (minutes: number) =>
  time.set(new Date(time.read().getTime() + minutes * 60_000).toISOString());
const addRule = async (emails: string[], fields: Fields = {}) =>
  (await ok('post', 'alert_rules', { name: 'Rule', kind: 'balance_low', emails, ...fields }))
    .alert_rule;
const parseToken = (text = ''): string => /confirmation_token=(\S+)/.exec(text)![1]!;
let attempts = 0;
/** Each from another address: too many failed attempts from one are refused. */
const confirm = (confirmationToken?: string) =>
  here.world.company.api('post', 'email_addresses/confirm', {
    auth: null,
    headers: {
      'X-Forwarded-For': `192.0.2.${++attempts % 250}`,
      // A browser sends these headers with a form without fields.
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': '0',
    },
    query: confirmationToken === undefined ? {} : { confirmation_token: confirmationToken },
  });
const take = (emails: string[]) =>
  here.world.deps.tenants
    .of(here.world.company.id)
    .transaction((tx) =>
      reserveMails(tx, emails, { config: here.world.deps.config, now: time.read() }),
    );

/** Runs the jobs that notify of the alerts of the company; they may have run before. */
async function notifyAlerts(): Promise<void> {
  const companyId = String(here.world.company.id);
  for (const { id } of (await ok('get', 'alerts')).alerts)
    await enqueueAlertMails(
      { company_id: companyId, alert_id: String(id), news: 'started' },
      here.world.deps,
    );
}

describe('the quotas of a day', () => {
  test('are exact for a company, however many mails are asked for at once', async () => {
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, n) => take([`a${n}@x.example`, `b${n}@x.example`])),
    );
    expect(results.flatMap(({ granted }) => granted)).toHaveLength(20);
    const [count] = await here.world.sql(
      `SELECT used, refused FROM mail_counts WHERE company_id = $1 AND mailbox = ''`,
      [here.world.company.id],
    );
    expect(count).toEqual({ used: 20, refused: 60 });
  });

  test('are exact for an address, in any spelling, and leave the others what they have', async () => {
    const spellings = ['desk@x.example', 'DESK@x.example', 'desk+1@x.example', 'Desk+a@X.example'];
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, n) => take([spellings[n % 4]!])),
    );
    expect(results.flatMap(({ granted }) => granted)).toHaveLength(3);
    expect((await take(['other@x.example'])).granted).toHaveLength(1);
  });

  test('are of one company, and begin again at midnight', async () => {
    const many = Array.from({ length: 21 }, (_, n) => `a${n}@x.example`);
    expect((await take(many)).granted).toHaveLength(20);
    const mine = here.world.company;
    here.world.company = await here.world.addCompany();
    expect((await take(['a@x.example'])).granted).toHaveLength(1);
    here.world.company = mine;
    time.set('2026-06-01T23:59:59.999Z');
    expect(await take(['b@x.example'])).toMatchObject({
      granted: [],
      refused: [{ email: 'b@x.example', reason: expect.stringContaining('20 mails') }],
      next_at: new Date(MIDNIGHT),
    });
    time.set(MIDNIGHT);
    expect((await take(['b@x.example'])).granted).toHaveLength(1);
  });
});

const RULES = repetitions(30, 300);

test(`${RULES} rules of 20 addresses each mail no more than the day allows`, async () => {
  const rule = (n: number) => {
    const emails = Array.from({ length: 20 }, (_, m) => `stranger-${n}-${m}@x.example`);
    return api('post', 'alert_rules', { name: 'Rule', kind: 'webhook_paused', emails });
  };
  const answers = [await rule(0)];
  answers.push(...(await Promise.all(Array.from({ length: RULES - 1 }, (_, n) => rule(n + 1)))));
  const [first, second] = answers;
  expect(first!.status).toBe(201);
  expect([second!.status, second!.headers['retry-after'], second!.body.errors]).toEqual([
    429,
    String(12 * 3600),
    { emails: [expect.stringContaining(`must wait until ${MIDNIGHT}`)] },
  ]);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  await here.ended('send_confirmation');
  expect(here.mails.filter(({ to }) => to.startsWith('stranger-'))).toHaveLength(20);
});

test('alerts over a quota are noted on the rule, and counted once however often the job runs', async () => {
  for (const email of ['desk@x.example', 'boss@x.example']) await confirmAddress(here.world, email);
  const rule = await addRule(['desk@x.example', 'boss@x.example'], { amount: 10 });
  expect(rule.unconfirmed_emails).toEqual([]);
  await take(['desk@x.example', 'desk@x.example']);
  for (let n = 0; n < 2; n++)
    await ok('post', 'buyers', { name: 'Bayline', number: '+12125550100', prepaid: true });
  await createRuleWatcher(here.world.deps)();
  await here.mailTo('boss@x.example', 2);
  await here.mailTo('desk@x.example');
  await notifyAlerts();
  await notifyAlerts();
  expect((await ok('get', `alert_rules/${rule.id}`)).alert_rule).toMatchObject({
    unsent_mails_count: 1,
    last_unsent_at: '2026-06-01T12:00:00.000+00:00',
    last_unsent_reason: 'desk@x.example has got the 3 mails of a day',
  });
  expect(here.mails.map(({ to }) => to).toSorted()).toEqual([
    'boss@x.example',
    'boss@x.example',
    'desk@x.example',
  ]);
});

describe('an address that is not confirmed', () => {
  test('is asked once, gets nothing else, and gets alerts once it has confirmed', async () => {
    const rule = await addRule(['Eve@x.example'], { amount: 10 });
    expect(rule.unconfirmed_emails).toEqual(['Eve@x.example']);
    const [question] = await here.mailTo('eve@x.example');
    // Another rule, and a change of this one, do not ask again.
    await addRule(['eve@x.example']);
    await ok('put', `alert_rules/${rule.id}`, { emails: ['Eve@x.example', 'eve@x.example'] });
    await ok('post', 'buyers', { name: 'Bayline', number: '+12125550100', prepaid: true });
    await createRuleWatcher(here.world.deps)();
    await notifyAlerts();
    const confirmed = await confirm(parseToken(question!.text));
    expect([confirmed.status, confirmed.body.email_address]).toEqual([
      200,
      { email: 'eve@x.example', company: 'Test Company', confirmed_at: expect.any(String) },
    ]);
    const shown = (await ok('get', `alert_rules/${rule.id}`)).alert_rule;
    expect(shown).toMatchObject({ unconfirmed_emails: [], unsent_mails_count: 0 });
    await ok('post', 'buyers', { name: 'Hill', number: '+12125550101', prepaid: true });
    await createRuleWatcher(here.world.deps)();
    const mails = await here.mailTo('Eve@x.example');
    expect(mails.map(({ text }) => text)).toEqual([expect.stringContaining('Hill')]);
    expect(here.mails.filter(({ to }) => to === 'eve@x.example')).toHaveLength(1);
  });

  test('confirms once, by a click: a scanner that opens the link confirms nothing', async () => {
    const { id } = await addRule(['eve@x.example']);
    const token = parseToken((await here.mailTo('eve@x.example'))[0]!.text);
    const page = await here.world.company.api('get', '/confirmations', {
      query: { confirmation_token: token },
      auth: null,
    });
    expect([page.status, page.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(page.text).toContain('<form method="post"');
    expect((await ok('get', `alert_rules/${id}`)).alert_rule.unconfirmed_emails).toHaveLength(1);
    const answers = await Promise.all(Array.from({ length: 20 }, () => confirm(token)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      200,
      ...Array<number>(19).fill(401),
    ]);
    const script = await here.world.company.api('get', '/confirmations', {
      query: { confirmation_token: '"><script>' },
    });
    expect(script.text).not.toContain('<script>');
  });

  test('is not confirmed by another token, an old one, or one that a newer one replaced', async () => {
    const rule = await addRule(['eve@x.example']);
    const token = parseToken((await here.mailTo('eve@x.example'))[0]!.text);
    const wrong = token.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    for (const invalidToken of [undefined, 'x', wrong, token.replace(/^conf/, 'inv')])
      expect((await confirm(invalidToken)).status).toBe(401);
    // Within a day no address is asked a second time.
    later(24 * 60 - 1);
    await ok('put', `alert_rules/${rule.id}`, { emails: [] });
    await ok('put', `alert_rules/${rule.id}`, { emails: ['eve@x.example'] });
    later(1);
    await ok('put', `alert_rules/${rule.id}`, { emails: [] });
    await ok('put', `alert_rules/${rule.id}`, { emails: ['eve@x.example'] });
    const [, second] = await here.mailTo('eve@x.example', 2);
    expect((await confirm(token)).status).toBe(401);
    later(7 * 24 * 60);
    expect((await confirm(parseToken(second!.text))).status).toBe(401);
    expect(here.mails).toHaveLength(2);
  });

  test('is confirmed by an invitation that was mailed to it and accepted', async () => {
    await ok('post', 'users', { email: 'ann@x.example' });
    const [mail] = await here.mailTo('ann@x.example');
    const invitationToken = /invitation\?token=(\S+)/.exec(mail!.text!)![1]!;
    const { id, unconfirmed_emails } = await addRule(['ann@x.example']);
    expect(unconfirmed_emails).toEqual(['ann@x.example']);
    const body = { invitation_token: invitationToken };
    await here.world.company.api('post', 'invitations/accept', { auth: null, body });
    expect((await ok('get', `alert_rules/${id}`)).alert_rule.unconfirmed_emails).toEqual([]);
  });

  test('is told nothing of a webhook either', async () => {
    const hook = { name: 'CRM', trigger_type: 'manual', url: 'https://crm.example/hook' };
    const saved = { ...hook, alert_email: 'ops@x.example' };
    const { outgoing_webhook } = await ok('post', 'outgoing_webhooks', saved);
    expect(outgoing_webhook.alert_email_confirmed).toBe(false);
    const [question] = await here.mailTo('ops@x.example');
    expect((await confirm(parseToken(question!.text))).status).toBe(200);
    const shown = await ok('get', `outgoing_webhooks/${outgoing_webhook.id}`);
    expect(shown.outgoing_webhook.alert_email_confirmed).toBe(true);
  });
});
