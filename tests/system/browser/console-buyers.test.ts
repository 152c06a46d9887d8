import type { Page } from 'playwright-core';
import { inBrowser } from '../../support/browser';
import { goTo, panel, until, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';

// Buyers by hand in the console, on the real service: what a person types is the record that the
// API then has.

const LOADED = { timeout: FAR_MS };
const { here, get, asDemo } = useConsole();

const save = async (page: Page, name = 'Save') => {
  await page.getByRole('button', { name, exact: true }).click();
};
const saved = (page: Page) => page.getByText('Saved.').last().waitFor(LOADED);

inBrowser(
  'a change is refused at its field in the words of the API, and saved once it is right',
  () =>
    asDemo(
      async (page) => {
        const [acme] = (await get('buyers?fulltext=acme')).buyers;
        await goTo(page, `#/buyers/${acme.id}`);
        const caps = panel(page, 'Used and left');
        await caps.waitFor(LOADED);
        expect(await caps.innerText()).toMatch(
          new RegExp(`Dialed today\\s+${acme.attempt_daily_used} / ${acme.attempt_daily_limit}`),
        );
        await page.getByLabel('Sends calls to').fill('12');
        await save(page);
        const field = page.locator('[data-field=number]');
        await field.locator('.error').waitFor(LOADED);
        await until(
          page,
          `document.activeElement.closest('[data-field]')?.dataset.field === 'number'`,
        );
        await page.getByLabel('Sends calls to').fill('+13105550111');
        await page.getByLabel('Dialed in a day').fill('300');
        const hours = panel(page, 'Hours');
        await hours.getByLabel('Monday').fill('9:00-12:00, 13:00–25:00');
        await page.getByText('13:00–25:00 is no time such as').waitFor(LOADED);
        await hours.getByLabel('Monday').fill('9:00-12:00, 13:00–24:00');
        await save(page);
        await saved(page);
        const { buyer } = await get(`buyers/${acme.id}`);
        expect(buyer.attempt_daily_limit).toBe(300);
        expect(buyer.business_hours_schedule[0].schedule).toContainEqual({
          day: 1,
          times: ['09:00..11:59', '13:00..23:59'],
        });
      },
      [422],
    ),
);

inBrowser('an unchanged form sends nothing; a change sends only its field', () =>
  asDemo(async (page) => {
    for (const { id } of (await get('buyers')).buyers) {
      await goTo(page, `#/buyers/${id}`);
      await page.getByLabel('Sends calls to').waitFor(LOADED);
      expect(await page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0);
    }
    const request = page.waitForRequest((put) => put.method() === 'PUT');
    await page.getByLabel('Weight within its priority').fill('7');
    await save(page);
    expect((await request).postDataJSON()).toEqual({ weight: 7 });
  }),
);

inBrowser('when somebody else was faster, their changes stay and both see what is what', () =>
  asDemo(
    async (page) => {
      const [bayline] = (await get('buyers?fulltext=bayline')).buyers;
      await goTo(page, `#/buyers/${bayline.id}`);
      await page.getByLabel('Weight within its priority').fill('5');
      await page.getByLabel('Dialed in a day').fill('50');
      await here.api('put', `buyers/${bayline.id}`, { body: { tier: 7, weight: 9 } });
      await save(page);
      const clash = page.getByRole('alert', { name: 'Changed by somebody else' });
      await clash.waitFor(LOADED);
      expect(await clash.innerText()).toMatch(/They changed “Priority”; you did not/);
      expect(await clash.getByRole('row').nth(1).innerText()).toMatch(
        /Weight within its priority\s+30\s+9\s+5/,
      );
      expect((await get(`buyers/${bayline.id}`)).buyer.weight).toBe(9);
      await clash.getByRole('button', { name: 'Mine' }).click();
      await save(page);
      await saved(page);
      expect((await get(`buyers/${bayline.id}`)).buyer).toMatchObject({
        tier: 7,
        weight: 5,
        attempt_daily_limit: 50,
      });
    },
    [412],
  ),
);

inBrowser('pausing is undone at once; a copy has the settings; deleting asks first', () =>
  asDemo(async (page) => {
    const [hudson] = (await get('buyers?fulltext=hudson')).buyers;
    const isPaused = async () => (await get(`buyers/${hudson.id}`)).buyer.paused;
    await goTo(page, `#/buyers/${hudson.id}`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor(LOADED);
    expect(await isPaused()).toBe(true);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor(LOADED);
    expect(await isPaused()).toBe(false);
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await panel(page, 'Buyer').getByLabel('Name').fill('Hudson Home, nights');
    await save(page, 'Create the buyer');
    await page.getByRole('heading', { name: 'Hudson Home, nights' }).waitFor(LOADED);
    const [copy] = (await get('buyers?fulltext=nights')).buyers;
    expect(copy).toMatchObject({ number: hudson.number, bid_price: hudson.bid_price });
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Buyers', exact: true }).waitFor(LOADED);
    expect((await get('buyers?fulltext=nights')).buyers).toEqual([]);
  }),
);

inBrowser('the table sorts, searches and exports on the server, and its link shows the same', () =>
  asDemo(async (page) => {
    await goTo(page, '#/buyers');
    const names = () => page.locator('tbody td:first-child').allInnerTexts();
    await page.getByRole('button', { name: 'Name' }).click();
    await page.locator('th[aria-sort=descending]').waitFor(LOADED);
    const { buyers } = await get('buyers?order=name&order_dir=desc&columns=name');
    await page.locator('tbody tr').first().getByText(buyers[0].name).waitFor(LOADED);
    expect(await names()).toEqual(buyers.map(({ name }: { name: string }) => name));
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    expect((await download).suggestedFilename()).toMatch(/^buyers-\d{4}-\d\d-\d\d\.csv$/);
    await page.getByRole('searchbox').fill('auto');
    await page.keyboard.press('Enter');
    await page.getByText('1–1 of 1 buyer').waitFor(LOADED);
    expect(await page.evaluate('location.hash')).toBe('#/buyers?order=name&dir=desc&fulltext=auto');
    await goTo(page, '#/now');
    await goTo(page, '#/buyers?order=name&dir=desc&fulltext=auto');
    await page.getByText('1–1 of 1 buyer').waitFor(LOADED);
    expect(await names()).toEqual(['Bayline Auto']);
  }),
);
