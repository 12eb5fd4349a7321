// The 402 for a person with a browser: a page without scripts, with the payment instructions embedded as JSON.
import { sha256 } from "@noble/hashes/sha2.js";
import { baseUrl, formatDecimalAmount, isSecureUrl, LOCAL_CHAIN_IDS, type PaymentInstructions } from "@sotto/protocol";
import { invalidOption } from "../errors.ts";
import { assertFields } from "../option-values.ts";
import type { PaywallRequest } from "../routes/options.ts";
import type { PageOptions } from "./options.ts";
import { PAGE_STYLE } from "./page-style.ts";

const MAX_NAME_LENGTH = 80;

/** The page's options, checked. */
export interface Page {
  /** Base URL of the web wallet, without a trailing slash. */
  readonly wallet: string | undefined;
  /** The merchant's name. */
  readonly name: string | undefined;
}

/** @throws PaywallError INVALID_OPTION */
export function parsePage(options: boolean | PageOptions | undefined, chainId: bigint): Page | undefined {
  if (options === undefined || options === false) return undefined;
  if (options === true) return { wallet: undefined, name: undefined };
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw invalidOption('page must be true, false or an object such as { wallet: "https://wallet.example" }');
  assertFields(options, "page", ["wallet", "name"]);
  const { wallet, name } = options;
  const address = wallet === undefined ? undefined : baseUrl(wallet);
  if (wallet !== undefined && (address === undefined || !isSecureUrl(address, chainId)))
    throw invalidOption("page.wallet must be the https URL of a web wallet, such as https://wallet.example");
  if (name !== undefined && (typeof name !== "string" || name.trim() === "" || name.length > MAX_NAME_LENGTH))
    throw invalidOption(`page.name must be a text of 1 to ${MAX_NAME_LENGTH} characters`);
  return { wallet: address, name };
}

/** Whether a browser will show the response as a page. Scripts, frames and programs get JSON. */
export function isNavigation(request: PaywallRequest): boolean {
  const destinations = request.header("sec-fetch-dest");
  return ["GET", "HEAD"].includes(request.method) && destinations.length === 1 && destinations[0] === "document";
}

/** Headers of the page. It has no script, loads nothing, and does not tell the wallet's host where it was opened. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    `default-src 'none'; style-src 'sha256-${base64(sha256(new TextEncoder().encode(PAGE_STYLE)))}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** Text that is already HTML. */
interface Markup {
  readonly markup: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A template whose values are escaped, unless they are Markup. All attributes in it are quoted. */
function html(parts: TemplateStringsArray, ...values: readonly (string | Markup)[]): Markup {
  const escaped = values.map((value) =>
    typeof value === "string" ? value.replace(/[&<>"']/g, (character) => ENTITIES[character]!) : value.markup,
  );
  return { markup: String.raw({ raw: parts }, ...escaped) };
}

const NOTHING = html``;

/** Text that a browser's translator must not change. Some translators respect the attribute, others only the class. */
const verbatim = (text: string): Markup => html`<span translate="no" class="notranslate">${text}</span>`;
const code = (text: string): Markup => html`<code translate="no" class="notranslate">${text}</code>`;

/** JSON that an HTML parser cannot mistake for the end of the script element or for a comment. */
const embedded = (value: object): Markup => ({
  markup: JSON.stringify(value).replace(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
});

const chainName = (chainId: string): string =>
  LOCAL_CHAIN_IDS.includes(BigInt(chainId)) ? `Local test chain (${chainId})` : `Chain ${chainId}`;

/** @param service base URL of the service @returns the page's HTML */
export function renderPage({ wallet, name }: Page, instructions: PaymentInstructions, service: string): string {
  const { payment, metadata } = instructions;
  const { recipient, amountBaseUnits, decimals, currency } = payment;
  const { resource } = metadata;
  const amount = formatDecimalAmount(BigInt(amountBaseUnits), decimals);
  const price = `${amount} ${currency}`;
  const merchant = name ?? new URL(resource).host;
  const link = wallet === undefined ? undefined : `${wallet}/#/wallet/pay?url=${encodeURIComponent(resource)}`;
  const program = [
    'import { wrapFetch } from "@sotto/client";',
    `const pay = wrapFetch(fetch, wallet, { services: [${JSON.stringify(service)}], maxPerRequest: ${amountBaseUnits}n });`,
    `const response = await pay(${JSON.stringify(resource)});`,
  ].join("\n");
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Payment required: ${price}</title>
<style>${{ markup: PAGE_STYLE }}</style>
<script type="application/json" id="payment-instructions">${embedded(instructions)}</script>
</head>
<body>
<header><span class="status">402</span> Payment required</header>
<main>
<section class="card" aria-labelledby="price">
<p class="merchant notranslate" translate="no">${merchant}</p>
<h1 id="price">This page costs <strong translate="no" class="notranslate">${amount} <span>${currency}</span></strong></h1>
<p>You pay once, for one request. The payment is private: its amount is encrypted, and your account stays hidden.</p>
${
  link === undefined
    ? html`<p class="hint">Open this address in a wallet that pays for requests, or <a href="#program">pay from a program</a>.</p>`
    : html`<p><a class="button" href="${link}" rel="noreferrer">Open in wallet</a></p>
<p class="hint">Opens ${verbatim(new URL(wallet!).host)}. The wallet shows the price, the merchant and your limits, and asks before it pays.</p>`
}
<dl>
<div><dt>For</dt><dd>${verbatim(resource)}</dd></div>
<div><dt>Paid to</dt><dd>${name === undefined ? NOTHING : html`${verbatim(name)}<br>`}${recipient.phone === "" ? NOTHING : html`${verbatim(recipient.phone)}<br>`}${code(recipient.wallet)}</dd></div>
<div><dt>Network fee</dt><dd>None for you: the service pays it</dd></div>
<div><dt>Network</dt><dd>${chainName(payment.chainId)}</dd></div>
</dl>
<details>
<summary>Contracts and service</summary>
<dl>
<div><dt>Token</dt><dd>${code(payment.asset)}</dd></div>
<div><dt>Pool</dt><dd>${code(payment.pool)}</dd></div>
<div><dt>Service</dt><dd>${verbatim(service)}</dd></div>
</dl>
</details>
</section>
<section aria-labelledby="privacy">
<h2 id="privacy">Who learns what</h2>
<div class="columns">
<section aria-labelledby="chain"><h3 id="chain">The public chain</h3>
<p>Shows that someone paid someone.</p>
<p class="hidden"><b>Not:</b> the amount, you, the merchant, or this page.</p></section>
<section aria-labelledby="merchant"><h3 id="merchant">The merchant</h3>
<p>Learns what you paid for and how much and, as with every visit, your network address and session.</p>
<p class="hidden"><b>Not:</b> your account or your balance.</p></section>
<section aria-labelledby="service"><h3 id="service">The service</h3>
<p>Settles the payment and pays the network fee. It learns the merchant, this page, the price and your network address.</p>
<p class="hidden"><b>Not:</b> your balance; nor your account, unless it relayed your deposit.</p></section>
</div>
</section>
<section aria-labelledby="program">
<h2 id="program">Pay from a program</h2>
<p>With a wallet of ${code("@sotto/client")}:</p>
<pre tabindex="0" role="region" aria-label="Code that pays for this page">${code(program)}</pre>
</section>
</main>
<footer>Programs that request this address get the same terms as JSON.</footer>
</body>
</html>
`.markup;
}
