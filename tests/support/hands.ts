import type { Locator, Page } from 'playwright-core';
import { FAR_MS } from './patience';

// A person works a page with the mouse or with the keyboard alone: the same steps, written once.

const LOADED = { timeout: FAR_MS };

export interface CsvFile {
  name: string;
  text: string;
}

/** Everything that a person does to a page. */
export interface Hands {
  name: string;
  /** Follows a link, presses a button, or opens what is folded. */
  press(target: Locator): Promise<void>;
  /** Replaces the text of a field. */
  type(target: Locator, text: string): Promise<void>;
  /** Ticks a box or chooses a radio button. */
  tick(target: Locator): Promise<void>;
  /** Chooses in a menu, by its text. */
  select(target: Locator, option: string): Promise<void>;
  /** Finds a record by a part of its name. */
  find(target: Locator, text: string): Promise<void>;
  /** Chooses a file. */
  upload(target: Locator, file: CsvFile): Promise<void>;
}

interface Menu {
  selectedOptions: { text: string }[];
}

const readOption = (target: Locator): Promise<string | undefined> =>
  target.evaluate((menu) => (menu as unknown as Menu).selectedOptions[0]?.text);

async function chooseFile(
  page: Page,
  { name, text }: CsvFile,
  open: () => Promise<void>,
): Promise<void> {
  const opening = page.waitForEvent('filechooser', LOADED);
  await open();
  const chooser = await opening;
  await chooser.setFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
}

const findOption = (page: Page, text: string): Locator =>
  page.getByRole('option', { name: text }).first();

/** The mouse, and a keyboard only to type texts. */
export const createMouse = (page: Page): Hands => ({
  name: 'mouse',
  press: (target) => target.click(LOADED),
  type: (target, text) => target.fill(text, LOADED),
  tick: (target) => target.check(LOADED),
  select: async (target, option) => void (await target.selectOption(option, LOADED)),
  find: async (target, text) => {
    await target.fill(text, LOADED);
    await findOption(page, text).click(LOADED);
  },
  upload: (target, file) => chooseFile(page, file, () => target.click(LOADED)),
});

/** More steps of Tab than any page has: what they do not reach cannot be reached. */
const MAX_STEPS = 600;

/** Elements of a page, as far as a focus is moved among them. */
interface Focusable {
  type?: string;
  name?: string;
  compareDocumentPosition(other: Focusable): number;
}
interface InPage {
  document: { activeElement: Focusable };
}

/** The key that leads from the focus to a target; runs in the page. */
function findWay(target: unknown): string {
  const element = target as Focusable;
  const focused = (globalThis as unknown as InPage).document.activeElement;
  if (focused === element) return 'here';
  const FOLLOWING = 4;
  const isAfter = (focused.compareDocumentPosition(element) & FOLLOWING) > 0;
  const isSameGroup =
    focused.type === 'radio' && element.type === 'radio' && focused.name === element.name;
  if (isSameGroup && focused.name !== '') return isAfter ? 'ArrowDown' : 'ArrowUp';
  return isAfter ? 'Tab' : 'Shift+Tab';
}

/** Moves the focus to a target as people do who have no mouse. */
async function reach(page: Page, target: Locator): Promise<void> {
  await target.waitFor(LOADED);
  for (let step = 0; step < MAX_STEPS; step++) {
    const key = await target.evaluate(findWay);
    if (key === 'here') return;
    await page.keyboard.press(key);
  }
  throw new Error(`the keyboard does not reach ${String(target)}`);
}

/** The keyboard alone. */
export function createKeyboard(page: Page): Hands {
  const { keyboard } = page;
  const type = async (target: Locator, text: string) => {
    await reach(page, target);
    // A date has parts, each typed over.
    if ((await target.getAttribute('type')) !== 'date') await keyboard.press('Control+A');
    await (text === '' ? keyboard.press('Delete') : keyboard.type(text));
  };
  return {
    name: 'keyboard',
    type,
    press: async (target) => {
      await reach(page, target);
      await keyboard.press('Enter');
    },
    tick: async (target) => {
      await reach(page, target);
      if (!(await target.isChecked())) await keyboard.press('Space');
    },
    select: async (target, option) => {
      await reach(page, target);
      // Enough of it, in letters that every keyboard has.
      await keyboard.type(/^[ -~]+/.exec(option)![0]);
      if ((await readOption(target)) !== option)
        throw new Error(`typing "${option}" chose "${await readOption(target)}"`);
    },
    find: async (target, text) => {
      await type(target, text);
      await findOption(page, text).waitFor(LOADED);
      await keyboard.press('Enter');
    },
    upload: (target, file) =>
      chooseFile(page, file, async () => {
        await reach(page, target);
        await keyboard.press('Enter');
      }),
  };
}
