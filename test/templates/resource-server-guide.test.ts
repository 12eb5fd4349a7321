// Runs docs/resource-server.md and the servers in the package's README outside the checkout: they charge and are paid.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inLongRun } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Guide } from "./guide.ts";
import { openTemplates } from "./needs.ts";
import { openPayer, type Payer } from "./payer.ts";
import type { World } from "./world.ts";

const README_SERVERS = ["express-server.ts", "fastify-server.ts", "hono-server.ts", "fetch-server.ts"];
/** The servers of the README that are also paid. The Express server is in docs/resource-server.md. */
const PAID_SERVERS = inLongRun(["fastify-server.ts"], ["express-server.ts", "hono-server.ts", "fetch-server.ts"]);
/** Price of a request under the page's price functions. */
const PRICES = {
  "GET /": "10000",
  "GET /reports/7": "250000",
  "GET /Reports/7/": "250000",
  "GET /archive/1": "2000000",
  "HEAD /archive/1": "2000000",
  "PUT /archive/1": "10000",
  "GET /search?deep=yes": "50000",
  "GET /search": "5000",
  "GET /health": "free",
  "POST /health": "10000",
  "GET /Health": "10000",
  "GET /terms/of/use": "free",
  "GET /webhook": "10000",
  "POST /webhook": "free",
  "GET //": 400,
  "GET /%68ealth": 400,
};
/** Opens a paywall with all options from the page and the recipient that sign.ts wrote, and requests prices from it. */
const CHECK_OPTIONS = `
import { readFileSync } from "node:fs";
import { parseMonthAddresses } from "@sotto/protocol";
import { createPaywall } from "@sotto/resource-server";
import { cors } from "./cors.ts";
import { discovery } from "./discovery.ts";
import { options } from "./options.ts";
import { page } from "./page.ts";
import { prices } from "./prices.ts";

const recipient = { addresses: parseMonthAddresses(JSON.parse(readFileSync("signed.json", "utf8"))) };
const paywall = await createPaywall({ ...options, ...prices, recipient, page, cors, discovery });
await paywall.ready;
const asked: Record<string, string | number> = {};
for (const request of ${JSON.stringify(Object.keys(PRICES))}) {
  const [method = "", target = ""] = request.split(" ");
  const decision = await paywall.decide({ method, target, header: () => [] });
  const body = decision.kind === "refused" ? (decision.body as { payment?: { amountBaseUnits: string } }) : undefined;
  asked[request] = decision.kind === "refused" ? (body?.payment?.amountBaseUnits ?? decision.status) : decision.kind;
}
console.log(JSON.stringify(asked));
await paywall.close();
`;

describe("guides for resource servers", function () {
  slow(this, "packages are packed and installed, and payments proved");
  let world: World;
  let payer: Payer;
  before(async () => {
    world = await openTemplates();
    payer = await openPayer(world, 2 + PAID_SERVERS.length);
  });
  after(() => payer?.close());

  const charges = async (url: string) => {
    expect((await fetch(`${url}/report`)).status).to.equal(402);
    // A missing page costs nothing.
    expect((await fetch(`${url}/missing`)).status).to.equal(404);
  };
  const serves = async (url: string) => {
    await charges(url);
    const response = await payer.pay(`${url}/report`);
    expect([response.status, await response.text()]).to.deep.equal([200, `paid for ${url}/report`]);
  };

  describe("docs/resource-server.md", () => {
    let guide: Guide;
    before(async () => {
      guide = await Guide.open(world, "docs/resource-server.md");
    });

    it("has only code blocks that run, or that state why they do not", () => {
      expect(guide.unnamed).to.deep.equal([]);
      expect(guide.names).to.include.members(["app.mjs", "server.ts", "options.ts", "sign.ts"]);
    });

    it("adds a paywall to an app, which is paid for its report", async () => {
      const client = await Guide.open(world, "docs/client.md", "for-servers");
      await client.runCommands();
      guide.environment = client.environment;
      await guide.runCommands();
      await guide.serving("app.mjs", async (url) => {
        expect(await (await fetch(url)).text()).to.equal("free");
        await serves(url);
      });
    });

    it("has a server with its options in a file, which is paid for its report", () =>
      guide.serving("server.ts", serves));

    it("type-checks", async () => {
      guide.write("check-options.ts", CHECK_OPTIONS);
      expect(await guide.complaints()).to.equal("");
    });

    it("has options, a signature and price functions that work as documented", async () => {
      expect(JSON.parse(await guide.run("check-options.ts"))).to.deep.equal(PRICES);
    });

    it("has only programs that these tests ran", () => {
      expect(guide.unused()).to.deep.equal([]);
    });
  });

  describe("packages/resource-server/README.md", () => {
    let guide: Guide;
    before(async () => {
      guide = await Guide.open(world, "packages/resource-server/README.md");
      const other = (name: string) => readFileSync(join(guide.folder, "..", "docs-resource-server-md", name), "utf8");
      for (const name of ["deployment.json", "addresses.json", "viewing-keys.json"]) guide.provide(name, other(name));
    });

    it("has only code blocks that run, or that state why they do not", () => {
      expect(guide.unnamed).to.deep.equal([]);
      expect(guide.names).to.deep.equal(["options.ts", ...README_SERVERS]);
    });

    it("type-checks", async () => {
      expect(await guide.complaints()).to.equal("");
    });

    for (const name of README_SERVERS)
      it(`${name} ${PAID_SERVERS.includes(name) ? "is paid" : "charges"} for its report`, () =>
        guide.serving(name, async (url) => {
          expect(await (await fetch(`${url}/health`)).text()).to.equal("free");
          await (PAID_SERVERS.includes(name) ? serves : charges)(url);
        }));
  });
});
