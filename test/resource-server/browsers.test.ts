// The options `page` and `cors` on each adapter: what they add, and that nothing else changes.

import { parseInstructions } from "@sotto/protocol";
import type { Paywall, PaywallOptions } from "@sotto/resource-server";
import { describeMatrix } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { openPaywall } from "@sotto/test-world/paywall/options";
import { headerOf } from "@sotto/test-world/paywall/payments";
import { type MerchantWorld, ORIGIN, openMerchantWorld, pay } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { type RawAnswer, rawRequest } from "./support/http.ts";
import { ADAPTERS, FREE_BODY, type ResourceServer, type StartServer } from "./support/servers.ts";

const PAGE = "https://page.example";
const ASKS = ["Access-Control-Request-Method: GET", "Access-Control-Request-Headers: x-payment-proof"];
const NAVIGATES = "Sec-Fetch-Dest: document";

/**
 * One request for each kind of response to a request without a payment, and how a paywall without options answers it.
 */
const REQUESTS = [
  { line: "GET /paid/a", status: 402, sets: "www-authenticate" },
  { line: "HEAD /paid/a", status: 402, sets: "www-authenticate" },
  { line: "POST /paid/a", status: 402, sets: "www-authenticate" },
  { line: "OPTIONS /paid/a", status: 402, sets: "www-authenticate" },
  { line: "GET /missing", status: 402, sets: "www-authenticate" },
  { line: "GET /paid/a", headers: ["X-Payment-Proof: {"], status: 400 },
  { line: "GET /paid/a", headers: ["X-Payment-Proof: {}"], status: 402 },
  { line: "GET /paid/..;/a", status: 400 },
  { line: "GET /health", status: 200 },
] as const;
interface Asked {
  /** Method and target. */
  readonly line: string;
  readonly headers?: readonly string[];
}

/** Headers that differ between two responses to the same request. */
const VARYING = ["date", "etag", "content-length"];

/** Everything that the server sent, in order, except values that differ in every response. */
function sent({ status, headers, body }: RawAnswer) {
  const kept = [...headers].filter(([name]) => !VARYING.includes(name));
  const same = body.replace(/zk_req_[0-9]+_[0-9A-Za-z]{16}/g, "ID").replace(/"timestamp":[0-9]+/g, "NOW");
  // If node-server copies a Response, the content type loses its space.
  const lines = kept.map(([name, values]) => `${name}: ${values.join(" | ").replace(/; ?charset/i, ";charset")}`);
  return { status, headers: lines, body: same };
}

