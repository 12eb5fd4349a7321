// The pages shown in docs/images. `npm run screenshots` takes the pictures; the tests compare their layout with the
// app.
import type { Page } from "playwright-core";

/** Size of a picture, pixels. */
export const VIEWPORT = { width: 1280, height: 800 } as const;
/** Width of a column, pixels. */
const GRID = 80;

export interface Picture {
  /** Name of its files in docs/images. */
  readonly name: string;
  readonly route: string;
  /** Makes the page complete. @param viewingKey the merchant's, as JSON */
  prepare(page: Page, viewingKey: string): Promise<void>;
}

/** For an open wallet that has paid once and has no pending work. */
export const PICTURES: readonly Picture[] = [
  { name: "wallet", route: "/wallet", prepare: (page) => page.getByText("All of it is spendable").waitFor() },
  {
    name: "observer",
    route: "/observer",
    async prepare(page, viewingKey) {
      const key = page.getByLabel("Viewing key (JSON)");
      const read = page.getByTestId("party-merchant").locator("dt", { hasText: "How much?" });
      await key.or(read).first().waitFor();
      if (await key.isVisible()) {
        await key.fill(viewingKey);
        await page.getByRole("button", { name: "Use it" }).click();
      }
      await read.waitFor();
      // Appears after the payment's calldata was read.
      await page.getByRole("button", { name: "Draw a payment" }).waitFor();
      // The four columns fill the picture.
      await page.getByRole("heading", { name: "Who knows what" }).evaluate((heading) => heading.scrollIntoView());
    },
  },
  {
    name: "merchant",
    route: "/merchant",
    async prepare(page, viewingKey) {
      const key = page.getByLabel("Viewing key", { exact: true });
      await key.or(page.locator(".chart canvas")).first().waitFor();
      if (await key.isVisible()) {
        await key.fill(viewingKey);
        await page.getByRole("button", { name: "Open", exact: true }).click();
      }
      await page.locator(".chart canvas").first().waitFor();
    },
  },
  {
    name: "pool",
    route: "/pool",
    prepare: (page) => page.locator(".chart canvas").nth(1).waitFor(),
  },
];

/** An element of a page, with the column of 80 pixels in which it begins. */
export interface LayoutElement {
  readonly kind: string;
  readonly text: string;
  readonly column: number;
}

/**
 * The headings, labels, column heads and buttons of a page, in order and without repetitions. Rows of data do not count, and
 * every number is "#".
 */
export function readLayout(page: Page): Promise<LayoutElement[]> {
  return page.locator("main").evaluate((main, grid) => {
    const found = new Map<string, LayoutElement>();
    for (const element of main.querySelectorAll("h1, h2, h3, label, th, dt, legend, summary, button, a.button")) {
      if (!element.checkVisibility() || element.closest("li, tbody") !== null) continue;
      const text = element.textContent.replaceAll(/0x[\da-f…]+|\d[\d.,]*/gi, "#").trim();
      const kind = element.tagName.toLowerCase();
      const column = Math.round(element.getBoundingClientRect().left / grid);
      const key = `${kind} ${text}`;
      if (text !== "" && !found.has(key)) found.set(key, { kind, text, column });
    }
    return [...found.values()];
  }, GRID);
}
