import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type Locator,
  type Page,
} from 'playwright-core';
import { FAR_MS } from './patience';

/** The first needs the least of the machine: it has no windows. */
const CHROMIUM = [
  ...['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'],
  ...['/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
].find(existsSync);
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A test in a browser; skipped with a line where there is none. */
export const inBrowser = CHROMIUM ? test : test.skip;
if (!CHROMIUM)
  process.stdout.write(
    '\nSKIPPED: tests of pages need Chromium at /usr/bin/chromium. ' +
      'On Debian: apt-get install chromium\n',
  );

export const DESKTOP = { width: 1280, height: 1400 };
export const PHONE = { width: 390, height: 844 };

let browser: Promise<Browser> | undefined;
/** One browser for the tests of a file; each page is a profile of its own. */
function launchBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: CHROMIUM!, args: FLAGS });
  return browser;
}
afterAll(async () => (await browser)?.close());

/** Opens a page of a server and hands it over; no request may leave that server. */
export async function withPage(
  server: Server,
  path: string,
  viewport: { width: number; height: number },
  work: (page: Page) => Promise<void>,
  /** The statuses that some of its requests may be answered with. */
  refusals: readonly number[] = [],
): Promise<void> {
  const context = await (await launchBrowser()).newContext({ viewport });
  try {
    await watchPage(await context.newPage(), { server, path, refusals }, work);
  } finally {
    await context.close();
  }
}

/** A profile of the browser for the tests of a block, with what its pages have stored. */
export function openContext(server: () => Server) {
  let context: BrowserContext;
  beforeAll(async () => {
    if (CHROMIUM) context = await (await launchBrowser()).newContext({ viewport: DESKTOP });
  });
  afterAll(() => context?.close());
  return {
    withPage: async (
      path: string,
      work: (page: Page) => Promise<void>,
      refusals?: readonly number[],
    ): Promise<void> => {
      const page = await context.newPage();
      page.setDefaultTimeout(FAR_MS);
      page.on('dialog', (dialog) => void dialog.accept());
      try {
        await watchPage(page, { server: server(), path, ...(refusals && { refusals }) }, work);
      } finally {
        await page.close();
      }
    },
  };
}

interface Watched {
  server: Server;
  path: string;
  refusals?: readonly number[];
}

async function watchPage(
  page: Page,
  { server, path, refusals = [] }: Watched,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const { port } = server.address() as { port: number };
  const foreign: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.port !== String(port) && !['data:', 'blob:'].includes(url.protocol))
      foreign.push(request.url());
  });
  page.on('pageerror', (error) => void faults.push(error.message));
  page.on('console', (message) => {
    // Refused by the content security policy, or not found.
    if (refusals.some((status) => message.text().includes(`status of ${status} `))) return;
    if (/Content Security Policy|Failed to load resource/.test(message.text()))
      faults.push(message.text());
  });
  await page.goto(`http://127.0.0.1:${port}${path}`);
  await work(page);
  await keepPicture(page);
  expect({ foreign, faults }).toEqual({ foreign: [], faults: [] });
}

/** Pictures for people, in the folder that SCREENSHOTS names. */
async function keepPicture(page: Page): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  const name = expect.getState().currentTestName!.replace(/\W+/g, '-');
  await page.screenshot({ path: join(folder, `${name}-${page.viewportSize()!.width}.png`) });
}

/** How much wider than the screen a page is. */
export const measureOverflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - window.innerWidth');

export const LOADED = { timeout: FAR_MS };

/** Opens an operation of Swagger UI. */
export async function openOperation(page: Page, tag: string, id: string): Promise<Locator> {
  await page.locator(`#operations-tag-${tag}`).click(LOADED);
  const operation = page.locator(`#operations-${tag}-${id}`);
  await operation.getByRole('button').first().click(LOADED);
  await operation.getByRole('button', { name: 'Execute' }).waitFor(LOADED);
  return operation;
}
