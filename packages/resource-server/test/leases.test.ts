// Claims of handlers that take long, are killed, stand still, or cannot say that they are done: in both databases.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "chai";
import { BACKENDS, LEASE_MS, pause, payment, type Server, Servers, take, taken } from "./support/claim-servers.ts";

for (const [name, address] of Object.entries(BACKENDS))
  describe(`leases in ${name}`, () => {
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

    it("are kept by a handler that takes longer than a lease", async () => {
      const other = await servers.open();
      const request = payment();
      const claim = await taken(request, server);
      await pause(2.5 * LEASE_MS);
      expect(await take(request, other)).to.equal("IN_USE");
      await claim.finish(200);
      expect(await take(request, other)).to.equal("USED");
    });

    it("of a server that is killed are free after its lease, and count as tries", async () => {
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
        await pause(LEASE_MS + 100);
      }
      expect(await take(request, server)).to.equal("USED");
    });

    it("are used up by a handler that lost its lease and answered all the same", async () => {
      const request = payment();
      // Too long ago to be renewed: its process stood still.
      const stalled = await servers.open(1);
      const claim = await taken(request, stalled);
      await servers.stop(stalled);
      await pause(20);
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

    it("are held and stored as used later, where the store is away when the answer is given", async () => {
      const request = payment();
      const claim = await taken(request, server);
      const { consume } = server.store;
      let away = true;
      server.store.consume = (id) => (away ? Promise.reject(new Error("away")) : consume.call(server.store, id));
      const before = Date.now();
      await claim.finish(200);
      expect(Date.now() - before).to.be.below(500);
      expect(await take(request, server)).to.equal("IN_USE");
      away = false;
      for (const end = Date.now() + 5_000; !(await server.store.isUsed(request.id)) && Date.now() < end; )
        await pause(50);
      expect(await take(request, server)).to.equal("USED");
      expect(servers.errors.splice(0).map((error) => (error as Error).message)).to.deep.equal(["away"]);
    });

    it("cannot be had while the store is away, which is not the payer's fault", async () => {
      const gone = await servers.open();
      await servers.stop(gone);
      const failure = await gone.claims.take(payment()).catch((error: unknown) => error);
      expect(failure).to.have.property("code", "STORE_UNAVAILABLE");
      expect(failure).to.have.property("retryAfter", 5);
    });
  });
