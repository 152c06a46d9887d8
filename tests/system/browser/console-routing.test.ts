import type { Page } from 'playwright-core';
import { inBrowser } from '../../support/browser';
import { chooseRecord, goTo, panel, press, settled, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';

// Groups, fleets, offers, traffic sources and dispositions are made, changed, paused, copied and
// deleted by hand; each test ends with the record that the API shows.

const LOADED = { timeout: FAR_MS };
const { here, get, asDemo, dollars } = useConsole();

/** The newest record of a noun. */
async function readNewest(noun: string, key: string) {
  const list = await get(`${noun}?order=created_at&order_dir=desc&per_page=1`);
  const [{ id }] = list[list.metadata.root];
  return (await get(`${noun}/${id}`))[key];
}

const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });

/** Waits for the short message that something was done. */
const wasSaid = (page: Page, text: string | RegExp) =>
  page.locator('.toasts').getByText(text).last().waitFor(LOADED);

inBrowser('an offer is made, gets buyers by their names, is paused, copied and deleted', () =>
  asDemo(async (page) => {
    await goTo(page, '#/offers');
    await page.getByRole('link', { name: 'New offer' }).click();
    await field(page, 'Name').fill('Solar, west', LOADED);
    await chooseRecord(page, 'Buyers', 'Acme');
    await page.getByLabel('The caller').selectOption('message');
    await field(page, 'Hears').fill('Nobody is free now.');
    await press(page, 'Create the offer');
    const buyers = panel(page, 'Buyers, in the order in which calls try them');
    await buyers.getByRole('link', { name: /Acme/ }).waitFor(LOADED);
    await chooseRecord(page, 'Add a buyer', 'Hudson');
    await buyers.getByRole('link', { name: /Hudson/ }).waitFor(LOADED);
    // A price comes before a priority.
    expect(await buyers.locator('tbody tr td:nth-child(2)').allInnerTexts()).toEqual([
      'Hudson Home',
      'Acme Insurance, Los Angeles',
    ]);
    // Its price depends on the hour; at some it has none.
    const [hudson] = (await get('buyers?fulltext=hudson&columns=id,bid_price')).buyers;
    const first = await buyers.locator('tbody tr').first().innerText();
    expect(first).toContain(`${dollars(hudson.bid_price ?? 0)} a call`);
    await buyers.getByRole('button', { name: /Take off Acme/ }).click();
    await buyers.getByRole('link', { name: /Acme/ }).waitFor({ ...LOADED, state: 'detached' });
    const offer = await readNewest('offers', 'offer');
    expect(offer).toMatchObject({
      name: 'Solar, west',
      fallback_type: 'message',
      fallback_message: 'Nobody is free now.',
      buyer_ids: [hudson.id],
      paused: false,
    });
    const leads = panel(page, 'Sending leads to it');
    expect(await leads.innerText()).toContain(offer.lead_token);
    await leads.getByText('Posting instructions').click();
    await leads.getByText(`lead_token=${offer.lead_token}`).waitFor(LOADED);

    await press(page, 'Pause');
    await wasSaid(page, /is paused\./);
    expect((await get(`offers/${offer.id}`)).offer.paused).toBe(true);
    await press(page, 'Undo');
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor(LOADED);
    expect((await get(`offers/${offer.id}`)).offer.paused).toBe(false);

    await press(page, 'New lead token');
    await wasSaid(page, 'The offer has a new lead token.');
    expect((await get(`offers/${offer.id}`)).offer.lead_token).not.toBe(offer.lead_token);

    await press(page, 'Copy');
    await page.getByText('New offer, copied from another').waitFor(LOADED);
    await press(page, 'Create the offer');
    await page.getByRole('heading', { name: 'Solar, west (copy)' }).waitFor(LOADED);
    const copy = await readNewest('offers', 'offer');
    expect(copy).toMatchObject({
      name: 'Solar, west (copy)',
      fallback_message: 'Nobody is free now.',
      buyer_ids: [hudson.id],
    });
    await press(page, 'Delete');
    await wasSaid(page, 'Deleted.');
    expect((await here.api('get', `offers/${copy.id}`)).status).toBe(404);
  }),
);

