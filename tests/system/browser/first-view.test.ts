import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import {
  DESKTOP,
  inBrowser,
  LOADED,
  measureOverflow,
  PHONE,
  withPage,
} from '../../support/browser';
import { useServedWorld } from '../../support/served-world';

// The page of Swagger UI before and while Swagger UI comes.

const served = useServedWorld();

const FIRST_VIEW_BYTES = 350_000;

/** Opens a page without a cache and counts until it asks for nothing more. */
async function countFirstView(page: Page, path: string): Promise<{ bytes: number; files: string }> {
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  let bytes = 0;
  const files: string[] = [];
  network.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  network.on('Network.requestWillBeSent', ({ request }) => void files.push(request.url));
  await page.goto(new URL(path, page.url()).href, { waitUntil: 'networkidle' });
  return { bytes, files: files.join(' ') };
}

inBrowser.each([
  ['/api/docs/', '#operations-tag-buyers'],
  ['/api/reference/', 'h3'],
  ['/api/reference/leads', 'rapi-doc [id="get-/leads"]'],
])('the first view of %s is of at most 350 kB', (path, content) =>
  withPage(served.server, '/api/reference/', DESKTOP, async (page) => {
    const { bytes, files } = await countFirstView(page, path);
    await page.locator(content).first().waitFor(LOADED);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(FIRST_VIEW_BYTES);
    if (path === '/api/docs/') expect(files).not.toContain('swagger-ui-bundle');
  }),
);

const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

inBrowser.each(['light', 'dark'] as const)('the list is accessible in %s', (colorScheme) =>
  withPage(served.server, '/api/docs/', PHONE, async (page) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator('#operations-tag-buyers').click(LOADED);
    await page.evaluate(AXE);
    const faults = await page.evaluate(
      `axe.run(document, { runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))`,
    );
    expect(faults).toEqual([]);
  }),
);

const BUNDLE = '**/swagger-ui-bundle.js';

/** Holds Swagger UI back until it is let through. */
async function holdBundle(page: Page): Promise<() => void> {
  let letThrough!: () => void;
  const held = new Promise<void>((resolve) => (letThrough = resolve));
  await page.route(BUNDLE, async (route) => {
    await held;
    await route.continue();
  });
  return letThrough;
}

inBrowser('the list can be read before Swagger UI comes, which opens what was clicked', () =>
  withPage(served.server, '/api/docs/', PHONE, async (page) => {
    const letThrough = await holdBundle(page);
    await page.locator('#operations-tag-offers .expand-operation').click(LOADED);
    await page.locator('#operations-tag-buyers').click();
    const operation = page.locator('#operations-buyers-createBuyer');
    expect(await operation.innerText()).toContain('Create a buyer');
    await operation.locator('.opblock-summary-control').click();
    expect(await page.locator('#list').count()).toBe(1);
    await page.locator('#operations-tag-offers .expand-operation').click();
    const heading = page.locator('#operations-tag-offers');
    const readTop = () => heading.evaluate((element) => element.getBoundingClientRect().top);
    const top = await readTop();
    letThrough();
    await operation.getByRole('button', { name: 'Execute' }).waitFor(LOADED);
    expect(await page.locator('#list').count()).toBe(0);
    expect(Math.abs((await readTop()) - top)).toBeLessThan(2);
    expect(await page.locator('#operations-offers-listOffers').count()).toBe(0);
    expect(await page.evaluate('location.hash')).toBe('#/buyers/createBuyer');
    expect(await page.evaluate('document.activeElement.className')).toBe('expand-operation');
    expect(await measureOverflow(page)).toBe(0);
  }),
);

inBrowser(
  'on paper the list has all operations, and the search of the browser opens their tag',
  () =>
    withPage(served.server, '/api/docs/', DESKTOP, async (page) => {
      const operation = page.locator('#operations-buyers-createBuyer');
      expect(await operation.isVisible()).toBe(false);
      await page.emulateMedia({ media: 'print' });
      expect(await operation.isVisible()).toBe(true);
      await page.emulateMedia({ media: 'screen' });
      // Chromium's search sends it to the element that is hidden until it is found.
      await page.locator('.no-margin', { has: operation }).dispatchEvent('beforematch');
      await operation.waitFor(LOADED);
    }),
);

inBrowser('a link to an operation opens it, also in a page that is open', () =>
  withPage(served.server, '/api/docs/#/buyers', DESKTOP, async (page) => {
    await page.locator('#operations-buyers-createBuyer').waitFor(LOADED);
    await page.evaluate("location.hash = '/me/showMe'");
    await page.locator('#operations-me-showMe .execute:visible').waitFor(LOADED);
    await page.goto(page.url().replace('me/showMe', 'buyers/createBuyer'));
    await page.reload();
    const opened = page.locator('#operations-buyers-createBuyer');
    await opened.locator('.execute:visible').waitFor(LOADED);
    const top = await opened.evaluate((element) => element.getBoundingClientRect().top);
    expect(top).toBeGreaterThan(0);
    expect(top).toBeLessThan(DESKTOP.height);
  }),
);

inBrowser('a search goes on in Swagger UI, as does its result', () =>
  withPage(served.server, '/api/docs/', DESKTOP, async (page) => {
    await page.getByRole('searchbox').fill('opt out', LOADED);
    const count = page.getByRole('status').filter({ hasText: /^\d+ operations$/ });
    await count.waitFor(LOADED);
    const counted = await count.innerText();
    const operation = page.locator('#operations-leads-optOutLead');
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Execute' }).waitFor(LOADED);
    expect(await page.getByRole('searchbox').inputValue()).toBe('opt out');
    expect(await count.innerText()).toBe(counted);
    expect(await page.locator('#operations-me-showMe').count()).toBe(0);
  }),
);

inBrowser(
  'when Swagger UI cannot be loaded, the page says so, and the next click tries again',
  () =>
    withPage(
      served.server,
      '/api/docs/#/me',
      DESKTOP,
      async (page) => {
        await page.route(BUNDLE, (route) => route.fulfill({ status: 503 }));
        const operation = page.locator('#operations-me-showMe .opblock-summary-control');
        await operation.click(LOADED);
        await page.getByText('Swagger UI could not be loaded').waitFor(LOADED);
        await page.unroute(BUNDLE);
        await operation.click();
        await page.locator('#operations-me-showMe .execute').waitFor(LOADED);
      },
      [503],
    ),
);
