// A browser's translator, as it treats the page: it replaces each text node by elements that contain the translation, also
// in what the page adds later, and leaves elements that say so as they are. Here each text is its own translation, so that
// the tests find what they look for. Real translators change words and write numbers in another way.
import { expect } from "chai";
import type { Page } from "playwright-core";

/** Translates every page that a tab opens from now on. */
export async function translatePages(page: Page): Promise<void> {
  await page.addInitScript(translate);
}

function translate(): void {
  const KEPT = '[translate="no"], .notranslate, script, style, noscript, textarea, [data-translated]';
  const translateText = (text: Text): void => {
    if (text.data.trim() === "" || text.parentElement?.closest(KEPT) !== null) return;
    const outer = document.createElement("font");
    outer.dataset["translated"] = "";
    const inner = document.createElement("font");
    inner.textContent = text.data;
    outer.append(inner);
    text.replaceWith(outer);
  };
  const translateBelow = (root: Node): void => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const texts: Text[] = [];
    if (root.nodeType === Node.TEXT_NODE) texts.push(root as Text);
    while (walker.nextNode()) texts.push(walker.currentNode as Text);
    for (const text of texts) if (text.isConnected) translateText(text);
  };
  const start = () => {
    translateBelow(document.body);
    const options = { childList: true, characterData: true, subtree: true };
    new MutationObserver((changes) => {
      for (const { target, addedNodes, type } of changes)
        for (const node of type === "characterData" ? [target] : addedNodes) translateBelow(node);
    }).observe(document.body, options);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
}

/** What no translator may change: hex values, amounts, URLs, phone numbers. */
const EXACT = /0x[0-9a-f]{3,}|\d\.\d\d|\bUSDC\b|https?:\/\/|\+\d{6,}/i;

/** Checks that the page is translated, but none of its values, nor `words`. */
export async function assertTranslated(page: Page, where: string, words: readonly string[] = []): Promise<void> {
  const texts = await page.locator("[data-translated]").allTextContents();
  expect(texts, `${where} is translated`).to.not.deep.equal([]);
  const changed = texts.filter((text) => EXACT.test(text) || words.includes(text.trim()));
  expect(changed, `values on ${where} that were translated`).to.deep.equal([]);
}