inBrowser('the order of the buyers of an offer is changed on its page', () =>
  asDemo(async (page) => {
    const create = async (noun: string, body: object) =>
      (await here.api('post', `${noun}s`, { body })).body[noun];
    const makeBuyer = (name: string, weight: number) =>
      create('buyer', { name, number: '+13105550133', weight });
    const [north, south] = [await makeBuyer('North desk', 3), await makeBuyer('South desk', 1)];
    const offer = await create('offer', { name: 'Windows', buyer_ids: [north.id, south.id] });
    await create('offer', { name: 'Doors', buyer_ids: [south.id] });
    await goTo(page, `#/offers/${offer.id}`);
    const buyers = panel(page, 'Buyers, in the order in which calls try them');
    await buyers.getByText('Buyers of one turn are drawn').waitFor(LOADED);
    const readRows = () => buyers.locator('tbody tr').allInnerTexts();
    expect((await readRows()).map((row) => row.match(/\d+%/)?.[0])).toEqual(['75%', '25%']);
    await buyers.getByRole('button', { name: 'Change the order' }).click();
    const ownOffers = buyers.locator('tbody tr', { hasText: 'South desk' });
    await ownOffers.getByRole('link', { name: 'Doors' }).waitFor(LOADED);
    await buyers.getByLabel('Priority of North desk').fill('2');
    await buyers.getByLabel('Weight of South desk').fill('5');
    await buyers.getByRole('button', { name: 'Save the order' }).click();
    await wasSaid(page, 'The order was changed.');
    expect((await readRows()).map((row) => row.split('\t').slice(0, 2))).toEqual([
      ['1', 'South desk'],
      ['2', 'North desk'],
    ]);
    const read = async ({ id }: { id: number }) => (await get(`buyers/${id}`)).buyer;
    expect(await read(north)).toMatchObject({ tier: 2, weight: 3 });
    expect(await read(south)).toMatchObject({ tier: 1, weight: 5 });
  }),
);

inBrowser('a group and a fleet have buyers, and a group has caps', () =>
  asDemo(async (page) => {
    await goTo(page, '#/buyer_groups/new');
    await field(page, 'Name').fill('East coast');
    await page.getByLabel('Rings its buyers').selectOption('simultaneously');
    await field(page, 'Priority').fill('2');
    await chooseRecord(page, 'Buyers of the group', 'Hudson');
    await field(page, 'Calls at once').fill('3');
    await press(page, 'Create the buyer group');
    const buyers = panel(page, 'Buyers, in the order in which calls try them');
    await chooseRecord(page, 'Add a buyer', 'Bayline');
    await buyers.getByRole('link', { name: /Bayline/ }).waitFor(LOADED);
    expect(await buyers.innerText()).toContain('All are rung at once');
    const group = await readNewest('buyer_groups', 'buyer_group');
    expect(group).toMatchObject({
      name: 'East coast',
      dial_buyers_type: 'simultaneously',
      tier: 2,
      concurrency_cap_limit: 3,
      buyers_count: 2,
    });

    await goTo(page, '#/buyer_fleets/new');
    await field(page, 'Name').fill('Coasts');
    await field(page, 'Your key for it').fill('coasts');
    await press(page, 'Create the fleet');
    await chooseRecord(page, 'Add a buyer', 'Acme');
    const fleet = panel(page, 'Buyers of the fleet');
    await fleet.getByRole('link', { name: /Acme/ }).waitFor(LOADED);
    expect(await readNewest('buyer_fleets', 'buyer_fleet')).toMatchObject({
      user_fleet_id: 'coasts',
      buyers_count: 1,
    });
    await fleet.getByRole('button', { name: /Take Acme .* off/ }).click();
    await fleet.getByText('No buyer is in this fleet.').waitFor(LOADED);
  }),
);

