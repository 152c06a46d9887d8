import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { makeOwnerToken } from '../../../src/domain/people/sign-in/owner';
import { inBrowser, LOADED, PHONE, withPage } from '../../support/browser';
import { PASSWORD } from '../../support/console-session';
import { settled, until, useConsole, type ConsoleWorld } from '../../support/console';
import { beginCall } from '../../support/reported-calls';
import { addStep } from '../../support/tasks/lists';
import { createPerson, findOne, read, type Person } from '../../support/tasks/person';
import {
  assignBuyers,
  createBuyer,
  createOffer,
  createSource,
  enterNumber,
} from '../../support/tasks/routing';
import type { Company } from '../../support/world';

// The first day of a new company in the console, from its owner's link to its first statement. With
// PICTURES=docs/images it makes the pictures of docs/console.md.

const { here } = useConsole();

const picture = async (page: Page, name: string, height = 900): Promise<void> => {
  if (!process.env.PICTURES) return;
  const before = page.viewportSize()!;
  if (before.width > 1000) await page.setViewportSize({ width: 1280, height });
  await settled(page);
  // A person would read these messages one after the other.
  await page.evaluate(`document.querySelector('.toasts').style.visibility = 'hidden'`);
  await page.screenshot({ path: join(process.env.PICTURES, `console-${name}.png`) });
  await page.evaluate(`document.querySelector('.toasts').style.visibility = ''`);
  await page.setViewportSize(before);
};

async function becomeOwner(page: Page, company: Company): Promise<void> {
  const { deps } = here.world;
  const token = await makeOwnerToken(deps.tenants.of(company.id), deps.pepper);
  await page.evaluate(`location.hash = '#/owner?token=${token}'`);
  await page.getByLabel('E-mail address').fill('olive@lakeside.example');
  await page.getByLabel('Your name').fill('Olive Owner');
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  expect(await page.getByText('to do', { exact: true }).count()).toBe(5);
}

const BUYERS = [
  ['Prairie Roofing', '+13125550101', '42', '60'],
  ['Summit Exteriors', '+13035550102', '38', '90'],
  ['Harbor Home Repair', '+16175550103', '29.5', '45'],
] as const;

async function addBuyers(person: Person): Promise<void> {
  for (const [name, number, price, seconds] of BUYERS) {
    const id = await createBuyer(person, name, {
      'Sends calls to': number,
      'Pays for a call': price,
      'If it lasts at least': seconds,
      'Dialed in a day': '12',
    });
    expect(await read(person, `buyers/${id}?serializer=buyer_grid`, 'buyer')).toMatchObject({
      name,
      bid_price: Number(price),
      attempt_daily_limit: 12,
    });
  }
}

async function makeOffer(person: Person): Promise<number> {
  const id = await createOffer(person, 'Roofing, Midwest');
  await assignBuyers(
    person,
    BUYERS.map(([name]) => name),
  );
  expect((await read(person, `offers/${id}`, 'offer')).buyer_ids).toHaveLength(BUYERS.length);
  return id;
}

const NUMBERS = [
  ['+13125550150', 'Search ads'],
  ['+13125550151', 'Yard signs'],
] as const;

async function addNumbers(person: Person): Promise<void> {
  for (const [number, source] of NUMBERS) {
    await createSource(person, source);
    await enterNumber(person, number, { Offer: 'Roofing', 'Traffic source': source });
    expect(await findOne(person, `phone_numbers?number=%2B${number.slice(1)}`)).toMatchObject({
      offer: 'Roofing, Midwest',
      traffic_source: source,
    });
  }
}

async function makeTestCall(person: Person, offer: number): Promise<void> {
  await person.open('Offers');
  await person.follow('Roofing, Midwest');
  await person.press('Test call');
  await person.type('From', '(312) 555-0188');
  await person.press('Make the test call');
  await person.sees('completed', person.panel('As it happens'));
  const call = await findOne(person, `calls?offer_id=${offer}`);
  expect(call).toMatchObject({ sandbox: true, buyer_converted: true });
}

/** Calls as a switch reports them: to two numbers, some too short to be paid, one not taken. */
async function receiveCalls(company: Company): Promise<void> {
  for (let n = 0; n < 24; n++) {
    const { say } = await beginCall(company.api, {
      number_called: NUMBERS[n % 3 === 0 ? 1 : 0][0],
      caller_number: `+1312555${String(1200 + n * 7)}`,
    });
    await say('answered');
    // Three are still talking.
    if (n >= 3) await say('completed', { duration: n % 5 === 0 ? 20 : 95 + n * 11 });
  }
}

