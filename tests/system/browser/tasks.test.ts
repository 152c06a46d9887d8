import type { Page } from 'playwright-core';
import { inBrowser, LOADED, openContext } from '../../support/browser';
import { createPerson as createUser, PASSWORD } from '../../support/console-session';
import { settled, useConsole } from '../../support/console';
import { CALL_TASKS } from '../../support/tasks/calls';
import { LIST_TASKS } from '../../support/tasks/lists';
import { PEOPLE_TASKS } from '../../support/tasks/people';
import { createPerson, type Kind } from '../../support/tasks/person';
import { ROUTING_TASKS } from '../../support/tasks/routing';

// The work of a day in the console, by the owner of a company: each task is done with the mouse,
// and with the keyboard alone.

const { here, get } = useConsole({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' });
const TASKS = [...ROUTING_TASKS, ...LIST_TASKS, ...CALL_TASKS, ...PEOPLE_TASKS];

let workers: { stop(): Promise<void> };
beforeAll(async () => {
  workers = await here.world.work();
  const { company } = await get('company');
  const owned = { id: BigInt(company.id), auth: here.auth, api: here.api };
  for (const kind of ['mouse', 'keyboard'])
    await createUser(here.world, owned, `owner.${kind}@example.com`);
  const [acme] = (await get('buyers?fulltext=acme')).buyers;
  await here.api('put', `buyers/${acme.id}`, { body: { attempt_daily_limit: null } });
});
afterAll(() => workers.stop());

describe.each<Kind>(['mouse', 'keyboard'])('by %s, the owner can', (kind) => {
  const opened = openContext(() => here.server);

  inBrowser('sign in', () =>
    opened.withPage('/console/', async (page) => {
      const { hands } = createPerson(page, kind, here);
      await hands.type(page.getByLabel('E-mail address'), `owner.${kind}@example.com`);
      await hands.type(page.getByLabel('Password', { exact: true }), PASSWORD);
      await hands.press(page.getByRole('button', { name: 'Sign in', exact: true }));
      await waitForConsole(page);
    }),
  );

  inBrowser.each(TASKS)('$name', ({ do: work }) =>
    opened.withPage('/console/', async (page) => {
      await waitForConsole(page);
      await work(createPerson(page, kind, here));
    }),
  );
});

async function waitForConsole(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out' }).waitFor(LOADED);
  await settled(page);
}
