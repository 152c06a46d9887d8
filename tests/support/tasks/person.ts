import type { Locator, Page } from 'playwright-core';
import { LOADED } from '../browser';
import { createKeyboard, createMouse, type Hands } from '../hands';
import { createdId, panel, settled, waitForConsole, type ConsoleWorld } from '../console';
import { PASSWORD } from '../console-session';
import type { Api } from '../world';

export type Kind = 'mouse' | 'keyboard';

/** Somebody at the console, with one kind of hands. */
export interface Person {
  page: Page;
  hands: Hands;
  here: ConsoleWorld;
  /** The API, as this person may use it. */
  api: Api;
  /** A name of this person's own for a record. */
  named(name: string): string;
  /** Opens a view by the menu. */
  open(view: string): Promise<void>;
  press(name: string, within?: Locator): Promise<void>;
  follow(name: string | RegExp, within?: Locator): Promise<void>;
  type(label: string | RegExp, text: string, within?: Locator): Promise<void>;
  select(label: string, option: string, within?: Locator): Promise<void>;
  tick(label: string, within?: Locator): Promise<void>;
  find(label: string, text: string, within?: Locator): Promise<void>;
  upload(label: string, file: { name: string; text: string }): Promise<void>;
  /** Does what saves a file, and gives its lines. */
  save(work: () => Promise<void>): Promise<{ name: string; lines: string[] }>;
  panel(title: string): Locator;
  sees(text: string | RegExp, within?: Locator): Promise<void>;
  /** Waits for the page of the record that was created, and gives the id. */
  created(heading: string): Promise<number>;
}

/** A piece of a person's work, which ends with the record that the API shows. */
export interface Task {
  name: string;
  do(person: Person): Promise<void>;
}

/** After its words, a label may have a unit, a mark where the field is required, or what is used. */
const toPattern = (label: string): RegExp =>
  new RegExp(`^${label.replace(/[.?()]/g, '\\$&')}(?![a-z])`);

const HANDS = { mouse: createMouse, keyboard: createKeyboard };

export function createPerson(
  page: Page,
  kind: Kind,
  here: ConsoleWorld,
  api: Api = here.api,
): Person {
  const hands = HANDS[kind](page);
  const main = page.locator('main');
  const exact = (label: string | RegExp) => (typeof label === 'string' ? { exact: true } : {});
  // A part of a form may have the label of its first field.
  const fields = page.locator('input, select, textarea');
  const labeled = (label: string | RegExp, within: Locator = main) =>
    within
      .getByLabel(typeof label === 'string' ? toPattern(label) : label)
      .and(fields)
      .first();
  return {
    page,
    hands,
    here,
    api,
    named: (name) => `${name} by ${kind}`,
    open: async (view) => {
      const menu = page.getByRole('navigation', { name: 'Views' });
      const hidden = page.getByRole('link', { name: view, exact: true, includeHidden: true });
      await menu.locator(hidden).waitFor({ ...LOADED, state: 'attached' });
      const folded = menu.locator('details:not([open])', { has: hidden });
      if ((await folded.count()) > 0) await hands.press(folded.locator('summary'));
      const link = menu.getByRole('link', { name: view, exact: true });
      await hands.press(link);
      // Until then the page is that of the view before.
      await link.and(page.locator('[aria-current=page]')).waitFor(LOADED);
      await settled(page);
    },
    press: (name, within: Locator | Page = page) =>
      hands.press(within.getByRole('button', { name, exact: true }).first()),
    follow: (name, within: Locator | Page = main) =>
      hands.press(within.getByRole('link', { name, ...exact(name) }).first()),
    type: (label, text, within) => hands.type(labeled(label, within), text),
    select: (label, option, within) => hands.select(labeled(label, within), option),
    tick: (label, within) => hands.tick(labeled(label, within)),
    find: (label, text, within: Locator | Page = page) =>
      hands.find(within.getByRole('combobox', { name: label, exact: true }).first(), text),
    upload: (label, file) => hands.upload(labeled(label), file),
    save: async (work) => {
      const started = page.waitForEvent('download', LOADED);
      await work();
      const download = await started;
      const chunks: Buffer[] = [];
      for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
      const lines = Buffer.concat(chunks).toString().trim().split(/\r?\n/);
      return { name: download.suggestedFilename(), lines };
    },
    panel: (title) => panel(page, title),
    sees: (text, within: Locator | Page = page) => within.getByText(text).first().waitFor(LOADED),
    created: async (heading) => {
      await page.getByRole('heading', { level: 1, name: heading }).waitFor(LOADED);
      return createdId(page);
    },
  };
}

/** Signs in by the form for people. */
export async function signInAs({ page, hands }: Person, email: string): Promise<void> {
  await hands.type(page.getByLabel('E-mail address'), email);
  await hands.type(page.getByLabel('Password', { exact: true }), PASSWORD);
  await hands.press(page.getByRole('button', { name: 'Sign in', exact: true }));
  await waitForConsole(page);
}

/** A value of its own for each kind of hands, where two records may not share one. */
export const pick = <T>({ hands }: Person, mouse: T, keyboard: T): T =>
  hands.name === 'mouse' ? mouse : keyboard;

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type ApiRecord = Record<string, any>;

/** A record of the API by its path. */
export async function read<T = ApiRecord>({ api }: Person, path: string, key: string): Promise<T> {
  const res = await api('get', path);
  expect([path, res.status]).toEqual([path, 200]);
  return res.body[key];
}

/** The only record of a list that a query finds. */
export async function findOne(person: Person, path: string): Promise<ApiRecord> {
  const { body } = await person.api('get', path);
  const records = body[body.metadata.root];
  expect([path, records.length]).toEqual([path, 1]);
  return records[0];
}
