import { inBrowser } from '../../support/browser';
import { chooseRecord, goTo, panel, press, useConsole } from '../../support/console';
import { FAR_MS } from '../../support/patience';

// Lists of values, ZIP codes and numbers are made by hand or from files, searched and changed; each
// test ends with the record that the API shows.

const LOADED = { timeout: FAR_MS };
const { here, get, asDemo } = useConsole();

let workers: { stop(): Promise<void> };
beforeAll(async () => void (workers = await here.world.work()));
afterAll(() => workers.stop());

const toFile = (name: string, text: string) => ({
  name,
  mimeType: 'text/csv',
  buffer: Buffer.from(text),
});

async function readNewest(noun: string) {
  const list = await get(`${noun}?order=id&order_dir=desc&per_page=1`);
  return list[list.metadata.root][0];
}

inBrowser('a value list is made by hand; its values are searched, added and taken off', () =>
  asDemo(async (page) => {
    await goTo(page, '#/value_lists/new');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Cities');
    await page.getByRole('textbox', { name: 'Values' }).fill('New York\nLos Angeles\n');
    await press(page, 'Create the value list');
    const values = panel(page, 'Values');
    await values.getByText('2 in all').waitFor(LOADED);
    await values.getByLabel('Add or take off, one on each line').fill('Reno\nnew york');
    await values.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('1 added. 1 needed no change.').waitFor(LOADED);
    await values.getByRole('button', { name: 'Take Los Angeles off' }).click();
    await values.getByText('2 in all').waitFor(LOADED);
    await values.getByLabel('Is it on the list?').fill('RENO');
    await values.getByRole('button', { name: 'Search' }).click();
    await values.getByText('“RENO” is on the list.').waitFor(LOADED);
    const { id } = await readNewest('value_lists');
    expect((await get(`value_lists/${id}/values`)).values).toEqual(['new york', 'reno']);
  }),
);

