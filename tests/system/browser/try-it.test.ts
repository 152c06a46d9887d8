import type { Locator } from 'playwright-core';
import { DESKTOP, inBrowser, LOADED, openOperation, withPage } from '../../support/browser';
import { eventually } from '../../support/engine-process';
import { authorize, useServedWorld } from '../../support/served-world';

// Swagger UI sends what the API accepts: files, forms, and fields in the query string.

const served = useServedWorld();

const pickMediaType = (operation: Locator, type: string) =>
  operation.locator('.opblock-section-request-body .content-type').first().selectOption(type);

const FIELDS = 'input:not([type=checkbox]), textarea';
const listValues = async (operation: Locator): Promise<string[]> =>
  Promise.all((await operation.locator(FIELDS).all()).map((field) => field.inputValue()));

async function execute(operation: Locator): Promise<{ status: string; url: string }> {
  await operation.getByRole('button', { name: 'Execute' }).click(LOADED);
  const answer = operation.locator('.live-responses-table .response-col_status');
  await answer.last().waitFor(LOADED);
  return {
    status: (await answer.last().innerText()).trim().slice(0, 3),
    url: await operation.locator('.request-url pre').innerText(),
  };
}

inBrowser('a suppression list is created with its CSV', () =>
  withPage(served.server, '/api/docs/', DESKTOP, async (page) => {
    await authorize(page, served.world.company.auth);
    const operation = await openOperation(page, 'buyer_suppressions', 'createBuyerSuppression');
    await pickMediaType(operation, 'multipart/form-data');
    await operation.locator('[data-property-name="name"] input').first().fill('Do not call');
    await operation.locator('input[type=file]').setInputFiles({
      name: 'numbers.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('caller_id\n+13105550123\n+13105550124\n'),
    });
    expect((await execute(operation)).status).toBe('201');
    await served.world.work();
    const loadList = async () => {
      const { body } = await served.world.company.api('get', 'buyer_suppressions');
      return body.buyer_suppressions[0];
    };
    await eventually(async () => (await loadList()).import_percent === 100);
    const { id, name } = await loadList();
    expect(name).toBe('Do not call');
    const numbers = await served.world.company.api('get', `buyer_suppressions/${id}/caller_ids`);
    expect(numbers.body.metadata.total_count).toBe(2);
  }),
);

inBrowser('a lead is sent by its query string', () =>
  withPage(served.server, '/api/docs/', DESKTOP, async (page) => {
    const { body } = await served.world.company.api('post', 'offers', { body: { name: 'Solar' } });
    await authorize(page, served.world.company.auth);
    const operation = await openOperation(page, 'leads', 'captureLead');
    const fields = operation.locator('[data-param-name="fields"] textarea');
    await fields.fill(JSON.stringify({ caller_id: '+13105550177', offer_id: body.offer.id }));
    await operation.locator('.opblock-section-request-body textarea').first().fill('{}');
    const { status, url } = await execute(operation);
    expect([status, new URL(url).searchParams.get('caller_id')]).toEqual(['201', '+13105550177']);
  }),
);

inBrowser('no field is prefilled but with an example, and a change of media type starts anew', () =>
  withPage(served.server, '/api/docs/', DESKTOP, async (page) => {
    const operation = await openOperation(page, 'buyers', 'updateBuyer');
    const [json] = (await listValues(operation)).filter((value) => value.includes('"name"'));
    await pickMediaType(operation, 'application/x-www-form-urlencoded');
    await operation.locator('[data-property-name="tier"]').waitFor(LOADED);
    const values = new Set(await listValues(operation));
    expect([...values].filter((value) => !['', '[]', '{}'].includes(value))).toEqual([]);
    await pickMediaType(operation, 'application/json');
    await operation.locator('[data-property-name="tier"]').waitFor({ state: 'detached' });
    expect(await listValues(operation)).toContain(json);
  }),
);

inBrowser('a request without credentials shows the 401', () =>
  withPage(
    served.server,
    '/api/docs/',
    DESKTOP,
    async (page) => {
      const operation = await openOperation(page, 'me', 'showMe');
      expect((await execute(operation)).status).toBe('401');
    },
    [401],
  ),
);
