import type { Page } from 'playwright-core';
import { expectAccessible, expectAccessibleEverywhere } from '../../support/accessibility';
import { inBrowser } from '../../support/browser';
import { loadClientModule } from '../../support/client-module';
import { createPerson } from '../../support/console-session';
import { goTo, panel, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';

// Every view that the router knows is accessible, on a phone and on a desktop: its list, its form,
// and the page of a record.

const LOADED = { timeout: FAR_MS };
const { here, get, readCompany, asPerson, asDemo } = useConsole();

interface Areas {
  AREAS: { title: string; views: { name: string }[] }[];
}
const { AREAS } = loadClientModule<Areas>('areas.tsx');

const findLink = (page: Page, selector: string): Promise<string | null> =>
  page.evaluate(
    `document.querySelector(${JSON.stringify(`main ${selector}`)})?.getAttribute('href') ?? null`,
  );

inBrowser.each(AREAS)('the views of $title are accessible', async ({ title, views }) => {
  // A key has no account of its own, whose view is among them.
  const person = await createPerson(here.world, await readCompany(), `${title}@example.com`);
  await asPerson(person.email, async (page) => {
    let part: string | undefined;
    const check = async (hash: string) => {
      await goTo(page, hash);
      expect(await page.getByRole('heading', { level: 1 }).innerText()).not.toBe('Nothing here');
      await expectAccessibleEverywhere(page, hash, part);
      part = 'main';
    };
    for (const { name } of views) {
      await check(`#/${name}`);
      const form = await findLink(page, 'a.button[data-key="n"]');
      const record = await findLink(page, `tbody a[href^="#/${name}/"]`);
      for (const hash of [form, record]) if (hash !== null) await check(hash);
    }
  });
});

inBrowser('the dialog of a step is accessible', () =>
  asDemo(async (page) => {
    const [schedule] = (await get('schedules')).schedules;
    await goTo(page, `#/schedules/${schedule.id}`);
    const steps = panel(page, 'What happens to a lead');
    await steps.getByRole('button', { name: 'Add a step', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Kind').selectOption('dial', LOADED);
    await expectAccessible(page, 'dialog of a step');
  }),
);
