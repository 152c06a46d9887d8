import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { measureOverflow } from './browser';

const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** The sizes of screens on which every view is checked. */
export const SIZES = {
  phone: { width: 390, height: 844 },
  desktop: { width: 1440, height: 1000 },
};

/** Loads axe into a page once. Not by a script element: the page's policy allows none. */
async function loadAxe(page: Page): Promise<void> {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(AXE);
}

interface Check {
  rules?: readonly string[] | undefined;
  /** The part that is checked: the frame of views, once checked, needs no check with each. */
  part?: string | undefined;
}

/** A view breaks no rule of WCAG AA and is no wider than the screen. */
export async function expectAccessible(
  page: Page,
  view: string,
  { rules = RULES, part = 'html' }: Check = {},
): Promise<void> {
  await loadAxe(page);
  const violations = (await page.evaluate(
    `axe.run('${part}', { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] })
    .then(({ violations }) => violations)`,
  )) as Violation[];
  const faults = violations.map(({ id, nodes }) => [id, nodes[0]!.html, nodes[0]!.failureSummary]);
  expect({ view, faults, overflow: await measureOverflow(page) }).toEqual({
    view,
    faults: [],
    overflow: 0,
  });
}

/** Checks a view in both color schemes, which differ in their colors alone. */
export async function expectAccessibleInBothThemes(
  page: Page,
  view: string,
  part?: string,
): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await expectAccessible(page, `${view} light`, { part });
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(page, `${view} dark`, { part, rules: ['color-contrast'] });
}

/** Checks a view on each size of screen, in both color schemes. */
export async function expectAccessibleEverywhere(
  page: Page,
  view: string,
  part?: string,
): Promise<void> {
  for (const size of Object.values(SIZES)) {
    await page.setViewportSize(size);
    await expectAccessibleInBothThemes(page, `${view} at ${size.width}`, part);
  }
}
