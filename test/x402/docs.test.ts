// Type-checks the code of the documents under the strictest options, with declarations for the names that it leaves to the
// reader, and runs it.

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { type Wallet, wrapFetch } from "@sotto/client";
import type { Paywall } from "@sotto/resource-server";
import { DocumentedCode } from "@sotto/test-kit/documented-code";
import { anyRejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import type { x402Facilitator } from "@x402/core/facilitator";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import express, { type Express } from "express";
import { openWallet, openWorld, payerWith, type World } from "../world/wallets.ts";
import { decode, signRecipient } from "./support/resource-server.ts";

const root = join(import.meta.dirname, "..", "..");
const PRICES = [50_000n, 1_000_000n];

/** Declarations of the names that the reader provides. */
const READERS = `import type { Wallet } from "@sotto/client";
import type { SottoRecipient } from "@sotto/x402/server";
import type { Express } from "express";
declare global {
  const app: Express;
  const wallet: Wallet;
  const recipient: SottoRecipient;
  const service: string;
  const chainId: number;
  const pool: string;
  const asset: string;
  const rpcUrls: string[];
  const store: string;
}
`;

const blocks = (path: string): string[] =>
  [...readFileSync(join(root, path), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);

describe("the code of docs/x402.md and of the package's README", function () {
  slow(this, "a chain, a service and proofs");
  const servers: Server[] = [];
  const globals: Record<string, unknown> = {};
  let code: DocumentedCode;
  let world: World;
  let wallet: Wallet;

  before(async () => {
    const [both, list, find, ...more] = blocks("docs/x402.md");
    const [sell, pay, settle, ...rest] = blocks("packages/x402/README.md");
    expect([more, rest]).to.deep.equal([[], []]);
    code = new DocumentedCode(
      import.meta.dirname,
      new Map([
        ["readers.ts", READERS],
        ["list.ts", list!],
        ["find.ts", find!],
        ["both.ts", `${both}export { paywall };\n`],
        ["sell.ts", sell!],
        ["pay.ts", `${pay}export { response };\n`],
        ["settle.ts", `${settle}export { facilitator };\n`],
      ]),
    );
    world = await openWorld();
    wallet = await payerWith(world, PRICES);
    const merchant = await openWallet(world);
    const { chainId, pool, token: asset, serviceUrl: service, node } = world;
    const recipient = await signRecipient(world, Account.createRandom(), merchant.shieldedAddress);
    give({ wallet, recipient, service, chainId, pool, asset, rpcUrls: [node.url], store: "memory" });
  });
  after(() => {
    Object.assign(globalThis, globals);
    for (const server of servers) server.close().closeAllConnections();
    code?.remove();
  });

  /** Values of the names that the reader provides. */
  const give = (values: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(values)) {
      if (!(name in globals)) globals[name] = Reflect.get(globalThis, name);
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }
  };
  const run = <T = unknown>(name: string): Promise<T> => import(code.path(name));
  async function listen(app: Express): Promise<string> {
    const server = createServer(app);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  }
  const report = (app: Express) => app.get("/report", (_request, response) => void response.send("the report"));

  it("type-checks under the strictest settings", () => {
    expect(code.complaints()).to.equal("");
  });

  it("charges and pays", async () => {
    const app = express();
    give({ app });
    await run("sell.ts");
    report(app);
    const origin = await listen(app);
    const real = fetch;
    const throughHere: typeof fetch = (input, init) => {
      const { url } = new Request(input, init);
      if (!url.startsWith("https://data.example/")) return real(input, init);
      return real(new Request(url.replace("https://data.example", origin), new Request(input, init)));
    };
    give({ fetch: throughHere });
    try {
      const { response } = await run<{ response: Response }>("pay.ts");
      expect([response.status, await response.text()]).to.deep.equal([200, "the report"]);
      expect(decode(response.headers.get("payment-response"))["success"]).to.equal(true);
    } finally {
      give({ fetch: real });
    }
    expect((await fetch(`${origin}/report`)).status).to.equal(402);
  });

  it("lists a resource and asks a catalog", async () => {
    const { routes } = await run<{ routes: Record<string, { extensions: object }> }>("list.ts");
    expect(routes["GET /weather"]!.extensions).to.have.keys("bazaar", "privacy");
    // Discovery is off in this service.
    const error = await anyRejection(run("find.ts"));
    expect(error.message).to.include("failed (404)");
  });

  it("offers the scheme from a facilitator", async () => {
    const { facilitator } = await run<{ facilitator: x402Facilitator }>("settle.ts");
    expect(facilitator.getSupported().kinds.map(({ scheme, network }) => [scheme, network])).to.deep.equal([
      ["sotto", `eip155:${world.chainId}`],
    ]);
  });

  it("serves both formats on one route", async () => {
    const app = express();
    const origin = await listen(app);
    give({ app, origin });
    const { paywall } = await run<{ paywall: Paywall }>("both.ts");
    try {
      report(app);
      const { status, headers } = await fetch(`${origin}/report`);
      expect([status, headers.get("www-authenticate")]).to.deep.equal([402, "x402-zk"]);
      expect(headers.get("payment-required")).to.match(/\S/);
      const pay = wrapFetch(fetch, wallet, { services: [world.serviceUrl], maxPerRequest: PRICES[1]! });
      expect(await (await pay(`${origin}/report`)).text()).to.equal("the report");
    } finally {
      await paywall.close();
    }
  });
});
