import type { Server } from 'node:http';
import type { Page } from 'playwright-core';
import { LOADED } from './browser';
import { buildApp, createWorld, type World } from './world';

/** A world and a server of it, for a test file with a browser: registers its hooks. */
export function useServedWorld() {
  const served = {} as { world: World; server: Server };
  beforeAll(async () => {
    const world = await createWorld();
    Object.assign(served, { world, server: buildApp(world.deps).listen(0) });
  });
  afterAll(async () => {
    served.server.closeAllConnections();
    served.server.close();
    await served.world.close();
  });
  return served;
}

/** Signs in to Swagger UI with `public:private` of a company. */
export async function authorize(page: Page, auth: string): Promise<void> {
  const [username = '', password = ''] = auth.split(':');
  await page.getByRole('button', { name: 'Authorize' }).first().click(LOADED);
  const dialog = page.locator('.modal-ux');
  await dialog.locator('input[name="username"]').first().fill(username, LOADED);
  await dialog.locator('input[name="password"]').first().fill(password);
  await dialog.getByRole('button', { name: 'Apply credentials' }).first().click();
  await dialog.getByRole('button', { name: 'Close' }).first().click();
}
