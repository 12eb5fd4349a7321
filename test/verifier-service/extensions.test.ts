// The whole service with made-up extensions: readiness, work in the background, and an extension that fails at start.

import type { ServiceExtension } from "@sotto/server";
import { call } from "@sotto/test-kit/http";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { forgingProver } from "@sotto/test-pool/append";
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
});
