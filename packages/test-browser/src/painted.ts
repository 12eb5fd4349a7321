// Checks that Chromium paints text: without a font, elements that contain only text have no height and are never visible.
import type { Page } from "playwright-core";

const CAUSE = "Chromium paints no text; most likely it finds no font";

/**
 * @param selector an element with text on a plain background
 * @throws if the text has no size, or if the element looks the same without it
 */
export async function assertPainted(page: Page, selector: string): Promise<void> {
  const element = page.locator(selector);
  const { width, height } = (await element.boundingBox()) ?? { width: 0, height: 0 };
  if (width === 0 || height === 0) throw new Error(`${selector} is ${width} x ${height} pixels: ${CAUSE}`);
  const withText = await element.screenshot();
  const color = await element.evaluate((node: HTMLElement) => {
    const { color } = node.style;
    node.style.color = "transparent";
    return color;
  });
  const withoutText = await element.screenshot();
  await element.evaluate((node: HTMLElement, before: string) => {
    node.style.color = before;
  }, color);
  if (withText.equals(withoutText)) throw new Error(`${selector} looks the same with its text transparent: ${CAUSE}`);
}
