import { expectAccessibleEverywhere, SIZES } from '../../support/accessibility';
import { inBrowser } from '../../support/browser';
import { goTo, inConsole, panel, signIn, until, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';
import { createMember } from '../../support/teams';

// The first steps of a company in the console, on the real service: a test call, a test lead, the
// list of steps, and the board on the wall.

const LOADED = { timeout: FAR_MS };
const { here, get, asDemo } = useConsole();

const countCalls = async (): Promise<number> => (await get('calls')).metadata.total_count;

inBrowser('asking where a call would go changes nothing; at night it goes nowhere', () =>
  asDemo(async (page) => {
    const before = await countCalls();
    await goTo(page, `#/offers/${here.offer.id}`);
    await page.getByRole('button', { name: 'Test call' }).click();
    await page.getByLabel('From', { exact: true }).fill('(310) 555-0188', LOADED);
    await page.getByText('Tokens, source, and another time').click();
    await page.getByLabel('Tokens').fill('state=TX');
    await page.getByRole('button', { name: 'Ask only' }).click();
    const decision = panel(page, 'Where it would go');
    await decision.getByText('Acme').first().waitFor(LOADED);
    expect(await decision.getByText('Daily limit').count()).toBe(0);
    await page.getByLabel('At another time').fill('2030-01-06T03:30');
    await page.getByRole('button', { name: 'Ask only' }).click();
    await decision.getByText(/2030/).waitFor(LOADED);
    expect(await countCalls()).toBe(before);
    await expectAccessibleEverywhere(page, 'test call');
  }),
);

inBrowser('a test lead begins its schedule, and its history is told', () =>
  asDemo(async (page) => {
    const [schedule] = (await get('schedules')).schedules;
    await goTo(page, `#/schedules/${schedule.id}`);
    await page.getByRole('button', { name: 'Test lead' }).click();
    await page.getByText('No telephone rings, and no text arrives').waitFor(LOADED);
    const { id } = (await here.api('post', 'switches', { body: { name: 'pbx' } })).body.switch;
    await page.reload();
    await signIn(page, here.auth);
    await page.getByText('The lead is a real one').waitFor(LOADED);
    await here.api('delete', `switches/${id}`);
    await page.getByLabel('Telephone number').fill('(213) 555-0177', LOADED);
    await page.getByLabel('Name', { exact: true }).fill('Ann Tester');
    await page.getByLabel('E-mail').fill('ann@example.com');
    await page.getByLabel('Tokens').fill('zip=90210');
    await page.getByRole('button', { name: 'Send the lead' }).click();
    await panel(page, 'What happened').getByRole('listitem').first().waitFor(LOADED);
    const [lead] = (await get('leads?number=2135550177')).leads;
    expect(lead).toMatchObject({
      full_name: 'Ann Tester',
      email: 'ann@example.com',
      caller_id: '+12135550177',
    });
    expect(lead.data).toMatchObject({ zip: '90210' });
    expect(await panel(page, 'What will happen').getByRole('listitem').count()).toBeGreaterThan(0);
    await expectAccessibleEverywhere(page, 'test lead');
    await page.getByRole('link', { name: 'The page of the lead' }).click();
    await until(page, `location.hash === '#/leads/${lead.id}'`);
  }),
);

inBrowser(
  'a company without calls begins with the first steps, which tick themselves off',
  async () => {
    const fresh = await here.world.addCompany('Fresh');
    await inConsole(here.server, fresh.auth, async (page) => {
      await page.getByRole('heading', { name: 'First steps' }).waitFor(LOADED);
      expect(await page.getByText('to do', { exact: true }).count()).toBe(5);
      await expectAccessibleEverywhere(page, 'first steps');
      await page.setViewportSize(SIZES.desktop);
      await page.getByRole('link', { name: 'Add a buyer' }).click();
      await page.getByLabel('Name').first().fill('First buyer', LOADED);
      await page.getByLabel('Sends calls to').fill('(212) 555-0122');
      await page.getByRole('button', { name: 'Create the buyer' }).click();
      await page.getByRole('heading', { name: 'First buyer' }).waitFor(LOADED);
      await page.getByRole('link', { name: 'First steps' }).click();
      await panel(page, 'Add a buyer').getByText('First buyer.').waitFor(LOADED);
      await page.getByRole('link', { name: 'Make an offer' }).click();
      await page.getByLabel('Name').first().fill('First offer', LOADED);
      await page.getByRole('button', { name: 'Create the offer' }).click();
      await page.getByRole('heading', { name: 'First offer' }).waitFor(LOADED);
      const [buyer] = (await fresh.api('get', 'buyers')).body.buyers;
      const [offer] = (await fresh.api('get', 'offers')).body.offers;
      expect(buyer).toMatchObject({ name: 'First buyer', number: '+12125550122' });
      expect(offer).toMatchObject({ name: 'First offer', buyer_ids: [buyer.id] });
      await page.getByRole('link', { name: 'First steps' }).click();
      await panel(page, 'Make an offer with that buyer').getByText('First offer.').waitFor(LOADED);
      expect(
        (await fresh.api('post', 'call_sessions', { body: { offer_id: offer.id } })).status,
      ).toBe(201);
      await page.getByText('All is done').waitFor(LOADED);
      expect(await page.getByText('to do', { exact: true }).count()).toBe(0);
      expect(await page.getByRole('link', { name: 'First steps' }).count()).toBe(0);
    });
  },
);

inBrowser(
  'a board link shows the figures of the API, reads only, and ends when it is revoked',
  () =>
    asDemo(
      async (page) => {
        await createMember({ ...here.world.company, api: here.api }, 'wall@example.com', {
          superuser: true,
        });
        await goTo(page, '#/board');
        await page.getByRole('button', { name: 'Make a board link' }).click();
        const link = await page
          .getByRole('group', { name: 'board link' })
          .locator('code')
          .innerText();
        await expectAccessibleEverywhere(page, 'making a board link');
        const [token] = (await get('access_tokens?order=id&order_dir=desc&per_page=1'))
          .access_tokens;
        expect(token).toMatchObject({ name: 'Wallboard', kind: 'user_token' });
        expect([...token.permissions].sort()).toEqual(['buyers:read', 'calls:read']);
        await page.goto(link);
        const figure = (name: string) => page.locator(`.figures div:has-text("${name}") dd`);
        await figure('Calls under way').waitFor(LOADED);
        const open = await get('calls?in_progress=true');
        expect(await figure('Calls under way').innerText()).toBe(String(open.metadata.total_count));
        expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
        await expectAccessibleEverywhere(page, 'board');
        await page.evaluate(`document.documentElement.dataset.theme = 'light'`);
        await expectAccessibleEverywhere(page, 'board in light colors');
        const started = await here.api('post', 'call_sessions', {
          body: { offer_id: here.offer.id },
        });
        expect(started.status).toBe(201);
        const after = (await get('calls?in_progress=true')).metadata.total_count;
        await figure('Calls under way').getByText(String(after), { exact: true }).waitFor(LOADED);
        expect((await here.api('delete', `access_tokens/${token.id}`)).status).toBe(200);
        await page.reload();
        await page.getByText('This link was revoked').waitFor(LOADED);
      },
      [401],
    ),
);
