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

/** Loads axe into a page. Not by a script element: the page's policy allows none. */
export const loadAxe = (page: Page): Promise<unknown> => page.evaluate(AXE);

/** A view breaks no rule of WCAG AA and is no wider than the screen. */
export async function expectAccessible(page: Page, view: string): Promise<void> {
  const violations = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'] })
    .then(({ violations }) => violations)`,
  )) as Violation[];
  const faults = violations.map(({ id, nodes }) => [id, nodes[0]!.html, nodes[0]!.failureSummary]);
  expect({ view, faults, overflow: await measureOverflow(page) }).toEqual({
    view,
    faults: [],
    overflow: 0,
  });
}

/** Checks a view in both color schemes. */
export async function expectAccessibleInBothThemes(page: Page, view: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page, `${view} ${colorScheme}`);
  }
}
