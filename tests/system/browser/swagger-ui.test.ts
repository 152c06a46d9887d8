import type { Locator, Page } from 'playwright-core';
import { createDemo } from '../../../src/main/demo/demo';
import { DESKTOP, inBrowser, withPage } from '../../support/browser';
import { authorize, useServedWorld } from '../../support/served-world';
import { FAR_MS } from '../../support/patience';

const served = useServedWorld();
let auth: string;
beforeAll(async () => {
  const { credentials } = await createDemo(served.world.deps, 'Demo');
  auth = `${credentials.public_key}:${credentials.private_key}`;
});

/** Opens Swagger UI, authorizes, and hands the page over; no request may leave the server. */
const withSwagger = (
  work: (page: Page, operation: (tag: string, id: string) => Promise<Locator>) => Promise<void>,
): Promise<void> =>
  withPage(served.server, '/api/docs/', DESKTOP, async (page) => {
    await authorize(page, auth);
    await work(page, async (tag, id) => {
      await page.locator(`#operations-tag-${tag}`).click();
      const operation = page.locator(`#operations-${tag}-${id}`);
      await operation.getByRole('button').first().click();
      return operation;
    });
  });

/** Executes the operation and returns the text of its response with status 200. */
async function execute(operation: Locator): Promise<string> {
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table .response').first();
  await answer.getByText('200').first().waitFor({ timeout: FAR_MS });
  return answer.innerText();
}

inBrowser('a person opens Swagger UI, authorizes, lists the buyers and sees them', () =>
  withSwagger(async (_, operation) => {
    expect(await execute(await operation('buyers', 'listBuyers'))).toContain(
      'Acme Insurance, Los Angeles',
    );
  }),
);

inBrowser(
  'a person asks in Swagger UI where a call would go, and sees why each buyer would get it or not',
  () =>
    withSwagger(async (_, operation) => {
      const explain = await operation('routing', 'explainRouting');
      // A Sunday in Los Angeles: one of the two is closed.
      await explain
        .locator('textarea')
        .first()
        .fill('{"offer_id": 1, "caller_number": "+12125550123", "at": "2026-11-22T20:00:00Z"}');
      const answer = await execute(explain);
      expect(answer).toContain('"action": "dial"');
      expect(answer).toContain('the buyer is closed until 2026-11-23 09:00 America/Los_Angeles');
    }),
);
