import { expectAccessibleEverywhere } from '../support/accessibility';
import { DESKTOP, inBrowser, withPage } from '../support/browser';
import {
  goTo,
  inConsole,
  panel,
  signIn,
  until,
  useKey,
  type ConsoleWorld,
} from '../support/console';
import { FAR_MS } from '../support/patience';
import { createMember } from '../support/teams';

const LOADED = { timeout: FAR_MS };

/**
 * The console for callers with fewer rights, by keyboard, on a phone and in both color schemes, and
 * where it keeps credentials. Uses the world of the tests of its views.
 */
export function consoleForEveryone(world: () => ConsoleWorld): void {
  const get = async (path: string) => (await world().api('get', path)).body;

  inBrowser('a limited user finds only the views and records that the API gives', async () => {
    const acme = (await get('buyers?fulltext=acme')).buyers[0];
    const { token } = await createMember(
      { id: 0n, auth: world().auth, api: world().api },
      'p@example.com',
      {
        permissions: ['buyers:read', 'calls:read'],
        buyer_ids: [acme.id],
      },
    );
    await inConsole(
      world().server,
      token,
      async (page) => {
        const links = await page
          .getByRole('navigation', { name: 'Views' })
          .getByRole('link')
          .allInnerTexts();
        expect(links).toEqual(['Now', 'Calls', 'Reports', 'Buyers']);
        expect(await page.getByText('Webhooks in trouble').count()).toBe(0);
        await goTo(page, '#/buyers');
        expect(await page.locator('tbody td:first-child').allInnerTexts()).toEqual([acme.name]);
        await page.getByRole('link', { name: acme.name }).click();
        await panel(page, 'Used and left').waitFor(LOADED);
        const changes = page.getByRole('button', { name: /Pause|Resume|Save|Copy|Delete/ });
        expect(await changes.count()).toBe(0);
        expect(await page.locator('.record-form :is(input, select):enabled').count()).toBe(0);
        await goTo(page, `#/calls/${world().calls.paid}`);
        const why = await panel(page, 'Why it went there').innerText();
        expect([why.includes('Acme'), why.includes('Bayline')]).toEqual([true, false]);
        const money = await panel(page, 'Money').innerText();
        expect([money.includes('You pay'), /payout|cost/i.test(money)]).toEqual([true, false]);
        expect(await page.getByRole('heading', { name: /^What if/ }).count()).toBe(0);
        await goTo(page, '#/calls');
        const headings = await page.locator('thead th').allInnerTexts();
        expect(headings.filter((text) => /source|pay|revenue/i.test(text))).toEqual(['You pay']);
        expect(await page.getByRole('link', { name: 'Test call' }).count()).toBe(0);
        expect(await page.getByRole('button', { name: /Return|Adjust|Block/ }).count()).toBe(0);
        await goTo(page, `#/leads/${world().lead}`);
        expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Nothing here');
        await goTo(page, '#/reports');
        await panel(page, 'Report').locator('tfoot').waitFor(LOADED);
        // A caller who sees no sources may not group by them.
        const groups = await page.getByLabel('Group by').locator('option').allInnerTexts();
        expect([groups.includes('Buyer'), groups.includes('Source')]).toEqual([true, false]);
        await goTo(page, '#/reports?group_by=traffic_source');
        await page.getByRole('alert').waitFor(LOADED);
        expect(await panel(page, 'Report').count()).toBe(0);
      },
      [422],
    );
  });

  inBrowser(
    'credentials stay in memory, or in the tab if one asks for it, and end with them',
    async () => {
      const { body } = await world().api('post', 'access_tokens', {
        body: { name: 'tab', kind: 'key_pair', permissions: ['buyers:read'] },
      });
      const pair = `${body.access_token.public_key}:${body.private_key}`;
      await inConsole(
        world().server,
        pair,
        async (page) => {
          expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
          await page.reload();
          await useKey(page);
          await page.getByLabel('Keep me signed in while this tab is open').check(LOADED);
          await page.getByLabel('Public key').fill(body.access_token.public_key);
          await page.getByLabel('Private key').fill('wrong');
          await page.getByRole('button', { name: 'Sign in' }).click();
          await page.getByText('These credentials are not accepted.').waitFor(LOADED);
          await page.getByLabel('Private key').fill(body.private_key);
          await page.getByRole('button', { name: 'Sign in' }).click();
          await page.getByRole('button', { name: 'Sign out' }).waitFor(LOADED);
          await page.reload();
          await page.getByRole('button', { name: 'Sign out' }).waitFor(LOADED);
          await world().api('delete', `access_tokens/${body.access_token.id}`);
          await page.getByRole('button', { name: 'Sign in' }).waitFor(LOADED);
          expect(await page.evaluate('sessionStorage.length')).toBe(0);
        },
        [401],
      );
    },
  );

  inBrowser('the keyboard alone signs in and goes through the views', () =>
    withPage(world().server, '/console/', DESKTOP, async (page) => {
      const [name, secret] = world().auth.split(':');
      await page.getByLabel('E-mail address').waitFor(LOADED);
      const press = async (...keys: string[]) => {
        for (const key of keys) await page.keyboard.press(key);
      };
      const focused = () => page.evaluate('document.activeElement.innerText');
      while ((await focused()) !== 'Use a key or token') await press('Tab');
      await press('Enter');
      await page.getByLabel('Public key').focus(LOADED);
      await page.keyboard.type(name!);
      await press('Tab');
      await page.keyboard.type(secret!);
      await press('Enter');
      await page.getByRole('button', { name: 'Sign out' }).waitFor(LOADED);
      await press('Tab');
      expect(await focused()).toBe('Skip to the content');
      while ((await focused()) !== 'Buyers') await press('Tab');
      await press('Enter');
      await page.getByRole('heading', { name: 'Buyers' }).waitFor(LOADED);
      // The keyboard goes on in the view.
      await until(page, `document.activeElement.id === 'main'`);
      await press('Tab');
      expect(await focused()).toBe('New buyer');
      await press('g', 'c');
      await page.getByRole('heading', { name: 'Calls' }).waitFor(LOADED);
      await press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor(LOADED);
      await press('Escape', 'g', 'b');
      await page.getByRole('heading', { name: 'Buyers' }).waitFor(LOADED);
      await page.getByRole('searchbox').waitFor(LOADED);
      await press('/');
      await page.keyboard.type('acme');
      await press('Enter');
      await page.getByText('1–1 of 1 buyer').waitFor(LOADED);
      await until(page, `document.title === 'Buyers · Trunkline'`);
    }),
  );

  inBrowser('what a key sees before and after it signs in is accessible', () =>
    withPage(world().server, '/console/', DESKTOP, async (page) => {
      await useKey(page);
      await page.getByLabel('Public key').waitFor(LOADED);
      await expectAccessibleEverywhere(page, 'sign-in');
      await page.reload();
      await signIn(page, world().auth);
      await goTo(page, '#/nothing');
      await expectAccessibleEverywhere(page, 'nothing');
      await goTo(page, `#/calls/${world().calls.paid}`);
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('Decided for').nth(1).waitFor(LOADED);
      await expectAccessibleEverywhere(page, 'explanation');
    }),
  );
}
