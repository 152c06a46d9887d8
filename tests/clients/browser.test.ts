import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { createApp } from '../../src/app';
import { createDemo } from '../../src/demo';
import { createWorld, type World } from '../support/world';

jest.setTimeout(120_000);

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const maybe = CHROMIUM ? test : test.skip;
if (!CHROMIUM) process.stdout.write('\nSKIPPED: the Swagger UI test needs a Chromium, and none is at /usr/bin/chromium. On Debian: apt-get install chromium\n');

let world: World;
let server: Server;
let auth: [string, string];

beforeAll(async () => {
  world = await createWorld();
  const { credentials } = await createDemo(world.deps, 'Demo');
  auth = [credentials.public_key, credentials.private_key!];
  server = createApp(world.deps).listen(0);
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await world.close();
});

maybe('a person opens Swagger UI, authorizes, lists the buyers and sees them', async () => {
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: FLAGS });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1400 } });
    const foreign: string[] = [];
    const { port } = server.address() as { port: number };
    page.on('request', (request) => void (new URL(request.url()).port !== String(port) && !request.url().startsWith('data:') && foreign.push(request.url())));
    await page.goto(`http://127.0.0.1:${port}/api/docs/`);
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    const dialog = page.locator('.modal-ux').first();
    await dialog.locator('input[name="username"], #auth_username').first().fill(auth[0]);
    await dialog.locator('input[name="password"], #auth_password').first().fill(auth[1]);
    await dialog.locator('button.authorize').first().click();
    await dialog.locator('button.btn-done, button.close-modal').first().click();
    await page.locator('#operations-tag-buyers').click();
    await page.locator('#operations-buyers-listBuyers').getByRole('button').first().click();
    await page.locator('#operations-buyers-listBuyers').getByRole('button', { name: 'Execute' }).click();
    const answer = page.locator('#operations-buyers-listBuyers .live-responses-table .response').first();
    await answer.getByText('200').first().waitFor({ timeout: 20_000 });
    expect(await answer.innerText()).toContain('Acme Insurance, Los Angeles');
    if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
    await page.screenshot({ path: join(process.env.TRUNKLINE_TEST_FOLDER!, 'swagger.png') });
    expect(foreign).toEqual([]);
  } finally {
    await browser.close();
  }
});
