import { inBrowser } from '../../support/browser';
import { goTo, panel, until, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';

// Calls and leads in the console, on the real service: found as people look for them, changed with
// a reason, and blocked.

const LOADED = { timeout: FAR_MS };
const { here, get, asDemo } = useConsole();

inBrowser('calls are found by number in any spelling, by the name of a buyer, and by filters', () =>
  asDemo(async (page) => {
    await goTo(page, '#/calls');
    const search = page.getByRole('searchbox');
    const find = async (text: string) => {
      await search.fill(text);
      await page.keyboard.press('Enter');
    };
    await find('(212) 555-0123');
    await page.getByText('1–1 of 1 call').waitFor(LOADED);
    await find('acme');
    await until(page, `location.hash === '#/calls?buyer_id=1'`);
    const { metadata } = await get(`calls?buyer_id=1`);
    await page
      .getByText(`1–${metadata.total_count} of ${metadata.total_count} calls`)
      .waitFor(LOADED);
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByText('More filters').click();
    await page.getByLabel('Under way', { exact: true }).selectOption('yes');
    const open = await get('calls?buyer_id=1&in_progress=true');
    await page.getByText(new RegExp(`of ${open.metadata.total_count} call`)).waitFor(LOADED);
    await page.getByRole('button', { name: 'Remove the filter Buyer' }).click();
    await until(page, `location.hash === '#/calls?in_progress=true'`);
    await page.getByLabel('Period').selectOption('Yesterday');
    await page.getByText('No calls match').waitFor(LOADED);
    // Several names: a person chooses.
    await goTo(page, '#/calls');
    await find('a');
    await page
      .getByRole('list', { name: 'Calls of' })
      .getByRole('link', { name: 'Auto insurance, offer' })
      .click();
    await until(page, `location.hash === '#/calls?offer_id=${here.offer.id}'`);
  }),
);

inBrowser('a call that no buyer could take says so, and a test call that it is one', () =>
  asDemo(async (page) => {
    const body = { name: 'Closed', buyer_ids: [] };
    const { offer } = (await here.api('post', 'offers', { body })).body;
    await here.api('post', 'call_sessions/test', {
      body: { offer_id: offer.id, caller_number: '+12125550127' },
    });
    await goTo(page, `#/calls?offer_id=${offer.id}`);
    const row = page.locator('tbody tr');
    await row.getByText('no buyer', { exact: true }).waitFor(LOADED);
    await row.getByText('test', { exact: true }).waitFor(LOADED);
  }),
);

inBrowser('a call is returned with a reason, and paid again', () =>
  asDemo(async (page) => {
    const id = here.calls.paid;
    const call = async () => (await get(`calls/${id}`)).call;
    expect(await call()).toMatchObject({ buyer_converted: true });
    await goTo(page, `#/calls/${id}`);
    await page.getByRole('button', { name: 'Return the call' }).click();
    const dialog = page.getByRole('dialog', { name: 'Return the call' });
    expect(await dialog.innerText()).toMatch(
      /source loses its payout|No payout is taken back|one call less\./,
    );
    await dialog.getByLabel('Reason').fill('Wrong number');
    await dialog.getByRole('button', { name: 'Return it' }).click();
    await page.getByRole('button', { name: 'Mark as paid' }).waitFor(LOADED);
    await page.locator('.title').getByText('returned', { exact: true }).waitFor(LOADED);
    expect(await call()).toMatchObject({ buyer_converted: false, revenue: 0 });
    await panel(page, 'What happened').getByText('Wrong number').first().waitFor(LOADED);
    expect(await panel(page, 'Why it was not paid').innerText()).toContain('returned');
    await page.getByRole('button', { name: 'Mark as paid' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Mark as paid' }).click();
    await page.getByRole('button', { name: 'Return the call' }).waitFor(LOADED);
    await page.getByRole('button', { name: 'Adjust amounts' }).click();
    await page.getByLabel('Revenue, plus or minus').fill('-2.5');
    const before = (await call()).revenue;
    await page.getByRole('dialog').getByRole('button', { name: 'Adjust' }).click();
    await page.getByText('The amounts are adjusted.').last().waitFor(LOADED);
    await until(page, `!document.querySelector('dialog')`);
    expect((await call()).revenue).toBe(before - 2.5);
  }),
);

inBrowser('a call gets a disposition and notes; its caller is blocked, and that is undone', () =>
  asDemo(async (page) => {
    await here.api('post', 'dispositions', { body: { key: 'sold', name: 'Policy sold' } });
    const id = here.calls.paid;
    await goTo(page, `#/calls/${id}`);
    await page.getByLabel('Disposition').selectOption('Policy sold');
    await page.getByRole('textbox', { name: 'Notes' }).fill('Wants a second car insured.');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor(LOADED);
    expect((await get(`calls/${id}`)).call).toMatchObject({
      disposition_key: 'sold',
      disposition_notes: 'Wants a second car insured.',
    });
    const isBlocked = async () =>
      (await get('contacts?caller_id=%2B12125550123')).contacts[0]?.blocked ?? false;
    await page.getByRole('button', { name: 'Block this caller' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Block', exact: true }).click();
    await page.getByText('is blocked.').waitFor(LOADED);
    expect(await isBlocked()).toBe(true);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('is no longer blocked.').waitFor(LOADED);
    expect(await isBlocked()).toBe(false);
    await page.getByRole('button', { name: 'Block this caller' }).click();
    await page.getByLabel('buyers with a suppression list').check();
    await page.getByLabel('Suppression list', { exact: true }).click();
    await page.getByRole('option', { name: /Do not call us/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Block', exact: true }).click();
    await page.getByText('is blocked.').last().waitFor(LOADED);
    const { caller_ids } = await get(`buyer_suppressions/${here.list}/caller_ids`);
    expect(JSON.stringify(caller_ids)).toContain('+12125550123');
  }),
);

inBrowser('the fields of a lead are changed on its page', () =>
  asDemo(async (page) => {
    await goTo(page, `#/leads/${here.lead}`);
    await page.getByLabel('E-mail').fill('maria@example.com');
    await page.getByLabel('At most this many attempts').fill('4');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor(LOADED);
    const { lead } = await get(`leads/${here.lead}`);
    expect(lead).toMatchObject({ email: 'maria@example.com', max_contact_attempts: 4 });
  }),
);