async function returnCall(person: Person): Promise<void> {
  await person.open('Calls');
  await person.press('Filter');
  await person.select('Paid', 'yes');
  await until(person.page, `location.hash.includes('converted')`);
  await settled(person.page);
  await picture(person.page, 'calls');
  await person.hands.press(person.page.locator('tbody tr').nth(1).getByRole('link').first());
  await person.press('Return the call');
  const dialog = person.page.getByRole('dialog', { name: 'Return the call' });
  await person.type('Reason', 'Wrong state', dialog);
  await picture(person.page, 'call', 1300);
  await person.press('Return it', dialog);
  await person.page.getByRole('button', { name: 'Mark as paid' }).waitFor();
  const id = /\d+$/.exec(person.page.url())![0];
  expect(await read(person, `calls/${id}`, 'call')).toMatchObject({ revenue: 0 });
}

async function report(person: Person): Promise<void> {
  await person.open('Reports');
  await person.select('Period', 'Today');
  await person.select('Group by', 'Source');
  await person.select('then by', 'Buyer');
  const table = person.panel('Report');
  await table.getByRole('columnheader', { name: 'Buyer' }).waitFor();
  await settled(person.page);
  const { totals } = (
    await person.api(
      'get',
      'calls/reports/grouped?group_by=traffic_source,buyer&call_category=inbound',
    )
  ).body;
  expect(await table.locator('tfoot').innerText()).toContain(`$${totals.revenue.toFixed(2)}`);
  await picture(person.page, 'reports', 1100);
}

async function followUp(person: Person): Promise<void> {
  await person.open('Schedules');
  await person.follow('New schedule');
  await person.type('Name', 'Roof quotes');
  await person.find('Offer', 'Roofing');
  await person.press('Create the schedule');
  await person.created('Roof quotes');
  await addStep(person, 'Send a text', {
    Text: 'Hi [first_name]{there}, we call you about your roof.',
  });
  await addStep(person, 'Wait', { Wait: '1' });
  await addStep(person, 'Call the lead');
  await picture(person.page, 'schedule');
  await person.press('Test lead');
  await person.type('Telephone number', '(312) 555-0177');
  await person.type('Name', 'Maria Lopez');
  await person.press('Send the lead');
  await person.panel('What happened').getByRole('listitem').first().waitFor();
  await person.follow('The page of the lead');
  await person.panel('What will happen').getByRole('listitem').first().waitFor();
  await picture(person.page, 'lead');
  expect(await findOne(person, 'leads?number=3125550177')).toMatchObject({
    full_name: 'Maria Lopez',
  });
}

/** A month goes by: statements are of periods that are over. */
async function letMonthPass({ world }: ConsoleWorld, company: Company): Promise<void> {
  const lastMonth = new Date();
  lastMonth.setUTCMonth(lastMonth.getUTCMonth(), 0);
  await world.sql('UPDATE account_entries SET created_at = $1 WHERE company_id = $2', [
    lastMonth,
    company.id,
  ]);
}

async function drawStatement(person: Person): Promise<void> {
  await person.open('Statements');
  await person.find('Buyer', 'Prairie');
  await person.press('Draw up');
  await person.page.waitForURL(/#\/statements\/\d+$/);
  const statement = await findOne(person, 'statements');
  expect(statement.entries_count).toBeGreaterThan(1);
  await person.panel('Lines').locator('tbody tr').first().waitFor();
  const text = await person.panel('Summary').innerText();
  expect(text).toContain(Math.abs(statement.closing_balance).toFixed(2));
  await picture(person.page, 'statement');
}

inBrowser('a new company comes from its owner’s link to its first statement', async () => {
  const workers = await here.world.work();
  const company = await here.world.addCompany('Lakeside Leads');
  await withPage(here.server, '/console/', { width: 1280, height: 900 }, async (page) => {
    page.setDefaultTimeout(LOADED.timeout);
    page.on('dialog', (dialog) => void dialog.accept());
    const person = createPerson(page, 'mouse', { ...here, api: company.api });
    await becomeOwner(page, company);
    await picture(page, 'first-steps');
    await addBuyers(person);
    const offer = await makeOffer(person);
    await addNumbers(person);
    await makeTestCall(person, offer);
    await receiveCalls(company);
    await person.open('Now');
    await picture(page, 'now');
    await page.setViewportSize(PHONE);
    await picture(page, 'phone');
    await page.setViewportSize({ width: 1280, height: 900 });
    await returnCall(person);
    await report(person);
    await page.emulateMedia({ colorScheme: 'dark' });
    await person.open('Buyers');
    await person.follow('Prairie Roofing');
    await person.panel('Used and left').waitFor();
    await picture(page, 'buyer', 1100);
    await page.emulateMedia({ colorScheme: 'light' });
    await followUp(person);
    await letMonthPass(here, company);
    await drawStatement(person);
  });
  await workers.stop();
});
