import { inBrowser, openContext } from '../../support/browser';
import { createPerson as createUser } from '../../support/console-session';
import { useConsole, waitForConsole } from '../../support/console';
import { CALL_TASKS } from '../../support/tasks/calls';
import { LIST_TASKS } from '../../support/tasks/lists';
import { PEOPLE_TASKS } from '../../support/tasks/people';
import { createPerson, signInAs, type Kind } from '../../support/tasks/person';
import { ROUTING_TASKS } from '../../support/tasks/routing';

// The work of a day in the console, by the owner of a company: each task is done with the mouse,
// and with the keyboard alone.

const { here, get, readCompany } = useConsole({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32' });
const TASKS = [...ROUTING_TASKS, ...LIST_TASKS, ...CALL_TASKS, ...PEOPLE_TASKS];

let workers: { stop(): Promise<void> };
beforeAll(async () => {
  workers = await here.world.work();
  const company = await readCompany();
  for (const kind of ['mouse', 'keyboard'])
    await createUser(here.world, company, `owner.${kind}@example.com`);
  const [acme] = (await get('buyers?fulltext=acme')).buyers;
  await here.api('put', `buyers/${acme.id}`, { body: { attempt_daily_limit: null } });
});
afterAll(() => workers.stop());

describe.each<Kind>(['mouse', 'keyboard'])('by %s, the owner can', (kind) => {
  const opened = openContext(() => here.server);

  inBrowser('sign in', () =>
    opened.withPage('/console/', async (page) => {
      await signInAs(createPerson(page, kind, here), `owner.${kind}@example.com`);
    }),
  );

  inBrowser.each(TASKS)('$name', ({ do: work }) =>
    opened.withPage('/console/', async (page) => {
      await waitForConsole(page);
      await work(createPerson(page, kind, here));
    }),
  );
});
