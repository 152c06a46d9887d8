import type { Page } from 'playwright-core';
import request from 'supertest';
import { inBrowser } from '../support/browser';
import { panel, until, useConsole } from '../support/console';
import { FAR_MS } from '../support/patience';

// The console is served and works in a browser; tests/system/browser has its other views.
// `withPage` counts requests to other servers and what the content security policy refuses: none.

const LOADED = { timeout: FAR_MS };
const { here, get, asDemo, dollars, readPanelText } = useConsole();
const tile = (page: Page, name: string) =>
  page
    .locator('.tile', { has: page.getByText(name, { exact: true }) })
    .locator('dd')
    .first();

test('the page loads nothing from elsewhere and runs nothing inline; its files are kept for ever', async () => {
  const app = request(here.server);
  const page = await app.get('/console/').expect(200);
  expect(page.headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
      "img-src 'self' data:; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect((await app.get('/console').expect(308)).headers.location).toBe('/console/');
  await app.get('/console/').set('If-None-Match', page.headers.etag!).expect(304);
  const names = [...page.text.matchAll(/(?:src|href)="(\w+-[0-9a-f]{16}\.\w+)"/g)].map(
    (match) => match[1]!,
  );
  const types = [/^text\/css/, /^application\/json/, /^(text|application)\/javascript/];
  expect(names.length).toBe(types.length);
  for (const [index, name] of names.entries()) {
    const file = await app.get(`/console/${name}`).expect(200);
    expect(file.headers).toMatchObject({
      'content-type': expect.stringMatching(types[index]!),
      'cache-control': expect.stringContaining('immutable'),
      'content-encoding': 'gzip',
    });
  }
  for (const name of [
    'main.js',
    'main-AAAAAAAA.js',
    'main.css',
    '..%2f..%2fpackage.json',
    'main-0000000000000000.js',
  ])
    await app.get(`/console/${name}`).expect(404);
});

inBrowser('Now: the numbers of the API, and what happens appears by itself', () =>
  asDemo(async (page) => {
    const open = await get('calls?in_progress=true');
    const { totals } = await get('calls/reports?category=offer');
    expect(await tile(page, 'Calls under way').innerText()).toBe(String(open.metadata.total_count));
    expect(await tile(page, 'Inbound calls in the last hour').innerText()).toBe(
      String(totals.calls),
    );
    expect(await tile(page, 'Revenue in the last hour').innerText()).toBe(dollars(totals.revenue));
    const rate = `${Math.round((totals.connects / totals.calls) * 1000) / 10}%`;
    expect(await tile(page, 'Connect rate').innerText()).toBe(rate);
    expect(await readPanelText(page, 'Caps near their end')).toMatch(/Dialed today\s+2 \/ 2/);
    const chart = panel(page, 'Revenue by minute');
    await chart.getByText('As a table').click();
    expect(await chart.locator('svg').count()).toBe(1);
    expect(await chart.locator('td').allInnerTexts()).toContain(dollars(totals.revenue));
    await page.getByText('Live', { exact: true }).waitFor(LOADED);
    const callResponse = await here.api('post', 'call_sessions', {
      body: { offer_id: here.offer.id, caller_number: '+12125550199' },
    });
    const { id } = callResponse.body.call_session;
    await panel(page, 'As it happens')
      .getByRole('link', { name: `Call ${id}` })
      .first()
      .waitFor(LOADED);
    await until(
      page,
      `[...document.querySelectorAll('.tile')].some(({ innerText }) =>
        innerText.includes('last hour') && innerText.includes('${totals.calls + 1}'))`,
    );
  }),
);
