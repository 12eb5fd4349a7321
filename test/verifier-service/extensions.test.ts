// The whole service with made-up extensions: readiness, work in the background, and an extension that fails at start.

import { SottoError } from "@sotto/protocol";
import type { AdmittedPayment, ServiceExtension } from "@sotto/server";
import { call, post } from "@sotto/test-kit/http";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { forgingProver } from "@sotto/test-pool/append";
import { forgeBundle, merchantTag, RECIPIENT, settleRequest } from "@sotto/test-world/bundles";
import { environment, openWorld } from "@sotto/test-world/service";
import { createLog, readConfig, startService } from "@sotto/verifier-service";
import { expect } from "chai";

describe("a service with extensions", function () {
  slow(this, "a chain and services");
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder("extensions");
  });

  /** How far the service's clock is ahead, ms. */
  let ahead = 0;
  const clock = () => Date.now() + ahead;
  const start = async (...extensions: readonly ServiceExtension[]) => {
    const config = readConfig(environment(await openWorld(), folder), extensions);
    return startService(config, createLog("silent"), { clock, prover: forgingProver });
  };

  it("is ready while they are, and names the one that is not", async () => {
    let ok = false;
    const feed: ServiceExtension = {
      name: "feed",
      readiness: "whether the feed works",
      open: () => ({ ready: async () => (ok ? undefined : { ok: false, code: "FEED_DOWN" }) }),
    };
    const { url, close } = await start(feed);
    try {
      const { status, body } = await call(`${url}/readyz`);
      expect([status, body["cause"]]).to.deep.equal([503, "feed"]);
      expect((body["checks"] as Record<string, unknown>)["feed"]).to.deep.equal({ ok: false, code: "FEED_DOWN" });
      ok = true;
      // Responses of the last two seconds are repeated.
      ahead += 2_000;
      expect((await call(`${url}/readyz`)).status).to.equal(200);
    } finally {
      await close();
    }
  });

  it("starts their work once it listens, and ends it when it closes", async () => {
    const seen: string[] = [];
    const worker: ServiceExtension = {
      name: "worker",
      async open({ address }) {
        seen.push(`opened at ${await address()}`);
        return { start: () => void seen.push("started"), close: () => void seen.push("closed") };
      },
    };
    const { url, close } = await start(worker);
    expect(seen).to.deep.equal([`opened at ${url}`, "started"]);
    await close();
    expect(seen.at(-1)).to.equal("closed");
  });

  it("tells them where it listens, if they ask only once it does", async () => {
    const seen: string[] = [];
    const late: ServiceExtension = {
      name: "late",
      open: ({ address }) => ({
        routes: (app) => void app.get("/late", async () => ({ at: await address() })),
        start: () => void address().then((found) => seen.push(found)),
      }),
    };
    const { url, close } = await start(late);
    try {
      expect((await call(`${url}/late`)).body).to.deep.equal({ at: url });
      expect(seen).to.deep.equal([url]);
    } finally {
      await close();
    }
  });

  it("does not start if one throws or describes no readiness, and closes what it opened", async () => {
    const closed: string[] = [];
    const first: ServiceExtension = { name: "first", open: () => ({ close: () => void closed.push("first") }) };
    const thrower: ServiceExtension = {
      name: "thrower",
      open() {
        throw new Error("no feed");
      },
    };
    const { message } = await expectRejected("EXTENSION_FAILED", () => start(first, thrower));
    expect(message).to.equal("the extension thrower did not start: no feed");
    expect(closed).to.deep.equal(["first"]);
    const silent: ServiceExtension = { name: "silent", open: () => ({ ready: async () => undefined }) };
    await expectRejected("EXTENSION_INVALID", () => start(silent));
    // The store and the port are free again.
    await (await start(first)).close();
  });

  it("refuses payments that one of them does not admit, before their notes are reserved", async () => {
    const world = await openWorld();
    const asked: [AdmittedPayment, string | undefined][] = [];
    const stamp: ServiceExtension = {
      name: "stamp",
      errors: { STAMP_MISSING: { means: "No stamp.", cause: "It was forgotten.", http: 422 } },
      admits: { field: { name: "stamp", maxLength: 8, description: "a stamp" }, codes: ["STAMP_MISSING"] },
      open: () => ({
        async admit(payment, shown) {
          asked.push([payment, shown]);
          if (shown !== "paid") throw new SottoError("STAMP_MISSING", "the payment has no stamp");
        },
      }),
    };
    const { url, close } = await start(stamp);
    try {
      const bundle = forgeBundle(world, { root: world.root });
      const verify = async (fields: object, path = "verify") => {
        const { status, body } = await post(`${url}/${path}`, { ...bundle, ...fields });
        return [status, body["code"] ?? body["valid"]];
      };
      expect(await verify({})).to.deep.equal([422, "STAMP_MISSING"]);
      expect(await verify({ stamp: "forged" })).to.deep.equal([422, "STAMP_MISSING"]);
      expect(await verify({ stamp: 7 })).to.deep.equal([400, "INVALID_REQUEST"]);
      expect(await verify({ stamp: "x".repeat(9) })).to.deep.equal([400, "INVALID_REQUEST"]);
      const [[payment, shown]] = asked as [(typeof asked)[number]];
      expect(payment).to.deep.include({ nullifier: BigInt(bundle.publicSignals[6]!), timestamp: bundle.timestamp });
      expect(payment).to.deep.include({ wallet: RECIPIENT, ownerTag: merchantTag });
      expect(shown).to.equal(undefined);
      // A payment with a wrong proof gets the same answer as without the extension.
      const { proof } = forgeBundle(world, { root: world.root });
      expect(await verify({ proof })).to.deep.equal([200, false]);
      // Another payment of the same note takes its place: no refused one was reserved.
      expect(await verify({ stamp: "paid" })).to.deep.equal([200, true]);
      const count = asked.length;
      // It is reserved now, so nobody asks for the stamp again.
      expect(await verify({})).to.deep.equal([200, true]);
      expect(asked).to.have.length(count);
      const { body } = await post(`${url}/verify`, bundle);
      const settled = await post(`${url}/settle`, settleRequest(bundle, body["paymentToken"]));
      expect(settled.body["status"]).to.equal("success");
      expect((await post(`${url}/settle`, settleRequest(bundle, body["paymentToken"]))).body["status"]).to.equal(
        "success",
      );
    } finally {
      await close();
    }
    for (const name of ["timestamp", "artifactSet", "two words"]) {
      const field = { ...stamp.admits!.field, name };
      await expectRejected("EXTENSION_INVALID", () => start({ ...stamp, admits: { field, codes: [] } }));
    }
    // An extension that takes long does not delay the refusal of a payment with a wrong proof.
    const slowly = await start({ ...stamp, open: () => ({ admit: () => new Promise(() => undefined) }) });
    try {
      const bundle = forgeBundle(world, { root: world.root });
      const { proof } = forgeBundle(world, { root: world.root });
      const { status, body } = await post(`${slowly.url}/verify`, { ...bundle, proof });
      expect([status, body["valid"]]).to.deep.equal([200, false]);
    } finally {
      await slowly.close();
    }
    const { admits: _, ...silent } = stamp;
    await expectRejected("EXTENSION_INVALID", () => start(silent));
  });
});