inBrowser('a publisher is invited, gets a token that is shown once, and has a report', () =>
  asDemo(async (page) => {
    await goTo(page, '#/traffic_sources/new');
    await field(page, 'Name').fill('Spring ads');
    const people = page.getByLabel('Invite these people');
    await people.fill('pat@publisher.example');
    await people.press('Enter');
    await chooseRecord(page, 'They see only calls to these offers', 'Auto');
    await press(page, 'Create the traffic source');
    await page.getByRole('heading', { name: 'Spring ads' }).waitFor(LOADED);
    const source = await readNewest('traffic_sources', 'traffic_source');
    const { users } = await get('users?fulltext=pat');
    expect(users).toMatchObject([{ email: 'pat@publisher.example' }]);

    const tokens = panel(page, 'Tokens');
    await tokens.getByLabel('What it is for').fill('Landing page');
    await chooseRecord(page, 'To', 'Auto');
    await tokens.getByRole('button', { name: 'Create the token' }).click();
    await tokens.getByText('Landing page').waitFor(LOADED);
    await tokens.getByText('Show', { exact: true }).click();
    const list = async () =>
      (await get(`traffic_source_tokens?traffic_source_id=${source.id}`)).traffic_source_tokens;
    const [token] = await list();
    expect(token).toMatchObject({ name: 'Landing page', offer_id: here.offer.id });
    expect(await tokens.innerText()).toContain(token.lead_token);
    await tokens.getByRole('button', { name: 'Revoke Landing page' }).click();
    await tokens.getByText('It has no token yet.').waitFor(LOADED);
    expect(await list()).toEqual([]);

    await here.api('post', 'call_sessions', {
      body: {
        offer_id: here.offer.id,
        caller_number: '+12125550188',
        traffic_source_id: source.id,
      },
    });
    const report = panel(page, 'Its calls');
    await report.getByLabel('By', { exact: true }).selectOption('offer');
    await report.getByRole('row', { name: /Auto insurance\s+1/ }).waitFor(LOADED);
    const download = page.waitForEvent('download');
    await report.getByRole('button', { name: 'CSV' }).click();
    expect((await download).suggestedFilename()).toBe('traffic-source.csv');
  }),
);

inBrowser('payouts of an offer are ordered by hand, and shown on the page of the source', () =>
  asDemo(async (page) => {
    const create = async (noun: string, body: object) =>
      (await here.api('post', `${noun}s`, { body })).body[noun];
    const own = [{ payout_type: 'percentage', amount: 40 }];
    const source = await create('traffic_source', { name: 'Radio spots', payouts: own });
    const offer = await create('offer', { name: 'Gutters' });
    await goTo(page, `#/offers/${offer.id}`);
    const payouts = page.getByRole('group', { name: 'Payouts', exact: true });
    const entry = (n: number) => payouts.getByRole('listitem', { name: `payout ${n}` });
    await payouts.getByRole('button', { name: 'Add a payout' }).click();
    await entry(1).getByLabel('Amount').fill('5');
    await payouts.getByRole('button', { name: 'Add a payout' }).click();
    await entry(2).getByLabel('Amount').fill('12.50');
    await entry(2).getByLabel('For', { exact: true }).selectOption('duration');
    await entry(2)
      .getByLabel(/That lasted/)
      .fill('90');
    await entry(2).getByRole('combobox', { name: 'For this source' }).fill('Radio');
    await page.getByRole('option', { name: 'Radio spots' }).click(LOADED);
    await entry(2).getByRole('button', { name: 'Move up' }).click();
    await press(page, 'Save');
    await wasSaid(page, 'Saved.');
    expect((await get(`offers/${offer.id}`)).offer.payouts).toMatchObject([
      { traffic_source_id: source.id, amount: 12.5, paid_for: 'duration', duration: 90 },
      { amount: 5, paid_for: 'buyer_conversion' },
    ]);
    await goTo(page, `#/traffic_sources/${source.id}`);
    const table = panel(page, 'What it is paid, by offer');
    const read = async (name: string) => {
      const row = table.locator('tbody tr', { hasText: name });
      await row.waitFor(LOADED);
      return (await row.locator('td').last().innerText()).split('\n');
    };
    expect(await read('Gutters')).toEqual([
      '$12.50 for a call of 90 seconds or more',
      'else $5.00 for a call that the buyer pays for',
    ]);
    expect(await read('All other offers')).toEqual(['40% of what the buyer pays']);
  }),
);

inBrowser('a disposition is made, changed and deleted', () =>
  asDemo(
    async (page) => {
      await goTo(page, '#/dispositions/new');
      await field(page, 'Name').fill('Not now');
      await field(page, 'Key').fill('Not now');
      await press(page, 'Create the disposition');
      await page
        .getByText(/Key .*pattern|Key must/)
        .first()
        .waitFor(LOADED);
      await field(page, 'Key').fill('not_now');
      await press(page, 'Create the disposition');
      await page.getByRole('heading', { name: 'Not now' }).waitFor(LOADED);
      await field(page, 'Position in menus').fill('7');
      await press(page, 'Save');
      await wasSaid(page, 'Saved.');
      const disposition = await readNewest('dispositions', 'disposition');
      expect(disposition).toMatchObject({ key: 'not_now', name: 'Not now', position: 7 });
      await press(page, 'Delete');
      await wasSaid(page, 'Deleted.');
      await settled(page);
      expect((await here.api('get', `dispositions/${disposition.id}`)).status).toBe(404);
    },
    [422],
  ),
);
