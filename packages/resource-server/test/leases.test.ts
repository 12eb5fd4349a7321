// Claims of handlers that are slow, killed, stalled, or cannot store their outcome, in both databases.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { mock } from "node:test";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { acquire, acquired, BACKENDS, LEASE_MS, payment, type Server, Servers } from "./support/claim-servers.ts";

for (const [name, address] of Object.entries(BACKENDS))
  describe(`leases in ${name}`, function () {
    slow(this, "starts processes, and waits for leases to expire");
    let servers: Servers;
    let server: Server;
    const children: ChildProcess[] = [];
    beforeEach(async () => {
      servers = new Servers(await address());
      server = await servers.open();
    });
    afterEach(async () => {
      for (const child of children.splice(0)) child.kill("SIGKILL");
      await servers.close();
    });

    it("are renewed by a handler that takes longer than a lease", async () => {
      mock.timers.enable({ apis: ["setInterval"] });
      try {
        const working = await servers.open();
        const request = payment();
        const claim = await acquired(request, working);
        const { renew } = working.store;
        let renewed: Promise<boolean> | undefined;
        working.store.renew = (...claimed) => {
          renewed = renew.apply(working.store, claimed);
          return renewed;
        };
        for (let third = 0; third < 5; third++) {
          await servers.elapse(LEASE_MS / 3);
          renewed = undefined;
          mock.timers.tick(LEASE_MS / 3);
          expect(await renewed).to.equal(true);
          expect(await acquire(request, server)).to.equal("IN_USE");
        }
        await claim.finish(200);
        expect(await acquire(request, server)).to.equal("USED");
      } finally {
        mock.timers.reset();
      }
    });

    it("of a killed server expire, and count as attempts", async () => {
      const request = payment();
      const program = join(import.meta.dirname, "support", "claim-process.ts");
      for (let round = 0; round < 3; round++) {
        const child = spawn(process.execPath, [program, servers.url, String(LEASE_MS), JSON.stringify(request)]);
        children.push(child);
        await once(child.stdout, "data");
        expect(await acquire(request, server)).to.equal("IN_USE");
        child.kill("SIGKILL");
        await once(child, "exit");
        expect(await acquire(request, server)).to.equal("IN_USE");
        await servers.elapse(LEASE_MS);
      }
      expect(await acquire(request, server)).to.equal("USED");
    });

    it("are consumed by a handler that lost its lease but answered", async () => {
      const request = payment();
      const stalled = await servers.open();
      const claim = await acquired(request, stalled);
      await servers.stop(stalled);
      // Its process stalled and missed the renewals.
      await servers.elapse(LEASE_MS);
      const second = await acquired(request, server);
      const again = await servers.open();
      // It cannot release a claim that another handler has acquired,
      expect(await again.store.release(request.id, "stalled")).to.equal(false);
      expect(await acquire(request, server)).to.equal("IN_USE");
      // and the second handler's failure does not undo the first one's response.
      await again.store.consume(request.id);
      await second.finish(500);
      expect(await acquire(request, server)).to.equal("USED");
      await claim.finish(500).catch(() => undefined);
      servers.errors.splice(0);
    });

    it("are held and consumed later if the store is unavailable at the response", async () => {
      const request = payment();
      const claim = await acquired(request, server);
      const { consume } = server.store;
      let endOutage = (): void => undefined;
      const outage = new Promise<void>((resolve) => {
        endOutage = resolve;
      });
      let tries = 0;
      const stored = new Promise<void>((resolve) => {
        server.store.consume = async (id) => {
          tries += 1;
          if (tries === 1) throw new Error("store unavailable");
          await outage;
          resolve(consume.call(server.store, id));
        };
      });
      await claim.finish(200);
      expect(tries, "nobody waited for another").to.equal(1);
      expect(await acquire(request, server)).to.equal("IN_USE");
      endOutage();
      await stored;
      expect(await acquire(request, server)).to.equal("USED");
      expect(servers.errors.splice(0).map((error) => (error as Error).message)).to.deep.equal(["store unavailable"]);
    });

    it("cannot be acquired while the store is unavailable", async () => {
      const gone = await servers.open();
      await servers.stop(gone);
      const failure = await gone.claims.acquire(payment()).catch((error: unknown) => error);
      expect(failure).to.have.property("code", "STORE_UNAVAILABLE");
      expect(failure).to.have.property("retryAfter", 5);
    });
  });
