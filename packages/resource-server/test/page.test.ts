// The page of a 402: its content, the escaping of its texts, and their colors.
import { createHash } from "node:crypto";
import { buildInstructions, encodeShieldedAddress, type PaymentInstructions } from "@sotto/protocol";
import { expect } from "chai";
import { isNavigation, PAGE_HEADERS, type Page, renderPage } from "../src/paywall/page.ts";
import { PAGE_STYLE } from "../src/paywall/page-style.ts";
import { createRecipient, DEPLOYMENT } from "./support/payment.ts";

const SERVICE = "https://pay.example/zk";
const recipient = createRecipient();

function instructionsFor(target: string): PaymentInstructions {
  const { wallet, encryptionKey, ownerTag } = recipient;
  const key = encodeShieldedAddress({ encryptionKey, ownerTag });
  return buildInstructions({
    binding: { wallet, key, ...DEPLOYMENT, issuedAt: 0, phone: "+14155550142", service: "https://phones.example/zk" },
    signature: "0x00",
    price: 12_345n,
    asset: `0x${"33".repeat(20)}`,
    decimals: 6,
    serviceUrl: SERVICE,
    resource: `https://data.example${target}`,
    now: 1_795_478_461_234,
  });
}

const render = (target = "/report", page: Partial<Page> = {}): string =>
  renderPage({ wallet: "https://wallet.example/app", name: "Harbour Data", ...page }, instructionsFor(target), SERVICE);
const embedded = (page: string): string =>
  /<script type="application\/json" id="payment-instructions">([^<]*)<\/script>/.exec(page)![1]!;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const unescaped = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => ENTITIES[name]!);
/** The page without its values: tags in order, with their attributes. */
const tags = (page: string): string[] => page.match(/<[!/]?[a-z][^>]*>/gi) ?? [];

