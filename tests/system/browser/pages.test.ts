import {
  DESKTOP,
  inBrowser,
  LOADED,
  measureOverflow,
  openOperation,
  PHONE,
  withPage,
} from '../../support/browser';
import { useServedWorld } from '../../support/served-world';

// Swagger UI and the reference as people read them. `withPage` counts requests to other servers and
// what the content security policy refuses: none.

const served = useServedWorld();

const SIZES = [DESKTOP, PHONE];

inBrowser('Swagger UI shows the usual credentials first, and folds the others', () =>
  withPage(served.server, '/api/docs/', PHONE, async (page) => {
    await page.getByRole('button', { name: 'Authorize' }).first().click(LOADED);
    const dialog = page.locator('.modal-ux');
    await dialog.waitFor(LOADED);
    const names = await dialog.locator('h4 code').allInnerTexts();
    expect(names.slice(0, 3)).toEqual(['companyKey', 'userToken', 'authToken']);
    expect(await dialog.locator('h4:visible').count()).toBe(3);
    expect(await measureOverflow(page)).toBe(0);
  }),
);

inBrowser('Swagger UI lists groups in the order of a newcomer', () =>
  withPage(served.server, '/api/docs/', DESKTOP, async (page) => {
    await page.locator('.tag-group').first().waitFor(LOADED);
    const shown = await page.locator('.tag-group').allInnerTexts();
    const declared = await page.evaluate(
      `fetch('/api/docs/openapi.json').then((r) => r.json()).then((d) =>
        d['x-tagGroups'].map(({ name }) => name.toUpperCase()))`,
    );
    expect(shown).toEqual(declared);
    expect(await page.locator('.models').count()).toBe(0);
  }),
);

inBrowser('in Swagger UI an operation names its permission, and an error is one line', () =>
  withPage(served.server, '/api/docs/', DESKTOP, async (page) => {
    const operation = await openOperation(page, 'buyers', 'createBuyer');
    await operation.getByText('Needs permission').waitFor(LOADED);
    expect(await operation.locator('.opblock-description').innerText()).toContain('buyers:create');
    const error = operation.locator('tr[data-code="422"]');
    await error.getByRole('button').click(LOADED);
    await operation.locator('tr.response[data-code="422"] .response-col_status').waitFor(LOADED);
    expect(await error.getByRole('button', { expanded: false }).count()).toBe(0);
  }),
);

const searched: [query: string, operation: string, url: string][] = [
  ['caps', 'createBuyer', '/api/reference/buyers#post-/buyers'],
  ['opt out', 'optOutLead', '/api/reference/leads#put-/leads/-caller_id-/caller_opt_out'],
  ['updateBuyer', 'updateBuyer', '/api/reference/buyers#put-/buyers/-id-'],
  [
    'upload a CSV',
    'createBuyerSuppressionFile',
    '/api/reference/buyer_suppression_files#post-/buyer_suppression_files',
  ],
];

inBrowser.each(searched)('a search for "%s" finds the operation in Swagger UI', (query, id) =>
  withPage(served.server, '/api/docs/', PHONE, async (page) => {
    await page.getByRole('searchbox').fill(query, LOADED);
    await page.locator('.filter-box p', { hasText: /^\d+ operations$/ }).waitFor(LOADED);
    await page.locator(`.opblock[id$="-${id}"]`).waitFor(LOADED);
    expect(await page.locator('.opblock[id$="-showMe"]:visible').count()).toBe(0);
    expect(await measureOverflow(page)).toBe(0);
  }),
);

inBrowser.each(searched)(
  'a search for "%s" leads to the operation in the reference',
  (query, id, url) =>
    withPage(served.server, '/api/reference/', PHONE, async (page) => {
      await page.getByRole('searchbox').fill(query, LOADED);
      const result = page.locator(`#found a[href="${url}"]`);
      await result.click(LOADED);
      await page.locator('rapi-doc').getByText('Code samples').first().waitFor(LOADED);
      const anchor = url.split('#')[1]!;
      await page.waitForURL(({ hash }) => hash === `#${anchor}`);
      const shown = page.locator(`rapi-doc [id="${anchor}"]`);
      await shown.waitFor(LOADED);
      expect({ id, overflow: await measureOverflow(page) }).toEqual({ id, overflow: 0 });
    }),
);

inBrowser(
  'the reference shows every tag on a desktop and on a phone, with code samples',
  async () => {
    for (const size of SIZES) {
      await withPage(served.server, '/api/reference/leads', size, async (page) => {
        const viewer = page.locator('rapi-doc');
        await viewer.getByText('Needs permission').first().waitFor(LOADED);
        const samples = viewer.locator('[id="get-/leads"]');
        await samples.getByText('Python', { exact: true }).first().click(LOADED);
        await samples.getByText('requests.get').first().waitFor(LOADED);
        await viewer.locator('schema-table .key-descr p:visible').first().waitFor(LOADED);
        expect(await measureOverflow(page)).toBe(0);
      });
    }
  },
);

inBrowser('on a phone the sections of the reference open by the menu', () =>
  withPage(served.server, '/api/reference/', PHONE, async (page) => {
    const link = page.locator('#sections').getByRole('link', { name: 'Buyer groups' });
    expect(await link.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await link.click();
    await page.waitForURL('**/api/reference/buyer_groups');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Buyer groups');
  }),
);
