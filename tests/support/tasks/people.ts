import { startWebhooks } from '../../../src/main/background/start';
import { openBrowser } from '../console-session';
import { startReceiver } from '../receiver';
import { read, type Person, type Task } from './person';

// Users, sessions, webhooks and alerts.

async function dismissSecret(person: Person): Promise<void> {
  const dialog = person.page.getByRole('dialog', { name: 'Copy this now' });
  await person.press('I have copied it', dialog);
  await dialog.waitFor({ state: 'detached' });
}

async function createWebhook(person: Person, name: string, url: string): Promise<number> {
  await person.open('Webhooks');
  await person.follow('New webhook');
  await person.type('Name', name);
  await person.select('Sent when', 'A call has ended');
  await person.type('To', url);
  await person.press('Create the webhook');
  await dismissSecret(person);
  return person.created(name);
}

async function retryWebhooks(person: Person): Promise<void> {
  const { here } = person;
  let status = 500;
  const receiver = await startReceiver(() => status);
  const running = startWebhooks(here.world.deps, { delays: [3_600_000] });
  try {
    const name = person.named('CRM');
    const id = await createWebhook(person, name, receiver.url);
    await person.press('Send with the newest call');
    await person.sees('failed · 500', person.panel('Last deliveries'));
    status = 200;
    await person.press('Send all failed again');
    await person.sees('1 event is sent again.');
    await person.sees('accepted · 200', person.panel('Last deliveries'));
    const { webhook_logs: logs } = (
      await here.api('get', `webhook_logs?outgoing_webhook_id=${id}&order=id`)
    ).body;
    expect(logs.map(({ success }: { success: boolean }) => success)).toEqual([false, true]);
    expect(receiver.received).toHaveLength(2);
  } finally {
    await running.stop();
    await receiver.close();
  }
}

export const PEOPLE_TASKS: readonly Task[] = [
  {
    name: 'make a team and a user of it',
    do: async (person) => {
      const name = person.named('Dispatchers');
      const email = `ann.${person.hands.name}@example.com`;
      await person.open('Teams');
      await person.follow('New team');
      await person.type('Name', name);
      await person.press('Viewer');
      await person.press('Create the team');
      const team = await person.created(name);
      await person.open('Users');
      await person.follow('New user');
      await person.type('E-mail address', email);
      await person.find('Teams', name);
      await person.press('Create the user');
      const id = await person.created(email);
      expect(await read(person, `users/${id}`, 'user')).toMatchObject({ email, team_ids: [team] });
      const { permissions } = await read(
        person,
        `access_control_lists/${team}`,
        'access_control_list',
      );
      expect(permissions).toContain('calls:read');
      expect(permissions).not.toContain('calls:update');
    },
  },
  {
    name: 'revoke a session',
    do: async (person) => {
      const { port } = person.here.server.address() as { port: number };
      const other = openBrowser({ base: `http://127.0.0.1:${port}` });
      const me = (await person.page.evaluate(
        `fetch('/console/api/v1/me').then((res) => res.json())`,
      )) as { me: { user: { email: string } } };
      expect((await other.signIn(me.me.user.email)).status).toBe(201);
      await person.open('My account');
      const sessions = person.panel('Where you are signed in');
      await sessions.getByText('this one').waitFor();
      await person.press('End all others', sessions);
      await sessions.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' });
      const refused = await other.send('get', 'me');
      expect([refused.status, refused.body.code]).toEqual([401, 'session_ended']);
    },
  },
  {
    name: 'make a webhook',
    do: async (person) => {
      const name = person.named('Sheet');
      const url = 'https://crm.example.com/hooks/calls';
      const id = await createWebhook(person, name, url);
      const path = `outgoing_webhooks/${id}`;
      expect(await read(person, path, 'outgoing_webhook')).toMatchObject({ name, url });
    },
  },
  {
    name: 'make an alert rule',
    do: async (person) => {
      const name = person.named('Cap is near');
      await person.open('Alert rules');
      await person.follow('New alert rule');
      await person.type('Name', name);
      await person.select('Alert when', 'A cap is nearly used up');
      await person.type('Percent', '90');
      await person.press('Create the alert rule');
      const id = await person.created(name);
      expect(await read(person, `alert_rules/${id}`, 'alert_rule')).toMatchObject({
        name,
        kind: 'cap_used',
        percent: 90,
      });
    },
  },
  { name: 'send failed webhooks again', do: retryWebhooks },
];
