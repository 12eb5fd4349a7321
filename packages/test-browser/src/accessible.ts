// Checks of a whole page: its accessibility by axe's rules, and that it fits the screen.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import { expect } from "chai";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Checks the visible page against WCAG 2.2 AA and axe's best practices.
 * @throws with the rules and elements that violate them
 */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary })),
  );
  expect(found, what).to.deep.equal([]);
}

/** Checks that the page fits and is accessible on a phone and on a desk, in light and dark. */
export async function assertLayouts(page: Page, what: string): Promise<void> {
  for (const width of [360, 1280])
    for (const colorScheme of ["light", "dark"] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await assertFits(page, `${what} at ${width} px`);
      await assertAccessible(page, `${what} at ${width} px, ${colorScheme}`);
    }
}

/** @throws if the page scrolls sideways */
export async function assertFits(page: Page, what: string): Promise<void> {
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(beyond, `${what}: pixels beyond the screen`).to.equal(0);
}
