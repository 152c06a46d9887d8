import type { Page } from 'playwright-core';
import { inBrowser } from '../../support/browser';
import { loadClientModule } from '../../support/client-module';
import { goTo, panel, until, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';

// Reports in the console: the figures are those of the API, and a link shows the same report.

const LOADED = { timeout: FAR_MS };
const { here, get, asDemo, dollars } = useConsole();

interface ReportRow {
  groups: [{ key: string | null }];
}

const cells = (page: Page, row: string) =>
  panel(page, 'Report').locator(`${row} :is(td, th)`).allInnerTexts();

inBrowser('a report by source and day, with totals and CSV, as the API sums it', () =>
  asDemo(async (page) => {
    const [source] = (await get('traffic_sources')).traffic_sources;
    await here.api('post', 'call_sessions', {
      body: {
        offer_id: here.offer.id,
        caller_number: '+12125550126',
        traffic_source_id: source.id,
      },
    });
    await goTo(page, '#/reports?time_zone=UTC');
    await panel(page, 'Report').locator('tfoot').waitFor(LOADED);
    await page.getByLabel('Group by').selectOption('Source');
    await page.getByLabel('then by').selectOption('Day', LOADED);
    await until(page, `location.hash.includes('group_by=traffic_source%2Cday')`);
    await panel(page, 'Report').getByRole('columnheader', { name: 'Source' }).waitFor(LOADED);
    const { rows, totals } = await get(
      'calls/reports/grouped?group_by=traffic_source,day&call_category=inbound',
    );
    expect(rows.length).toBeGreaterThan(1);
    const sources = (
      await get('calls/reports/grouped?group_by=traffic_source&call_category=inbound')
    ).rows;
    // Above the days of a source stands its sum.
    const tableLines = sources.flatMap((sum: ReportRow) => [
      { ...sum, groups: [sum.groups[0]] },
      ...rows.filter(({ groups }: ReportRow) => groups[0].key === sum.groups[0].key),
    ]);
    expect(await panel(page, 'Report').locator('tbody tr').count()).toBe(tableLines.length);
    for (const [n, row] of tableLines.entries()) {
      const shown = await cells(page, `tbody tr:nth-child(${n + 1})`);
      if (row.groups.length === 1) expect(shown[1]).toBe('All');
      expect(shown[0]).toBe(row.groups[0].name ?? 'none');
      expect([shown[2], shown[3], shown[7]]).toEqual([
        String(row.calls),
        String(row.connects),
        dollars(row.revenue),
      ]);
    }
    const all = await cells(page, 'tfoot tr');
    expect([all[1], all[2], all[6], all[8]]).toEqual([
      String(totals.calls),
      String(totals.connects),
      dollars(totals.revenue),
      dollars(totals.profit),
    ]);

    // Sorted by the API, and kept in the location.
    await panel(page, 'Report').getByRole('button', { name: 'Calls' }).click();
    await page
      .getByRole('columnheader', { name: /^Calls/, exact: false })
      .first()
      .waitFor(LOADED);
    await until(page, `location.hash.includes('order=calls&dir=desc')`);
    await panel(page, 'Report').locator('th[aria-sort=descending]').waitFor(LOADED);
    const sorted = await get(
      'calls/reports/grouped?group_by=traffic_source,day&call_category=inbound&order=calls&order_dir=desc',
    );
    await until(
      page,
      `document.querySelector('tbody td').innerText === ${JSON.stringify(
        sorted.rows[0].groups[0].name ?? 'none',
      )}`,
    );

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const chunks: Buffer[] = [];
    for await (const chunk of await (await download).createReadStream())
      chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString().trim().split(/\r?\n/);
    expect(lines).toHaveLength(rows.length + 2);
    expect(lines[0]).toContain('Source,Day,Calls,Connected,Connect rate,Paid for');
    expect(lines[0]).toContain('Revenue (USD)');
    expect(lines.at(-1)).toMatch(
      new RegExp(`^Total,,${totals.calls},${totals.connects},[\\d.]+%,`),
    );

    // The link has all that the report depends on, also the days and the zone.
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy link' }).click();
    const link = (await page.evaluate('navigator.clipboard.readText()')) as string;
    const query = new URLSearchParams(link.split('?')[1]);
    expect(Object.fromEntries(query)).toMatchObject({
      group_by: 'traffic_source,day',
      call_category: 'inbound',
      order: 'calls',
      created_at_from: expect.stringMatching(/Z$/),
      time_zone: expect.any(String),
    });
    await goTo(page, '#/now');
    await goTo(page, link.slice(link.indexOf('#')));
    await panel(page, 'Report').locator('th[aria-sort=descending]').waitFor(LOADED);
    expect(await panel(page, 'Report').locator('tbody tr').count()).toBe(rows.length);
  }),
);

inBrowser('a report is compared with the period before; no text of its chart is cut', () =>
  asDemo(async (page) => {
    // A call of today is one of yesterday.
    const [call] = await here.world.sql<{ id: string }>(
      `UPDATE calls SET created_at = created_at - interval '1 day' WHERE id = $1 RETURNING id`,
      [here.calls.paid],
    );
    expect(call).toBeDefined();
    await goTo(page, '#/reports?compare=true&figure=calls&time_zone=UTC');
    await page.getByLabel('Period', { exact: true }).selectOption('Today', LOADED);
    await panel(page, 'Report').locator('.legend').waitFor(LOADED);
    const day = (offset: number) =>
      new Date(Date.now() - offset * 86_400_000).toISOString().slice(0, 10);
    const totalsOn = async (date: string) =>
      (
        await get(
          `calls/reports/grouped?call_category=inbound&created_at_from=${date}&created_at_to=${date}`,
        )
      ).totals.calls as number;
    const [now, before] = [await totalsOn(day(0)), await totalsOn(day(1))];
    expect(before).toBe(1);
    const change = Math.round(((now - before) / before) * 1000) / 10;
    const all = await cells(page, 'tfoot tr');
    const changeText = change === 0 ? '0%' : `${change > 0 ? '+' : ''}${change}%`;
    expect(all[1]!.split(/\s+/)).toEqual([String(now), changeText]);
    const bars = panel(page, 'Report').locator('rect');
    expect(await bars.count()).toBe(2);
    await page.getByLabel('Period', { exact: true }).selectOption('Last 30 days');
    for (const width of [390, 800, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await until(
        page,
        `(() => {
          const svg = document.querySelector('.chart svg');
          const box = svg?.getBoundingClientRect();
          const parent = svg?.parentElement.getBoundingClientRect();
          return box && Math.abs(box.width - parent.width) < 1 &&
            [...svg.querySelectorAll('text')].every((text) => {
              const inner = text.getBoundingClientRect();
              return inner.left >= box.left - 1 && inner.right <= box.right + 1;
            });
        })()`,
      );
    }
  }),
);

interface Compare {
  findDaysBefore: (days: readonly [string, string]) => readonly [string, string];
  joinKey: (row: { groups: { by: string; key: string | null }[] }, first: string) => string;
  findChange: (now: number | null, before: number | null) => number | undefined;
}

test('the period before, and the rows that belong together in it', () => {
  const { findDaysBefore, joinKey, findChange } = loadClientModule<Compare>(
    'views/reports/compare.ts',
  );
  expect(findDaysBefore(['2026-11-01', '2026-11-30'])).toEqual(['2026-10-01', '2026-10-31']);
  expect(findDaysBefore(['2026-01-01', '2026-01-31'])).toEqual(['2025-12-01', '2025-12-31']);
  expect(findDaysBefore(['2026-11-03', '2026-11-09'])).toEqual(['2026-10-27', '2026-11-02']);
  const key = (by: string, text: string | null, first: string) =>
    joinKey({ groups: [{ by, key: text }] }, first);
  expect(key('day', '2026-11-04', '2026-11-03')).toBe(key('day', '2026-10-28', '2026-10-27'));
  expect(key('month', '2026-01', '2026-01-01')).toBe(key('month', '2025-12', '2025-12-01'));
  expect(key('week', '2026-11-09', '2026-11-03')).toBe(key('week', '2026-11-02', '2026-10-27'));
  expect(key('buyer', '7', '2026-11-03')).toBe(key('buyer', '7', '2026-10-27'));
  expect(key('buyer', null, '2026-11-03')).not.toBe(key('buyer', '7', '2026-11-03'));
  expect([findChange(3, 2), findChange(1, 0), findChange(-5, -10), findChange(null, 1)]).toEqual([
    0.5,
    undefined,
    0.5,
    undefined,
  ]);
});
