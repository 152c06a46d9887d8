import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { createDemo } from '../../src/main/demo/demo';
import { DESKTOP, LOADED, withPage } from './browser';
import { findBuilt } from './build';
import { PASSWORD } from './console-session';
import { eventually } from './engine-process';
import { beginCall } from './reported-calls';
import { buildApp, caller, createWorld, type Api, type World } from './world';

const ROOT = join(__dirname, '../..');

/** The demo company with a few calls, a lead and an import, and the console on it. */
export interface ConsoleWorld {
  world: World;
  server: Server;
  api: Api;
  /** Public and private key of the demo company. */
  auth: string;
  offer: { id: number; lead_token: string };
  /** `paid` was paid for by Acme; `open` is under way with Acme. */
  calls: { paid: number; open: number };
  lead: number;
  /** A suppression list. */
  list: number;
  close(): Promise<void>;
}

/**
 * Takes the console from the built product where there is one. Several processes do so at once: a
 * server must never read half of a script.
 */
function buildConsole(): void {
  const target = join(ROOT, 'dist/console/client');
  mkdirSync(target, { recursive: true });
  const draft = mkdtempSync(join(ROOT, 'dist/console/draft-'));
  const built = findBuilt();
  if (built) cpSync(join(built, 'dist/console/client'), draft, { recursive: true });
  else
    execFileSync('npm', ['run', '--silent', 'build:console', '--', `--outdir=${draft}`], {
      cwd: ROOT,
    });
  for (const name of readdirSync(draft)) renameSync(join(draft, name), join(target, name));
  rmSync(draft, { recursive: true });
}

async function createConsoleWorld(
  environment: Readonly<Record<string, string>>,
): Promise<ConsoleWorld> {
  buildConsole();
  const world = await createWorld({ environment });
  const { credentials } = await createDemo(world.deps, 'Demo');
  const auth = `${credentials.public_key}:${credentials.private_key}`;
  const api = caller(world.app, auth);
  const records = await populate(api);
  const server = buildApp(world.deps).listen(0);
  return {
    world,
    server,
    api,
    auth,
    ...records,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await world.close();
    },
  };
}

async function populate(api: Api) {
  const ok = async (method: 'post' | 'put', path: string, body: object) => {
    const res = await api(method, path, { body });
    expect([path, res.status]).toEqual([path, method === 'post' ? 201 : 200]);
    return res.body;
  };
  const [acme] = (await api('get', 'buyers?fulltext=acme')).body.buyers;
  // Open at any time of the week, and near the end of a cap after two calls.
  await ok('put', `buyers/${acme.id}`, {
    business_hours_schedule: [],
    record_token_filter_list: [],
    attempt_daily_limit: 2,
    weight: 1_000_000,
  });
  const [offer] = (await api('get', 'offers')).body.offers;
  const begin = async (callerNumber: string) => {
    const call = await beginCall(api, {
      offer_id: offer.id,
      caller_number: callerNumber,
      tokens: { state: 'CA' },
    });
    expect(call.dial[0]!.buyer_id).toBe(acme.id);
    await call.say('answered');
    return call;
  };
  const paid = await begin('+12125550123');
  await paid.say('completed', { duration: 100 });
  const open = await begin('+12125550124');
  const [schedule] = (await api('get', 'schedules')).body.schedules;
  const submitted = await api('post', 'leads', {
    auth: null,
    query: { lead_token: schedule.lead_token, caller_id: '2135550147', full_name: 'Maria Lopez' },
  });
  const list = (await ok('post', 'buyer_suppressions', { name: 'Do not call us' }))
    .buyer_suppression.id as number;
  return {
    offer: offer as ConsoleWorld['offer'],
    calls: { paid: paid.id, open: open.id },
    lead: submitted.body.id as number,
    list,
  };
}

