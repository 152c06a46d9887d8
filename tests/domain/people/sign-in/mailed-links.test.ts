import { createPerson, openBrowser, PASSWORD } from '../../../support/console-session';
import { eventually } from '../../../support/engine-process';
import { useMailWorld } from '../../../support/sent-mail';
import type { Mail } from '../../../../src/platform/mail/mailer';

// A link by mail signs in the owner of the mailbox, with or without a password.

const recording = useMailWorld();
const { world, mails, mailTo } = recording;
let visitors = 0;
const open = () => openBrowser(world, { ip: `198.51.100.${++visitors}` });
const request = (email: string) =>
  open().send('post', '/console/sign-in/link', { body: { email } });
const readToken = ({ text = '' }: Mail): string =>
  /http:\S+\/console\/#\/link\?token=(lnk-\S+)/.exec(text)![1]!;
const follow = (token: string, browser = open()) =>
  browser.send('post', '/console/sign-in/link/open', { body: { token } });

const createUser = async (email: string) =>
  (await world.api('post', 'users', { body: { email, invite: false } })).body.user.id as number;

test('a person without a password asks for a link, and is signed in by it once', async () => {
  await createUser('link@example.com');
  const answer = await request('Link@Example.com');
  expect([answer.status, answer.body]).toEqual([202, { accepted: true }]);
  const [mail] = await mailTo('link@example.com');
  expect(mail!.subject).toBe('Sign in to Test Company');
  const browser = open();
  const first = await follow(readToken(mail!), browser);
  expect([first.status, first.body.session]).toMatchObject([
    201,
    { method: 'link', user: { email: 'link@example.com' } },
  ]);
  expect((await browser.send('get', 'me')).status).toBe(200);
  const second = await follow(readToken(mail!));
  expect([second.status, second.body.errors]).toEqual([
    401,
    { token: ['is of a link that was used, replaced or is old'] },
  ]);
});

test('the page learns that links are mailed', async () => {
  const { body } = await open().send('get', '/console/session');
  expect(body.methods).toMatchObject({ password: true, link: true });
});

test('an unknown address gets the same answer, and no mail', async () => {
  const answer = await request('stranger@example.com');
  expect([answer.status, answer.body]).toEqual([202, { accepted: true }]);
  await createUser('next@example.com');
  await request('next@example.com');
  await mailTo('next@example.com');
  expect(mails.filter(({ to }) => to === 'stranger@example.com')).toEqual([]);
});

test('a link ends when another is mailed, and after a quarter of an hour', async () => {
  const id = await createUser('late@example.com');
  await request('late@example.com');
  await mailTo('late@example.com');
  await request('late@example.com');
  const [first, second] = await mailTo('late@example.com', 2);
  expect((await follow(readToken(first!))).status).toBe(401);
  await world.sql(
    `UPDATE user_logins SET link_sent_at = now() - interval '15 minutes' WHERE user_id = $1`,
    [id],
  );
  expect((await follow(readToken(second!))).status).toBe(401);
});

test('who has forgotten the password chooses another after a link', async () => {
  await createPerson(world, world.company, 'forgot@example.com');
  await request('forgot@example.com');
  const [, mail] = await mailTo('forgot@example.com', 2);
  const browser = open();
  await follow(readToken(mail!), browser);
  const password = 'seven lonely otters';
  const changed = await browser.send('put', '/console/password', { body: { password } });
  expect(changed.status).toBe(200);
  expect((await open().signIn('forgot@example.com')).status).toBe(401);
  expect((await open().signIn('forgot@example.com', password)).status).toBe(201);
  await world.sql(
    `UPDATE access_tokens SET created_at = created_at - interval '16 minutes' WHERE kind = 'session'`,
  );
  const late = await browser.send('put', '/console/password', { body: { password: PASSWORD } });
  expect([late.status, late.body.errors]).toEqual([422, { current_password: ['must be given'] }]);
});

test('a person in two companies gets a link to each', async () => {
  const second = await world.addCompany('Second');
  for (const { api } of [world.company, second])
    await api('post', 'users', { body: { email: 'both@example.com', invite: false } });
  await request('both@example.com');
  const pair = await mailTo('both@example.com', 2);
  expect(pair.map(({ subject }) => subject).toSorted()).toEqual([
    'Sign in to Second',
    'Sign in to Test Company',
  ]);
});

test('a deleted person gets none, and one that was mailed before opens nothing', async () => {
  const id = await createUser('gone@example.com');
  await request('gone@example.com');
  const [mail] = await mailTo('gone@example.com');
  await world.api('delete', `users/${id}`);
  expect((await follow(readToken(mail!))).status).toBe(401);
});

test('an address is mailed five links in an hour, and then must wait', async () => {
  await createUser('flood@example.com');
  const statuses: number[] = [];
  for (let n = 0; n < 7; n++) statuses.push((await request('flood@example.com')).status);
  expect(statuses).toEqual([202, 202, 202, 202, 202, 429, 429]);
  const unknown: number[] = [];
  for (let n = 0; n < 7; n++) unknown.push((await request('nobody@example.com')).status);
  expect(unknown).toEqual(statuses);
});

test('links count among the mails of a company in a day', async () => {
  await createUser('quota@example.com');
  const today = new Date().toISOString().slice(0, 10);
  await world.sql(
    `INSERT INTO mail_counts (company_id, day, mailbox, used) VALUES ($1, $2, '', 1000)
      ON CONFLICT (company_id, day, mailbox) DO UPDATE SET used = 1000`,
    [world.company.id, today],
  );
  expect((await request('quota@example.com')).status).toBe(202);
  await eventually(async () => {
    const rows = await world.sql(
      `SELECT FROM mail_counts WHERE company_id = $1 AND mailbox = '' AND refused = 1`,
      [world.company.id],
    );
    return rows.length === 1;
  });
  await world.sql(`DELETE FROM mail_counts WHERE company_id = $1`, [world.company.id]);
  await createUser('after@example.com');
  await request('after@example.com');
  await mailTo('after@example.com');
  expect(mails.filter(({ to }) => to === 'quota@example.com')).toEqual([]);
});
