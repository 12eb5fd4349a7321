// The servers in the package's README serve their resources, and only for a payment.

import { expect } from "chai";
import { DocumentedCode } from "../kit/documented-code.ts";
import { slow } from "../kit/slow.ts";
import { paywallOptions } from "./support/options.ts";
import { headerOf, showing } from "./support/payments.ts";
import { type MerchantWorld, ORIGIN, openMerchantWorld, pay } from "./support/world.ts";

const SERVERS = ["express-server.ts", "fastify-server.ts", "hono-server.ts", "fetch-server.ts"];

describe("the package's README", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let code: DocumentedCode;
  before(async () => {
    world = await openMerchantWorld();
    code = new DocumentedCode(import.meta.dirname, "packages/resource-server/README.md");
  });
  after(() => code?.remove());

  it("has servers that type-check", () => {
    expect(code.names).to.deep.equal(["options.ts", ...SERVERS]);
    expect(code.complaints()).to.equal("");
  });

  for (const name of SERVERS)
    it(`${name} serves its report only for a payment`, async () => {
      code.write("options.ts", `export const options = ${JSON.stringify(paywallOptions(world))};\n`);
      await code.serving(name, async (url) => {
        expect(await (await fetch(`${url}/health`)).text()).to.equal("free");
        expect((await fetch(`${url}/report`)).status).to.equal(402);
        expect((await fetch(`${url}/missing`)).status).to.equal(404);
        const headers = showing(headerOf(await pay(world, { target: "/report" })));
        const response = await fetch(`${url}/report`, { headers });
        expect([response.status, await response.text()]).to.deep.equal([200, `paid for ${ORIGIN}/report`]);
      });
    });
});
