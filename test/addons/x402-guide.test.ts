// docs/x402.md and the package's README: published x402 packages charge and pay with the scheme.
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Guide } from "../templates/guide.ts";
import { type Prepared, prepare } from "../templates/prepared.ts";
import type { World } from "../templates/world.ts";
import { openAddons } from "./needs.ts";

describe("x402", function () {
  slow(this, "packages are packed and installed, and payments proved");
  let world: World;
  let prepared: Prepared;
  before(async () => {
    world = await openAddons();
    prepared = await prepare(world);
  });

  const opened = async (page: string): Promise<Guide> => {
    const guide = await Guide.open(world, page);
    prepared.give(guide);
    guide.borrow("packages/x402/README.md", "settings.ts");
    return guide;
  };

  describe("packages/x402/README.md", () => {
    let guide: Guide;
    before(async () => {
      guide = await opened("packages/x402/README.md");
    });

    it("has only programs that run, and type-check", async () => {
      expect(guide.unnamed).to.deep.equal([]);
      expect(await guide.complaints()).to.equal("");
    });

    it("charges and pays", () =>
      guide.serving("x402-server.ts", async (url) => {
        expect((await fetch(`${url}/report`)).status).to.equal(402);
        expect(await guide.run("x402-pay.ts")).to.equal("200 the report\n");
      }));

    it("adds the scheme to a facilitator, and remembers payments", async () => {
      expect(await guide.run("facilitator.ts")).to.equal("eip155:31337\n");
      expect(await guide.run("uses.js")).to.equal("claimed, then busy\nfunction\n");
      expect(guide.unused()).to.deep.equal([]);
    });
  });

  describe("docs/x402.md", () => {
    let guide: Guide;
    before(async () => {
      guide = await opened("docs/x402.md");
    });

    it("has only programs that run, and type-check", async () => {
      expect(guide.unnamed).to.deep.equal([]);
      expect(await guide.complaints()).to.equal("");
    });

    it("answers both formats on one route, and is paid in sotto's own", () =>
      guide.serving("both.ts", async (url) => {
        const { status, headers } = await fetch(`${url}/report`);
        expect([status, headers.get("www-authenticate")]).to.deep.equal([402, "x402-zk"]);
        expect(headers.get("payment-required")).to.match(/\S/);
        guide.provide(
          "pay-both.ts",
          `import { wrapFetch } from "@sotto/client";
import { service } from "./settings.ts";
import { wallet } from "./wallet.ts";
const pay = wrapFetch(fetch, wallet, { services: [service], maxPerRequest: 1_000_000n });
console.log(await (await pay("${url}/report")).text());
await wallet.close();
`,
        );
        expect(await guide.run("pay-both.ts")).to.equal("the report\n");
      }));

    it("lists a resource and asks a catalog", async () => {
      guide.provide(
        "lists.ts",
        'import { routes } from "./list.ts";\nconsole.log(Object.keys(routes["GET /weather"].extensions).join());\n',
      );
      expect(await guide.run("lists.ts")).to.equal("bazaar,privacy\n");
      // Discovery is off in the service of `npm run dev`.
      const { code, output } = await guide.attempt("find.ts");
      expect([code, /failed \(404\)/.test(output)], output).to.deep.equal([1, true]);
    });
  });
});
