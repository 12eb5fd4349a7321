import type { Locator, Page } from "playwright-core";

/** The number of the figure with this name, if it contains `value`. The line below the number is not part of it. */
export const figure = (page: Page, name: string, value: string): Locator =>
  page
    .locator(".figure", { has: page.getByText(name, { exact: true }) })
    .locator("dd.number")
    .filter({ hasText: value });
