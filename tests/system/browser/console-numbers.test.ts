import { inBrowser } from '../../support/browser';
import { chooseRecord, goTo, panel, until, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';

// Numbers are bought, entered and imported by hand, and lead to an offer or a buyer.

const LOADED = { timeout: FAR_MS };
const { here, get, asDemo } = useConsole();

const findNumber = async (number: string) =>
  (await get(`phone_numbers?number=${encodeURIComponent(number)}`)).numbers[0];

inBrowser('a number is searched, bought after a question, and led to a buyer', () =>
  asDemo(async (page) => {
    await goTo(page, '#/phone_numbers');
    await page.getByText('No carrier is connected').waitFor(LOADED);
    await page.getByRole('link', { name: 'New phone number' }).click();
    await page.getByText('No carrier is connected').waitFor(LOADED);
    await page.getByLabel('Begins with').fill('213', LOADED);
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    const [first] = (await get('phone_numbers/search?prefix=213')).phone_number_search_results;
    await page.getByRole('button', { name: `Buy ${first.phone_number}` }).click(LOADED);
    const question = page.getByRole('dialog');
    await question.getByText('Your carrier charges you').waitFor(LOADED);
    expect(await findNumber(first.phone_number)).toBeUndefined();
    await question.getByLabel('Label').fill('Billboard');
    await chooseRecord(page, 'Offer', 'Auto');
    await question.getByRole('button', { name: `Buy ${first.phone_number}` }).click();
    const title = `${first.phone_number}, Billboard`;
    await page.getByRole('heading', { name: title }).waitFor(LOADED);
    const bought = await findNumber(first.phone_number);
    expect(bought).toMatchObject({
      name: 'Billboard',
      forward_type: 'offer_id',
      offer_id: here.offer.id,
    });

    await page.getByLabel('To', { exact: true }).selectOption('Buyer');
    await chooseRecord(page, 'Buyer', 'Acme');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor(LOADED);
    expect(await findNumber(first.phone_number)).toMatchObject({
      forward_type: 'buyer_id',
      buyer: 'Acme Insurance, Los Angeles',
    });
    await page.getByRole('button', { name: 'Test call' }).click();
    const called = page.getByRole('combobox', { name: 'Number called' });
    await until(page, `document.querySelector('[role=combobox]')?.value.includes('Billboard')`);
    expect(await called.inputValue()).toBe(title);
    await goTo(page, '#/phone_numbers');
    await page.getByRole('row', { name: /Billboard\s+Acme Insurance/ }).waitFor(LOADED);
  }),
);

inBrowser('numbers of one’s own are entered, one or many, with the reason for each refusal', () =>
  asDemo(async (page) => {
    await goTo(page, '#/phone_numbers/new?by=enter');
    const enter = page.getByRole('button', { name: 'Enter the number' });
    // Without a number, one would be bought.
    expect(await enter.isDisabled()).toBe(true);
    await page.getByLabel('Number', { exact: true }).fill('(310) 555-0166');
    await chooseRecord(page, 'Offer', 'Auto');
    await enter.click();
    await page.getByRole('heading', { name: '+13105550166' }).waitFor(LOADED);
    expect(await findNumber('+13105550166')).toMatchObject({ offer_id: here.offer.id });

    await goTo(page, '#/phone_numbers/new?by=import');
    const csv = `number,name,offer_id,colour\n3105550167,One,${here.offer.id},red\n12,Two,,\n`;
    await page.getByLabel('CSV file').setInputFiles({
      name: 'numbers.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(csv),
    });
    await page.getByRole('button', { name: 'Enter the numbers' }).click();
    const result = panel(page, 'Many numbers you have');
    await result.getByText('1 number was entered, 1 not.').waitFor(LOADED);
    await result.getByText('Columns without a meaning here: colour.').waitFor(LOADED);
    expect(await result.getByRole('row').last().innerText()).toMatch(/3\s+12\s+\S/);
    expect(await findNumber('+13105550167')).toMatchObject({
      name: 'One',
      offer_id: here.offer.id,
    });
  }),
);
