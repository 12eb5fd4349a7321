// A client that prepares payments has their origins ready, and waits long enough for the curator's next head.
import { wrapFetch } from "@sotto/client";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { LocalService } from "../../../wallet/test/support/local-service.ts";
import { showOrigins } from "../../src/client.ts";
import { SLOT_SECONDS } from "../../src/index.ts";
import { MAX_PAUSE_MS } from "../../src/wallet/origins.ts";
import { AskingMerchant } from "../support/asking-merchant.ts";
import { Payers } from "../support/payer.ts";

describe("a client that prepares payments to a server that asks for origins", function () {
  slow(this, "proofs of origins are made");

  it("shows the origin of the prepared payment without another proof", async () => {
    const payers = new Payers();
    const { world, curator, prover } = payers;
    const payer = await payers.funded([5_000n, 6_000n]);
    payers.minute(4);
    await curator.acceptNew();
    const origins = await payers.follow(payer);
    expect((await origins.sync()).problems).to.deep.equal([]);
    const merchant = await AskingMerchant.create(payers);
    await merchant.open(payers);
    const shown = showOrigins({ origins, missing: "refuse" });
    let ready = 0;
    const prepare: typeof shown.prepare = async (...next) => {
      await shown.prepare!(...next);
      ready += 1;
    };
    const pay = wrapFetch(merchant.fetch, payer, {
      ...{ services: ["https://pay.example/zk"], maxPerRequest: 10n, serviceFetch: new LocalService(world).fetch },
      prepare: true,
      attachments: [{ ...shown, prepare }],
    });
    const proofs = () => prover.asked.filter((asked) => asked === "origin" || asked === "payment");
    try {
      expect((await pay(`${merchant.origin}/a`)).status).to.equal(200);
      expect(proofs()).to.deep.equal(["payment", "origin"]);
      await eventually(async () => ready === 1);
      await payer.scan();
      expect((await pay(`${merchant.origin}/b`)).status).to.equal(200);
      expect(proofs()).to.deep.equal(["payment", "origin", "origin"]);
      expect(prover.finished).to.equal(1);
      const { maskRoot } = curator.heads[0]!.head;
      expect(merchant.shown.map((sets) => sets.map(({ root }) => root))).to.deep.equal([[maskRoot], [maskRoot]]);
    } finally {
      origins.close();
      await merchant.close();
      await payer.close();
    }
  });
});

describe("a client that waits for an origin", () => {
  it("waits by default until the sync after the next head, and asks the client for as long", async () => {
    const origins = {
      sets: () => [],
      canProve: () => false,
      prove: () => Promise.reject(),
      proveAhead: async () => {},
    };
    const { waitMs } = showOrigins({ origins, missing: "wait" });
    expect(waitMs).to.be.greaterThan(1_000 * SLOT_SECONDS + MAX_PAUSE_MS);
    expect(showOrigins({ origins, missing: "wait", waitMs: 1 }).waitMs).to.equal(1);
    expect(showOrigins({ origins }).waitMs).to.equal(0);
  });
});