describe("a server for browsers", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  before(async () => {
    world = await openMerchantWorld();
  });

  describeMatrix("on", ADAPTERS, (start: StartServer, attack) => {
    const opened: { server: ResourceServer; paywall: Paywall }[] = [];
    const sold: string[] = [];
    const open = async (options: Partial<PaywallOptions> = {}): Promise<string> => {
      const paywall = await openPaywall(world, options);
      const server = await start(paywall, ({ method }) => {
        sold.push(method);
        return { status: 200, text: "the goods" };
      });
      opened.push({ server, paywall });
      return server.url;
    };
    afterEach(async () => {
      sold.length = 0;
      for (const { server, paywall } of opened.splice(0)) {
        await server.close();
        await paywall.close();
      }
    });
    const ask = (url: string, asked: Asked, ...more: string[]) =>
      rawRequest(url, [`${asked.line} HTTP/1.1`, ...(asked.headers ?? []), ...more]);
    const askAll = (url: string, ...more: string[]) =>
      Promise.all(REQUESTS.map(async (asked) => sent(await ask(url, asked, ...more))));

    it("answers any request of a browser as the interface specifies if no options are set", async () => {
      const url = await open();
      const plain = await askAll(url);
      for (const [index, { line, status, ...asked }] of REQUESTS.entries()) {
        const { headers, ...answer } = plain[index]!;
        expect(answer.status, line).to.equal(status);
        const about = headers.filter((header) =>
          /^(?:cache-control|vary|access-control|www-auth|content-sec)/.test(header),
        );
        const expected = [
          "cache-control: no-store",
          "vary: X-Payment-Proof",
          "access-control-expose-headers: WWW-Authenticate, Retry-After",
          ...("sets" in asked ? ["www-authenticate: x402-zk"] : []),
        ];
        expect(about.sort(), line).to.deep.equal(status === 200 ? [] : expected.sort());
      }
      expect(await askAll(url, NAVIGATES, `Origin: ${PAGE}`, ...ASKS)).to.deep.equal(plain);
    });

    it("with a page, changes only Vary for requests that are not navigations", async () => {
      const plain = await askAll(await open());
      const url = await open({ page: { wallet: "https://wallet.example", name: "Harbour Data" } });
      const expected = plain.map((answer) => ({
        ...answer,
        headers: answer.headers.map((header) =>
          answer.status === 402 && header === "vary: X-Payment-Proof" ? `${header}, Sec-Fetch-Dest` : header,
        ),
      }));
      for (const more of [
        [],
        ["Sec-Fetch-Dest: empty"],
        ["Sec-Fetch-Dest: iframe"],
        ["Accept: text/html"],
        [NAVIGATES, NAVIGATES],
      ])
        expect(await askAll(url, ...more), more.join()).to.deep.equal(expected);
    });

    it("answers a navigation with a page: the same status and headers, and the instructions in it", async () => {
      const url = await open({ page: true });
      for (const { line, status, ...asked } of REQUESTS) {
        const answer = await ask(url, { line, ...asked }, NAVIGATES);
        const type = answer.headers.get("content-type")?.[0];
        const isPage = "sets" in asked && /^(?:GET|HEAD) /.test(line);
        const found = answer.headers.has("content-security-policy");
        expect([answer.status, found], line).to.deep.equal([status, isPage]);
        if (!isPage) continue;
        expect(type?.toLowerCase()).to.equal("text/html; charset=utf-8");
        const json = await ask(url, { line, ...asked });
        for (const name of ["cache-control", "www-authenticate", "access-control-expose-headers", "vary"])
          expect(answer.headers.get(name), name).to.deep.equal(json.headers.get(name));
        expect(answer.headers.get("vary")).to.deep.equal(["X-Payment-Proof, Sec-Fetch-Dest"]);
        expect(answer.headers.get("content-security-policy")?.[0]).to.match(/^default-src 'none'; style-src 'sha256-/);
        expect(answer.headers.get("x-content-type-options")).to.deep.equal(["nosniff"]);
        expect(answer.headers.get("referrer-policy")).to.deep.equal(["no-referrer"]);
        if (line.startsWith("HEAD")) {
          expect(answer.body).to.equal("");
          continue;
        }
        const [, text = ""] = /<script type="application\/json"[^>]*>([^<]*)<\/script>/.exec(answer.body) ?? [];
        const { metadata } = parseInstructions(JSON.parse(text));
        expect(metadata.resource).to.equal(`${ORIGIN}${line.slice(4)}`);
      }
      expect(sold).to.deep.equal([]);
    });

    attack("keeps a hostile target out of the page's markup", async () => {
      const url = await open({ page: { wallet: "https://wallet.example", name: "<b>&\"'" } });
      for (const target of [
        "/paid/</script><script>alert(1)</script>",
        "/paid/<!--<script>",
        `/paid/a?"'><svg/onload=a()>`,
      ]) {
        const { status, body } = await ask(url, { line: `GET ${target}` }, NAVIGATES);
        // Some servers refuse or encode such a target before the paywall sees it.
        if (status !== 402) continue;
        expect(body.match(/<script|<svg|<!--|<b>&/g), target).to.deep.equal(["<script"]);
        const [, text = ""] = /<script type="application\/json"[^>]*>([^<]*)<\/script>/.exec(body) ?? [];
        expect(parseInstructions(JSON.parse(text)).metadata.resource).to.match(/^https:\/\/data\.example\/paid\//);
      }
    });

    it("answers preflights without charging, and lets every origin read its responses", async () => {
      const url = await open({ cors: { origins: "*" } });
      for (const line of ["OPTIONS /paid/a", "OPTIONS /health", "OPTIONS /missing"]) {
        const { status, headers, body } = await ask(url, { line }, `Origin: ${PAGE}`, ...ASKS);
        expect([status, body], line).to.deep.equal([204, ""]);
        expect(corsOf(headers)).to.deep.equal({
          "access-control-allow-origin": "*",
          "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
          "access-control-allow-headers": "X-Payment-Proof, Content-Type",
          "access-control-max-age": "7200",
        });
      }
      const plain = await askAll(await open());
      const found = await askAll(url, `Origin: ${PAGE}`);
      const without = found.map(({ headers, ...answer }) => ({
        ...answer,
        headers: headers.filter((header) => header !== "access-control-allow-origin: *"),
      }));
      expect(without).to.deep.equal(plain);
      for (const { headers } of found) expect(headers).to.include("access-control-allow-origin: *");
      expect((await ask(url, { line: "GET /health" }, `Origin: ${PAGE}`)).body).to.equal(FREE_BODY);
      expect(sold).to.deep.equal([]);
    });

    attack("lets a paid answer be read by the listed origins only", async () => {
      const options = { cors: { origins: [PAGE, "http://localhost:4020"], exposedHeaders: ["X-Page"] } };
      const url = await open({ ...options, page: true });
      const proof = `X-Payment-Proof: ${headerOf(await pay(world))}`;
      const paid = await ask(url, { line: "GET /paid/a" }, `Origin: ${PAGE}`, proof);
      expect([paid.status, paid.body]).to.deep.equal([200, "the goods"]);
      expect(corsOf(paid.headers)).to.deep.equal({
        "access-control-allow-origin": PAGE,
        "access-control-expose-headers": "WWW-Authenticate, Retry-After, X-Page",
      });
      expect(listOf(paid, "vary")).to.include.members(["x-payment-proof", "origin"]);
      for (const origin of ["https://evil.example", `${PAGE}.evil.example`, "null", `${PAGE}/`, ""]) {
        const refused = await ask(url, { line: "GET /paid/a" }, `Origin: ${origin}`);
        expect(refused.headers.has("access-control-allow-origin"), origin).to.equal(false);
        expect(listOf(refused, "vary")).to.deep.equal(["x-payment-proof", "sec-fetch-dest", "origin"]);
        const preflight = await ask(url, { line: "OPTIONS /paid/a" }, `Origin: ${origin}`, ...ASKS);
        expect([preflight.status, corsOf(preflight.headers)], origin).to.deep.equal([204, {}]);
        expect(listOf(preflight, "vary")).to.deep.equal(["origin"]);
      }
      const twice = await ask(url, { line: "OPTIONS /paid/a" }, `Origin: ${PAGE}`, `Origin: ${PAGE}`, ...ASKS);
      expect(corsOf(twice.headers)).to.deep.equal({});
      expect(sold).to.deep.equal(["GET"]);
    });

    attack("charges for an OPTIONS request that is no preflight", async () => {
      const url = await open({ cors: { origins: "*" } });
      for (const more of [[], [`Origin: ${PAGE}`], ASKS])
        expect((await ask(url, { line: "OPTIONS /paid/a" }, ...more)).status, more.join()).to.equal(402);
    });

    attack("lets public pages into a private network only by its option", async () => {
      const asked = [`Origin: ${PAGE}`, ...ASKS, "Access-Control-Request-Private-Network: true"];
      const allows = async (options: PaywallOptions["cors"], ...headers: string[]) => {
        const { headers: found } = await ask(await open({ cors: options! }), { line: "OPTIONS /paid/a" }, ...headers);
        return found.get("access-control-allow-private-network");
      };
      expect(await allows({ origins: "*" }, ...asked)).to.equal(undefined);
      expect(await allows({ origins: "*", privateNetwork: true }, ...asked)).to.deep.equal(["true"]);
      expect(await allows({ origins: "*", privateNetwork: true }, `Origin: ${PAGE}`, ...ASKS)).to.equal(undefined);
      expect(await allows({ origins: ["https://wallet.example"], privateNetwork: true }, ...asked)).to.equal(undefined);
    });
  });
});

const corsOf = (headers: RawAnswer["headers"]): Record<string, string> =>
  Object.fromEntries(
    [...headers]
      .filter(([name]) => name.startsWith("access-control-"))
      .map(([name, values]) => [name, values.join(" | ")]),
  );

const listOf = ({ headers }: RawAnswer, name: string): string[] =>
  (headers.get(name) ?? []).flatMap((value) => value.split(",").map((item) => item.trim().toLowerCase()));
