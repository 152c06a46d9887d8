import { chromium, type Page } from 'playwright-core';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { prepareCalls } from './calls';
import { end, median, option, round, say, startService, waitUntilReady } from './tools';
import { query, waitUntilIdle, type BenchWorld } from './world';

// How long a person waits for each view of the console, in Chromium, in a company with five million
// calls, whose converted ones are in the accounts of their buyers and sources.

const PORT = '4132';
const ROUNDS = Number(option('rounds', '3'));
const CHROMIUM = option('chromium', '/usr/bin/chromium-headless-shell');
const GIVE_UP_MS = 60_000;

const INSERT_ENTRIES = `
  INSERT INTO account_entries (company_id, created_at, kind, amount, call_id, buyer_id,
    traffic_source_id)
  SELECT c.company_id, c.created_at, x.kind, x.amount, c.id, x.buyer_id, x.source_id
  FROM calls c, LATERAL (VALUES
    ('conversion', -c.buyer_revenue, c.buyer_id, NULL::bigint),
    ('payout', -c.payout, NULL::bigint, c.traffic_source_id)
  ) AS x (kind, amount, buyer_id, source_id)
  WHERE c.company_id = $1 AND x.amount < 0`;

async function fillAccounts({ url, company_id }: BenchWorld): Promise<void> {
  const [entries] = await query(url, 'SELECT 1 FROM account_entries LIMIT 1');
  if (entries) return;
  say('making the entries of accounts ...');
  await query(url, INSERT_ENTRIES, [company_id]);
  await query(url, 'VACUUM ANALYZE account_entries');
}

/** Each view of the menu, and the pages, filters and reports of every day. */
async function listAddresses(page: Page, world: BenchWorld): Promise<string[]> {
  const menu = (await page.evaluate(
    `[...document.querySelectorAll('nav a[href^="#/"]')].map((a) => a.getAttribute('href'))`,
  )) as string[];
  const [ids] = await query(
    world.url,
    `SELECT (SELECT max(id) FROM calls WHERE company_id = $1)::int AS call,
      (SELECT min(id) FROM offers WHERE company_id = $1)::int AS offer,
      (SELECT min(id) FROM traffic_sources WHERE company_id = $1)::int AS source`,
    [world.company_id],
  );
  const { call, offer, source } = ids as Record<'call' | 'offer' | 'source', number>;
  return [
    ...new Set(menu),
    `#/calls/${call}`,
    `#/calls?buyer_id=${world.first_id}`,
    `#/calls?traffic_source_id=${source}`,
    '#/calls?caller_number=%2B12120012345',
    '#/calls?no_buyer=true',
    '#/calls?token_key=zip&token_value=00123',
    `#/buyers/${world.first_id}`,
    `#/offers/${offer}`,
    `#/traffic_sources/${source}`,
    '#/reports?group_by=traffic_source,day',
    '#/reports?group_by=buyer,offer,traffic_source',
  ];
}

interface Opened {
  /** Milliseconds until the view has its heading and its first content. */
  usable: number;
  /** Milliseconds until nothing of it is loading. */
  whole: number;
}

/** Opens a view, from one that is empty. */
const OPEN = (hash: string): string => `new Promise((done) => {
  const heading = () => document.querySelector('main h1')?.innerText;
  const isUsable = () => heading() && heading() !== 'Nothing here' &&
    !document.querySelector('main .loading:not(.grid .loading)');
  const isWhole = () => isUsable() && !document.querySelector('main .loading');
  const waitFor = (isSo, then) =>
    isSo() ? then() : requestAnimationFrame(() => waitFor(isSo, then));
  location.hash = '#/nothing';
  waitFor(() => heading() === 'Nothing here', () => {
    const started = performance.now();
    const since = () => performance.now() - started;
    location.hash = ${JSON.stringify(hash)};
    waitFor(() => isUsable() || since() > ${GIVE_UP_MS}, () => {
      const usable = since();
      waitFor(() => isWhole() || since() > ${GIVE_UP_MS}, () => done({ usable, whole: since() }));
    });
  });
})`;

async function signIn(page: Page, auth: string): Promise<void> {
  const [publicKey, privateKey] = auth.split(':');
  await page.goto(`http://127.0.0.1:${PORT}/console/`);
  await page.getByRole('button', { name: 'Use a key or token' }).click();
  await page.getByLabel('Public key').fill(publicKey!);
  await page.getByLabel('Private key').fill(privateKey!);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

const format = (ms: number): string => `${String(round(ms, 0)).padStart(5)} ms`;

export async function benchConsole(server: EmbeddedDatabase): Promise<void> {
  const world = await prepareCalls(server);
  await fillAccounts(world);
  await waitUntilIdle(world);
  const service = startService(world.url, PORT, { RUN_JOBS: 'false' });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    await waitUntilReady(PORT);
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await signIn(page, world.auth);
    for (const hash of await listAddresses(page, world)) {
      const open = async () => (await page.evaluate(OPEN(hash))) as Opened;
      const first = await open();
      const later: Opened[] = [];
      for (let n = 0; n < ROUNDS; n++) later.push(await open());
      const usable = median(later.map((opened) => opened.usable));
      const whole = median(later.map((opened) => opened.whole));
      say(
        `${hash.padEnd(50)} first ${format(first.usable)}, whole ${format(first.whole)};  ` +
          `then ${format(usable)}, whole ${format(whole)}`,
      );
    }
  } finally {
    await browser.close();
    await end([service]);
  }
}
