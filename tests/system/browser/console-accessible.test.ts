import {
  expectAccessible,
  expectAccessibleInBothThemes,
  loadAxe,
  SIZES,
} from '../../support/accessibility';
import { inBrowser } from '../../support/browser';
import { loadClientModule } from '../../support/client-module';
import { goTo, panel, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';

// The list and the form of every noun are accessible, on a phone and on a desktop.

const LOADED = { timeout: FAR_MS };
const { here, get, asDemo } = useConsole();

interface Pages {
  NOUNS: {
    title: string;
    pages: { name: string; load: () => Promise<{ groups: unknown[] }> }[];
  }[];
}
const areas = loadClientModule<Pages>('nouns/pages.tsx').NOUNS;

inBrowser.each(areas)('the lists and forms of $title are accessible', ({ pages }) =>
  asDemo(async (page) => {
    await loadAxe(page);
    for (const { name, load } of pages) {
      const { groups } = await load();
      for (const view of groups.length === 0 ? [name] : [name, `${name}/new`]) {
        await goTo(page, `#/${view}`);
        for (const size of Object.values(SIZES)) {
          await page.setViewportSize(size);
          await expectAccessibleInBothThemes(page, `${view} at ${size.width}`);
        }
      }
    }
  }),
);

inBrowser('the steps of a schedule, their dialog, a key and a team are accessible', () =>
  asDemo(async (page) => {
    const [schedule] = (await get('schedules')).schedules;
    const [token] = (await get('access_tokens')).access_tokens;
    const team = await here.api('post', 'access_control_lists', {
      body: { name: 'Partners', permissions: ['buyers:read'] },
    });
    await loadAxe(page);
    await goTo(page, `#/access_tokens/${token.id}`);
    await expectAccessibleInBothThemes(page, 'key');
    await goTo(page, `#/access_control_lists/${team.body.access_control_list.id}`);
    await expectAccessibleInBothThemes(page, 'team');
    await goTo(page, '#/company');
    await expectAccessibleInBothThemes(page, 'company');
    await goTo(page, `#/schedules/${schedule.id}`);
    const steps = panel(page, 'What happens to a lead');
    await expectAccessibleInBothThemes(page, 'steps');
    await steps.getByRole('button', { name: 'Add a step', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Kind').selectOption('dial', LOADED);
    await expectAccessible(page, 'dialog of a step');
  }),
);
