import type { Page } from 'playwright-core';
import { inBrowser } from '../../support/browser';
import { goTo, panel, until, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';

// Accounts and statements in the console: each task ends with the records that the API shows.

const LOADED = { timeout: FAR_MS };
const { here, get, asDemo, dollars } = useConsole();

/** Enters an amount by the dialog that a button of the account opens. */
async function enter(
  page: Page,
  button: string,
  account: string,
  fields: { amount: string; note?: string },
): Promise<void> {
  await page.getByRole('button', { name: `${button}: ${account}` }).click(LOADED);
  const dialog = page.getByRole('dialog', { name: `${button}: ${account}` });
  await dialog.getByLabel(/^(Amount|Plus or minus)/).fill(fields.amount);
  if (fields.note !== undefined) await dialog.getByLabel('Note').fill(fields.note);
  await dialog.getByRole('button', { name: button, exact: true }).click();
  await dialog.waitFor({ ...LOADED, state: 'hidden' });
}

/** The entries that the API lists for an account, in the order in which they were made. */
const listEntries = async (query: string) =>
  (await get(`account_entries?${query}&order=created_at`)).account_entries as {
    id: number;
    kind: string;
    amount: number;
    note: string | null;
  }[];

/** Noon of a day of the month before this one. */
const LAST_MONTH = new Date();
LAST_MONTH.setUTCMonth(LAST_MONTH.getUTCMonth(), 0);
LAST_MONTH.setUTCHours(12, 0, 0, 0);

inBrowser('a deposit and an adjustment of a prepaid buyer, and the statement of them', () =>
  asDemo(
    async (page) => {
      const { body } = await here.api('post', 'buyers', {
        body: { name: 'Prepaid Leads', number: '+12125550199', prepaid: true },
      });
      const { id } = body.buyer;
      await goTo(page, '#/accounts');
      await enter(page, 'Deposit', 'Prepaid Leads', { amount: '500', note: 'Wire of May 1' });
      const row = page.getByRole('row', { name: /^Prepaid Leads/ });
      await row.getByText('$500.00').first().waitFor(LOADED);
      await enter(page, 'Adjust', 'Prepaid Leads', { amount: '-20.5' });
      await row.getByText('$479.50').waitFor(LOADED);
      const entries = await listEntries(`buyer_id=${id}`);
      expect(entries).toMatchObject([
        { kind: 'deposit', amount: 500, note: 'Wire of May 1' },
        { kind: 'adjustment', amount: -20.5, note: null },
      ]);
      expect((await get(`buyers/${id}?serializer=buyer_grid`)).buyer.balance).toBe(479.5);
      // The API's refusal stands at the field, and nothing is entered.
      await page.getByRole('button', { name: 'Deposit: Prepaid Leads' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Amount').fill('-5');
      await dialog.getByRole('button', { name: 'Deposit', exact: true }).click();
      await dialog.getByText(/^Amount must be/).waitFor(LOADED);
      await page.keyboard.press('Escape');
      expect((await listEntries(`buyer_id=${id}`)).length).toBe(2);

      // A statement is of a period that is over.
      await here.world.sql('UPDATE account_entries SET created_at = $1 WHERE buyer_id = $2', [
        LAST_MONTH,
        id,
      ]);
      await page.getByRole('link', { name: 'Statements: Prepaid Leads' }).click();
      const preview = page.getByRole('status', { name: 'What the statement will hold' });
      await preview.getByText('2, 0 of them of calls').waitFor(LOADED);
      for (const amount of ['$500.00', '-$20.50', '$479.50'])
        await preview.getByText(amount, { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Draw up' }).click(LOADED);
      await until(page, `/^#\\/statements\\/\\d+$/.test(location.hash)`);
      const { statements } = await get(`statements?buyer_id=${id}`);
      const [statement] = statements;
      expect(statements).toHaveLength(1);
      expect(statement).toMatchObject({ entries_count: 2, closing_balance: 479.5 });
      const summary = panel(page, 'Summary');
      await summary.getByText('Prepaid Leads').waitFor(LOADED);
      const text = await summary.innerText();
      for (const amount of [statement.closing_balance, statement.totals.deposit])
        expect(text).toContain(dollars(amount));
      const { lines } = await get(`statements/${statement.id}/lines`);
      const shown = panel(page, 'Lines').locator('tbody tr');
      await shown.first().waitFor(LOADED);
      expect(await shown.count()).toBe(lines.length);
      for (const [n, line] of lines.entries())
        expect(await shown.nth(n).innerText()).toContain(dollars(line.balance));
      const download = page.waitForEvent('download');
      await panel(page, 'Lines').getByRole('button', { name: 'CSV' }).click();
      expect((await download).suggestedFilename()).toBe(`statement-${statement.id}.csv`);
      await page.emulateMedia({ media: 'print' });
      await summary.waitFor();
      expect(await page.getByRole('navigation', { name: 'Views' }).isVisible()).toBe(false);
      await page.emulateMedia({ media: null });

      // A period that is not over is drawn up as far as it may be.
      await goTo(page, `#/statements?buyer_id=${id}`);
      // Those days are on a statement already.
      await preview.getByRole('link', { name: /^Statement \d+ \(/ }).waitFor(LOADED);
      await page.getByLabel('Period', { exact: true }).selectOption({ label: 'Last 7 days' });
      await preview.getByText('Nothing was entered on this account').waitFor(LOADED);
      await page.getByRole('button', { name: 'Draw up' }).click(LOADED);
      await until(page, `/^#\\/statements\\/\\d+$/.test(location.hash)`);
      expect((await get(`statements?buyer_id=${id}`)).statements).toHaveLength(2);
    },
    [422],
  ),
);

inBrowser('a buyer who pays later owes what it was billed and has not paid', () =>
  asDemo(async (page) => {
    const { body } = await here.api('post', 'buyers', {
      body: { name: 'Postpaid Leads', number: '+12125550198' },
    });
    const { id } = body.buyer;
    const enterAmount = (amount: number) =>
      here.api('post', 'account_entries', { body: { buyer_id: id, kind: 'adjustment', amount } });
    await enterAmount(-45);
    await goTo(page, '#/accounts');
    const row = page.getByRole('row', { name: /^Postpaid Leads/ });
    await row.getByText('owes $45.00').waitFor(LOADED);
    await enter(page, 'Deposit', 'Postpaid Leads', { amount: '500' });
    await row.getByText('$455.00').waitFor(LOADED);
    expect(await row.innerText()).toMatch(/later\s+\$45\.00\s+\$500\.00\s+\$455\.00/);
    // The page of the buyer has its account too.
    await goTo(page, `#/buyers/${id}`);
    const account = panel(page, 'Account');
    await account.getByText('$455.00').waitFor(LOADED);
    await enter(page, 'Adjust', 'Postpaid Leads', { amount: '-5' });
    await account.getByText('$450.00').waitFor(LOADED);
    // How it pays is changed there.
    await account.getByRole('button', { name: 'How it pays: Postpaid Leads' }).click();
    const terms = page.getByRole('dialog', { name: 'How it pays: Postpaid Leads' });
    await terms.getByLabel('Pays in advance').check(LOADED);
    await terms.getByLabel('May owe up to').fill('50');
    await terms.getByRole('button', { name: 'Save', exact: true }).click();
    await terms.waitFor({ ...LOADED, state: 'hidden' });
    await account.getByText('in advance', { exact: true }).waitFor(LOADED);
    expect((await get(`buyers/${id}?serializer=buyer_grid`)).buyer).toMatchObject({
      prepaid: true,
      credit_limit: 50,
      balance_low_limit: null,
    });
    await account.getByRole('link', { name: 'Statements: Postpaid Leads' }).click();
    await until(page, `location.hash === '#/statements?buyer_id=${id}'`);
  }),
);

inBrowser(
  'a payout to a source is an entry below 0; the table of entries and its CSV have it',
  () =>
    asDemo(async (page) => {
      const [source] = (await get('traffic_sources')).traffic_sources;
      await goTo(page, '#/payouts');
      await enter(page, 'Record a payout', source.name, { amount: '120', note: 'November' });
      const [entry] = await listEntries(`traffic_source_id=${source.id}`);
      await page
        .getByRole('row', { name: new RegExp(`^${source.name}`) })
        .getByText('$120.00', { exact: true })
        .waitFor(LOADED);
      expect(entry).toMatchObject({ kind: 'payment', amount: -120, note: 'November' });
      await page.getByRole('link', { name: `Entries: ${source.name}` }).click();
      await page.getByRole('row', { name: /Payout\s+-\$120\.00\s+November/ }).waitFor(LOADED);
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'CSV' }).click();
      expect((await download).suggestedFilename()).toMatch(/^account_entries-[\d-]{10}\.csv$/);
      await goTo(page, `#/account_entries/${entry!.id}`);
      await page.getByRole('heading', { level: 1, name: 'Payout of -$120.00' }).waitFor(LOADED);
      // Its name is loaded after the entry.
      await panel(page, 'Entry').getByText(source.name).first().waitFor(LOADED);
    }),
);