describe("the page of a 402", () => {
  it("shows the price, the resource and the recipient, and links to the wallet", () => {
    const page = render("/report?a=1&b=2");
    const text = unescaped(page.replace(/<style>[^<]*<\/style>|<script[^<]*<\/script>|<[^>]*>/g, ""));
    for (const part of ["0.012345 USDC", "https://data.example/report?a=1&b=2", "Harbour Data", "+14155550142"])
      expect(text).to.include(part);
    for (const part of [recipient.wallet, "Local test chain (31337)", "Opens wallet.example.", SERVICE])
      expect(text).to.include(part);
    const [, link = ""] = /href="([^"]*)"/.exec(page) ?? [];
    const url = new URL(unescaped(link));
    expect(`${url.origin}${url.pathname}`).to.equal("https://wallet.example/app/");
    const [route, query] = url.hash.split("?");
    expect([route, new URLSearchParams(query).get("url")]).to.deep.equal([
      "#/wallet/pay",
      "https://data.example/report?a=1&b=2",
    ]);
  });

  it("has no link without a wallet, and shows the host if no name is set", () => {
    const page = render("/report", { wallet: undefined, name: undefined });
    expect(page).not.to.include("Open in wallet");
    expect(page).to.include('<p class="merchant notranslate" translate="no">data.example</p>');
    expect(page.match(/href="[^"]*"/g)).to.deep.equal(['href="#program"']);
  });

  it("embeds the payment instructions unchanged", () => {
    const instructions = instructionsFor("/report");
    const page = renderPage({ wallet: undefined, name: undefined }, instructions, SERVICE);
    expect(JSON.parse(embedded(page))).to.deep.equal(instructions);
  });

  it("shows three lines of code that pay for this URL, at most its price", () => {
    const target = `/it's?q="+alert(1)+"&x=\${process.env}`;
    const [, code = ""] = /<pre [^>]*><code[^>]*>([^<]*)<\/code>/.exec(render(target)) ?? [];
    expect(unescaped(code).split("\n")).to.deep.equal([
      'import { wrapFetch } from "@sotto/client";',
      'const pay = wrapFetch(fetch, wallet, { services: ["https://pay.example/zk"], maxPerRequest: 12345n });',
      `const response = await pay(${JSON.stringify(`https://data.example${target}`)});`,
    ]);
  });

  it("has the same tags for hostile texts", () => {
    const hostile = [
      "</script><script>alert(1)</script>",
      "<!--<script>",
      "--><img src=x onerror=alert(1)>",
      `"onmouseover="alert(1)`,
      `'><svg/onload=alert(1)>`,
      "</style></title></textarea></pre></code>",
      "&lt;script&gt;&#60;script&#62;&amp;",
      `]]>{{7*7}}\${7*7}$&$1$'`,
      "javascript:alert(1)",
    ];
    const shape = tags(render()).map((tag) => (tag.startsWith("<a ") ? "<a>" : tag));
    for (const text of hostile) {
      const page = render(`/${text.replaceAll(/[\\# ]/g, "")}`, { name: text });
      expect(
        tags(page).map((tag) => (tag.startsWith("<a ") ? "<a>" : tag)),
        text,
      ).to.deep.equal(shape);
      expect(unescaped(page)).to.include(`<p class="merchant notranslate" translate="no">${text}</p>`);
      expect(JSON.parse(embedded(page)).metadata.resource).to.include(text.slice(0, 4).replaceAll(/[\\# ]/g, ""));
      expect(page).not.to.match(/<!--/);
    }
  });

  it("has a content policy that allows its style by hash, and no script", () => {
    const style = /<style>([^<]*)<\/style>/.exec(render())![1]!;
    const hash = createHash("sha256").update(style).digest("base64");
    expect(PAGE_HEADERS["content-security-policy"]).to.equal(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    const page = render();
    expect(page).not.to.match(/\s(?:style|src|on\w+)=/);
    expect(page.match(/<script[^>]*>/g)).to.deep.equal(['<script type="application/json" id="payment-instructions">']);
  });

  it("has texts with a contrast of at least 4.5 in light and dark mode", () => {
    const texts = [
      ["text", "ground"],
      ["text", "card"],
      ["text", "code"],
      ["quiet", "ground"],
      ["quiet", "card"],
      ["accent", "card"],
      ["on-accent", "accent"],
      ["good", "card"],
    ] as const;
    const themes = [...PAGE_STYLE.matchAll(/:root \{([^}]*)\}/g)].map(([, body = ""]) => body);
    expect(themes.length).to.equal(2);
    for (const [index, theme] of themes.entries())
      for (const [front, back] of texts)
        expect(contrast(color(theme, front), color(theme, back)), `${index} ${front} on ${back}`).to.be.at.least(4.5);
  });
});

describe("a navigation", () => {
  const request = (method: string, ...values: string[]) => ({
    method,
    target: "/",
    header: (name: string) => (name === "sec-fetch-dest" ? values : []),
  });
  it("is a GET or HEAD whose destination is a document", () => {
    expect(isNavigation(request("GET", "document"))).to.equal(true);
    expect(isNavigation(request("HEAD", "document"))).to.equal(true);
    for (const method of ["POST", "PUT", "OPTIONS", "get"])
      expect(isNavigation(request(method, "document")), method).to.equal(false);
    const others = [[], [""], ["empty"], ["iframe"], ["Document"], ["document, document"], ["document", "document"]];
    for (const values of others) expect(isNavigation(request("GET", ...values)), values.join()).to.equal(false);
  });
});

/** A color from the style: red, green and blue, each 0 to 255. */
function color(theme: string, name: string): number[] {
  const [, digits = ""] = new RegExp(`--${name}: #([0-9a-f]+);`).exec(theme) ?? [];
  const long = digits.length === 3 ? [...digits].map((digit) => digit + digit).join("") : digits;
  return [0, 2, 4].map((at) => Number.parseInt(long.slice(at, at + 2), 16));
}

/** WCAG 2.2's contrast ratio. */
function contrast(one: number[], other: number[]): number {
  const luminance = (rgb: number[]) => {
    const [red = 0, green = 0, blue = 0] = rgb.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}