/** The console on a world of its own, for a test file: registers its hooks. */
export function useConsole(environment: Readonly<Record<string, string>> = {}) {
  const here = {} as ConsoleWorld;
  beforeAll(async () => void Object.assign(here, await createConsoleWorld(environment)));
  afterAll(() => here.close());
  return {
    here,
    get: async (path: string) => (await here.api('get', path)).body,
    asDemo: (work: (page: Page) => Promise<void>, refusals?: number[]) =>
      inConsole(here.server, here.auth, work, refusals),
    asPerson: (email: string, work: (page: Page) => Promise<void>) =>
      withPage(here.server, '/console/', DESKTOP, async (page) => {
        await signInByPassword(page, email);
        await waitForConsole(page);
        await work(page);
      }),
    /** The demo company, in which the tests are. */
    readCompany: async () => ({
      id: BigInt((await here.api('get', 'company')).body.company.id),
      auth: here.auth,
      api: here.api,
    }),
    dollars: (n: number) => `$${n.toFixed(2)}`,
    readPanelText: (page: Page, title: string) => panel(page, title).innerText(),
  };
}

/** Opens the form for keys and tokens, which are not the way for people. */
export const useKey = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Use a key or token' }).click(LOADED);

/** Fills in the form for keys and tokens and waits for the first view. */
export async function signIn(page: Page, credentials: string): Promise<void> {
  const [name = '', secret] = credentials.split(':');
  await useKey(page);
  if (secret === undefined) {
    await page.getByLabel('A user token').check(LOADED);
    await page.getByLabel('User token', { exact: true }).fill(name);
  } else {
    await page.getByLabel('Public key').fill(name, LOADED);
    await page.getByLabel('Private key').fill(secret);
  }
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor(LOADED);
}

/** Fills in the form for people. */
export async function signInByPassword(
  page: Page,
  email: string,
  password = PASSWORD,
): Promise<void> {
  await page.getByLabel('E-mail address', { exact: true }).fill(email, LOADED);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Goes to a view and waits until nothing of it is loading. */
export async function goTo(page: Page, hash: string): Promise<void> {
  // Until the page has heard of it, it is that of the view before.
  await page.evaluate(`new Promise((done) => {
    const before = location.hash;
    addEventListener('hashchange', () => requestAnimationFrame(done), { once: true });
    location.hash = ${JSON.stringify(hash)};
    if (location.hash === before) done();
  })`);
  await settled(page);
}

export const settled = (page: Page): Promise<void> =>
  until(page, `document.querySelector('main h1') && !document.querySelector('.loading')`);

/** Waits until somebody is signed in and the first view is shown. */
export async function waitForConsole(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out' }).waitFor(LOADED);
  await settled(page);
}

/** The id in the address, once a record was created. */
export async function createdId(page: Page): Promise<number> {
  await until(page, `/\\/\\d+$/.test(location.hash)`);
  return Number(((await page.evaluate('location.hash')) as string).split('/').at(-1));
}

/** Waits for an expression to hold in the page, whose policy forbids waitForFunction. */
export const until = (page: Page, expression: string): Promise<void> =>
  eventually(async () => Boolean(await page.evaluate(expression)), LOOK_MS);

/** Between two looks at a page, which has one processor with its service. */
const LOOK_MS = 20;

/** Opens the console and signs in; `refusals` are statuses that requests may be answered with. */
export const inConsole = (
  server: Server,
  credentials: string,
  work: (page: Page) => Promise<void>,
  refusals: readonly number[] = [],
): Promise<void> =>
  withPage(
    server,
    '/console/',
    DESKTOP,
    async (page) => {
      page.on('dialog', (dialog) => void dialog.accept());
      await signIn(page, credentials);
      await settled(page);
      await work(page);
    },
    refusals,
  );

/** The text of a panel, by its heading. */
export const panel = (page: Page, title: string) =>
  page.getByRole('region', { name: title, exact: true }).first();

/** Presses the button with this name. */
export const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

/** Chooses a record by typing a part of its name. */
export async function chooseRecord(page: Page, label: string, text: string): Promise<void> {
  const input = page.getByRole('combobox', { name: label, exact: true });
  await input.fill(text);
  await page.getByRole('option', { name: text }).first().waitFor(LOADED);
  await input.press('Enter');
}