inBrowser('a ZIP list is made from a CSV file, and grows by another', () =>
  asDemo(async (page) => {
    await goTo(page, '#/zip_lists');
    await page.getByRole('link', { name: 'New ZIP list' }).click();
    await page.getByRole('link', { name: 'From a CSV file' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Los Angeles', LOADED);
    await page
      .locator('input[type=file]')
      .setInputFiles(toFile('a.csv', 'city,plz\nLA,90001\nLA,90002\n'));
    await page.getByLabel('Column with the values').fill('plz');
    await press(page, 'Create the ZIP list');
    const codes = panel(page, 'ZIP codes');
    await codes.getByText('2 in all').waitFor(LOADED);
    await codes.locator('input[type=file]').setInputFiles(toFile('b.csv', 'zip\n90003\n'));
    await codes.getByRole('button', { name: 'Add the file' }).click();
    await codes.getByText('3 in all').waitFor(LOADED);
    const { id, name } = await readNewest('zip_lists');
    expect(name).toBe('Los Angeles');
    expect((await get(`zip_lists/${id}/values`)).values).toEqual(['90001', '90002', '90003']);
  }),
);

inBrowser('a do-not-call list is uploaded to a new list, with its column and its faults', () =>
  asDemo(async (page) => {
    await goTo(page, '#/buyer_suppressions');
    await page.getByRole('link', { name: 'New suppression list' }).click();
    const csv = 'name,mobile,office\nAnn,2135550181,2135550191\nBob,2135550182,\nCy,12,\n';
    await page.getByLabel('File of numbers').setInputFiles(toFile('dnc.csv', csv));
    await page.getByLabel('Column of the numbers').selectOption('mobile', LOADED);
    await page.getByLabel('Name of the list').fill('Do not call, November');
    await press(page, 'Upload');
    const rejected = panel(page, 'Rejected rows');
    await rejected.getByRole('row', { name: /4\s+12/ }).waitFor(LOADED);
    const download = page.waitForEvent('download');
    await rejected.getByRole('button', { name: 'CSV' }).click();
    expect((await download).suggestedFilename()).toBe('rejected-rows.csv');
    await page.getByRole('link', { name: 'See the list' }).click();
    const numbers = panel(page, 'Numbers');
    await numbers.getByText('2 numbers in all').waitFor(LOADED);
    const { id, name, blocked } = await readNewest('buyer_suppressions');
    expect([name, blocked]).toEqual(['Do not call, November', 2]);

    await numbers.getByLabel('Is this number on the list?').fill('213 555 0181');
    await numbers.getByRole('button', { name: 'Search' }).click();
    await numbers.getByText('213 555 0181 is on the list.').waitFor(LOADED);
    await numbers.getByLabel(/Add or take off/).fill('(213) 555-0183\n99');
    await numbers.getByRole('button', { name: 'Add', exact: true }).click();
    await numbers.getByRole('row', { name: /^99/ }).waitFor(LOADED);
    await numbers.getByLabel(/Add or take off/).fill('2135550182');
    await numbers.getByRole('button', { name: 'Take off' }).click();
    await page.getByText('1 taken off the list.').waitFor(LOADED);
    expect((await get(`buyer_suppressions/${id}/caller_ids`)).caller_ids).toEqual([
      '+12135550181',
      '+12135550183',
    ]);
  }),
);

inBrowser('an import that could not find its column starts again with the one that is named', () =>
  asDemo(async (page) => {
    await goTo(page, `#/buyer_suppression_files/new?list=${here.list}`);
    const csv = 'first,second\n2135550171,2135550172\n';
    await page.getByLabel('File of numbers').setInputFiles(toFile('two.csv', csv));
    await press(page, 'Upload');
    const choice = page.getByLabel('Which column has the numbers?');
    await choice.selectOption('second', LOADED);
    await press(page, 'Start again with this column');
    await panel(page, 'Import').getByText('succeeded').waitFor(LOADED);
    const { caller_ids: numbers } = await get(
      `buyer_suppressions/${here.list}/caller_ids?caller_id=2135550172`,
    );
    expect(numbers).toEqual(['+12135550172']);
  }),
);

inBrowser('a caller is blocked by a list, and everywhere', () =>
  asDemo(async (page) => {
    await goTo(page, '#/buyer_suppressions');
    await page.getByText('Block a caller').click();
    const number = page.getByLabel('The caller’s number');
    await number.fill('213 555 0161');
    await chooseRecord(page, 'Suppression list', 'Do not call us');
    await press(page, 'Block the caller');
    await page.getByText('213 555 0161 is blocked.').waitFor(LOADED);
    expect(
      (await get(`buyer_suppressions/${here.list}/caller_ids?caller_id=2135550161`)).caller_ids,
    ).toEqual(['+12135550161']);
    await number.fill('213 555 0162');
    await page.getByLabel('Where').selectOption('company');
    await press(page, 'Block the caller');
    await page.getByText('213 555 0162 is blocked.').waitFor(LOADED);
    const { call_session: session } = (
      await here.api('post', 'call_sessions', {
        body: { offer_id: here.offer.id, caller_number: '2135550162' },
      })
    ).body;
    expect(session.instruction.dial).toEqual([]);

    const isBlocked = async () =>
      (await get('contacts?caller_id=%2B12135550162')).contacts[0].blocked;
    await goTo(page, `#/calls/${session.id}`);
    await page.getByText('blocked', { exact: true }).waitFor(LOADED);
    await press(page, 'Unblock');
    await page.getByText('+12135550162 is no longer blocked.').waitFor(LOADED);
    expect(await isBlocked()).toBe(false);
    await page.locator('.toasts').getByRole('button', { name: 'Undo' }).last().click();
    await page.getByText('+12135550162 is blocked.').waitFor(LOADED);
    await goTo(page, '#/contacts');
    await page.getByRole('row', { name: /\+12135550162/ }).waitFor(LOADED);
    await press(page, 'Unblock +12135550162');
    await page.getByText('There are no blocked callers yet.').waitFor(LOADED);
    expect(await isBlocked()).toBe(false);
  }),
);
