import { inBrowser, openContext } from '../../support/browser';
import { openBrowser, setPassword, type ConsoleBrowser } from '../../support/console-session';
import { goTo, useConsole, waitForConsole } from '../../support/console';
import { BUYER_TASKS, PUBLISHER_TASKS } from '../../support/tasks/partners';
import { createPerson, signInAs, type Kind, type Person } from '../../support/tasks/person';
import { createRecord } from '../../support/records';
import { beginCall } from '../../support/reported-calls';

// A publisher and a buyer at the console of their network: each does their own work, with the mouse
// and with the keyboard alone, and nothing of the others reaches their browser.

const { here, get, readCompany } = useConsole();

const PUBLISHER = 'pat@publisher.example';
const BUYER = 'desk@acme.example';

interface Own {
  /** Callers of the calls that the partner sees. */
  callers: string[];
  /** Texts that no answer to the partner may have. */
  foreign: string[];
}
const own: Record<string, Own> = {};

beforeAll(async () => {
  const create = (noun: string, body: object) => createRecord(here.api, noun, body);
  const pat = await create('traffic_sources', {
    name: 'Pat’s pages',
    team_users_emails: [PUBLISHER],
    team_offer_ids: [here.offer.id],
  });
  const rival = await create('traffic_sources', { name: 'Rival ads' });
  const [acme] = (await get('buyers?fulltext=acme')).buyers;
  await here.api('put', `buyers/${acme.id}`, {
    body: {
      attempt_daily_limit: 500,
      generate_team: true,
      team_users_emails: [BUYER],
      team_offer_ids: [here.offer.id],
    },
  });
  const call = async (source: number, caller: string) => {
    const body = {
      offer_id: here.offer.id,
      traffic_source_id: source,
      caller_number: caller,
      tokens: { state: 'CA' },
    };
    const { dial, say } = await beginCall(here.api, body);
    if (dial.length === 0) return;
    await say('answered');
    await say('completed', { duration: 100 });
  };
  await call(pat.id, '+12125550141');
  await call(rival.id, '+12125550142');
  // No buyer takes it.
  await here.api('put', `buyers/${acme.id}`, { body: { paused: true } });
  const [bayline] = (await get('buyers?fulltext=bayline')).buyers;
  await here.api('put', `buyers/${bayline.id}`, { body: { paused: true } });
  await call(pat.id, '+12125550143');
  await here.api('put', `buyers/${acme.id}`, { body: { paused: false } });
  own[PUBLISHER] = {
    callers: ['+12125550141', '+12125550143'],
    foreign: ['Rival ads', 'Acme', 'Bayline', 'Hudson', '+12125550142', '+12125550123'],
  };
  own[BUYER] = {
    callers: ['+12125550123', '+12125550124', '+12125550141', '+12125550142'],
    foreign: ['Rival ads', 'Pat’s', 'Bayline', 'Hudson', '+12125550143', 'Search ads'],
  };
  const company = await readCompany();
  const { users } = await get('users');
  for (const { id, email } of users) if (email in own) await setPassword(here.world, company, id);
});

/** Where the work of the network is begun. */
const CLOSED = [
  ...['buyers', 'offers', 'traffic_sources', 'phone_numbers', 'zip_lists', 'value_lists'],
  ...['buyer_suppressions', 'schedules', 'users', 'access_control_lists', 'outgoing_webhooks'],
  ...['alert_rules', 'inbound_webhooks', 'access_tokens', 'dispositions', 'switches', 'trunks'],
];
const NOT_FOR_PARTNERS = [
  ...['accounts', 'payouts', 'statements', 'account_entries', 'webhook_logs', 'company'],
  ...['test-lead', 'start', 'board', 'change_logs'],
];
const BEGINS = /^(Create|Upload|Buy|Enter the|Draw up|Make|Send the|Block|Deposit|Return)/;

const PARTNERS = [
  ['publisher', PUBLISHER, PUBLISHER_TASKS],
  ['buyer', BUYER, BUYER_TASKS],
] as const;

describe.each(PARTNERS)('the %s', (_, email, tasks) => {
  describe.each<Kind>(['mouse', 'keyboard'])('by %s, can', (kind) => {
    const opened = openContext(() => here.server);
    let session: ConsoleBrowser;
    const answers: string[] = [];
    const asPartner = (work: (person: Person) => Promise<void>, refusals?: number[]) =>
      opened.withPage(
        '/console/',
        async (page) => {
          page.on('response', (res) => void keepAnswer(res, answers));
          await page.reload();
          await waitForConsole(page);
          await work(createPerson(page, kind, here, session.send as Person['api']));
        },
        refusals,
      );

    inBrowser('sign in', () =>
      opened.withPage('/console/', async (page) => {
        await signInAs(createPerson(page, kind, here), email);
        const { port } = here.server.address() as { port: number };
        const cookies = await page.context().cookies();
        session = openBrowser(
          { base: `http://127.0.0.1:${port}` },
          { cookies: new Map(cookies.map(({ name, value }) => [name, value])) },
        );
      }),
    );

    inBrowser.each(tasks)('$name', ({ do: work }) => asPartner(work));

    if (kind === 'mouse')
      inBrowser('nothing that is the work of the network', () =>
        asPartner(
          async ({ page }) => {
            for (const noun of CLOSED) {
              await goTo(page, `#/${noun}/new`);
              expect([noun, await page.getByRole('button', { name: BEGINS }).count()]).toEqual([
                noun,
                0,
              ]);
              await goTo(page, `#/${noun}`);
              expect([noun, await page.getByRole('link', { name: /^New / }).count()]).toEqual([
                noun,
                0,
              ]);
            }
            for (const view of NOT_FOR_PARTNERS) {
              await goTo(page, `#/${view}`);
              await page.getByRole('heading', { name: 'Nothing here' }).waitFor();
            }
          },
          [403, 404, 422],
        ),
      );

    inBrowser('visit every view, and no answer has anything of others', () =>
      asPartner(
        async (person) => {
          const menu = person.page.getByRole('navigation', { name: 'Views' }).getByRole('link');
          for (const view of await menu.allInnerTexts()) await person.open(view);
          expect(answers.length).toBeGreaterThan(10);
          const { callers, foreign } = own[email]!;
          expect(answers.some((answer) => callers.some((caller) => answer.includes(caller)))).toBe(
            true,
          );
          for (const name of foreign)
            expect([name, answers.filter((answer) => answer.includes(name))]).toEqual([name, []]);
        },
        [403],
      ),
    );
  });
});

async function keepAnswer(
  res: { url(): string; text(): Promise<string> },
  answers: string[],
): Promise<void> {
  if (!res.url().includes('/api/v1/') || res.url().includes('/stream')) return;
  // A page that is left takes its answers along.
  answers.push(await res.text().catch(() => ''));
}
