// Claims of handlers that take long, are killed, stand still, or cannot say that they are done: in both databases.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { mock } from "node:test";
import { expect } from "chai";
import { slow } from "../../../test/kit/slow.ts";
import { BACKENDS, LEASE_MS, payment, type Server, Servers, take, taken } from "./support/claim-servers.ts";

for (const [name, address] of Object.entries(BACKENDS))
  describe(`leases in ${name}`, function () {
    slow(this, "processes start, and leases run out");
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
        const claim = await taken(request, working);
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
          expect(await take(request, server)).to.equal("IN_USE");
        }
        await claim.finish(200);
        expect(await take(request, server)).to.equal("USED");
      } finally {
        mock.timers.reset();
      }
    });

    it("of a killed server are free after the lease, and count as attempts", async () => {
      const request = payment();
      const program = join(import.meta.dirname, "support", "claim-process.ts");
      for (let round = 0; round < 3; round++) {
        const child = spawn(process.execPath, [program, servers.url, String(LEASE_MS), JSON.stringify(request)]);
        children.push(child);
        await once(child.stdout, "data");
        expect(await take(request, server)).to.equal("IN_USE");
        child.kill("SIGKILL");
        await once(child, "exit");
        expect(await take(request, server)).to.equal("IN_USE");
        await servers.elapse(LEASE_MS);
      }
      expect(await take(request, server)).to.equal("USED");
    });

    it("are consumed by a handler that lost its lease but answered", async () => {
      const request = payment();
      const stalled = await servers.open();
      const claim = await taken(request, stalled);
      await servers.stop(stalled);
      // Too long ago to be renewed: its process stood still.
      await servers.elapse(LEASE_MS);
      const second = await taken(request, server);
      const again = await servers.open();
      // It cannot give back what is another's by now,
      expect(await again.store.release(request.id, "stalled")).to.equal(false);
      expect(await take(request, server)).to.equal("IN_USE");
      // and the second handler's failure does not undo the first one's answer.
      await again.store.consume(request.id);
      await second.finish(500);
      expect(await take(request, server)).to.equal("USED");
      await claim.finish(500).catch(() => undefined);
      servers.errors.splice(0);
    });

    it("are held and consumed later if the store is unavailable at the answer", async () => {
      const request = payment();
      const claim = await taken(request, server);
      const { consume } = server.store;
      let back = (): void => undefined;
      const away = new Promise<void>((resolve) => {
        back = resolve;
      });
      let tries = 0;
      const stored = new Promise<void>((resolve) => {
        server.store.consume = async (id) => {
          tries += 1;
          if (tries === 1) throw new Error("away");
          await away;
          resolve(consume.call(server.store, id));
        };
      });
      await claim.finish(200);
      expect(tries, "nobody waited for another").to.equal(1);
      expect(await take(request, server)).to.equal("IN_USE");
      back();
      await stored;
      expect(await take(request, server)).to.equal("USED");
      expect(servers.errors.splice(0).map((error) => (error as Error).message)).to.deep.equal(["away"]);
    });

    it("cannot be acquired while the store is unavailable", async () => {
      const gone = await servers.open();
      await servers.stop(gone);
      const failure = await gone.claims.take(payment()).catch((error: unknown) => error);
      expect(failure).to.have.property("code", "STORE_UNAVAILABLE");
      expect(failure).to.have.property("retryAfter", 5);
    });
  });
