// A payment runs one handler at a time, and at most three in total, in both databases.
import { expect } from "chai";
import { acquire, acquired, BACKENDS, MINUTE, payment, type Server, Servers } from "./support/claim-servers.ts";

for (const [name, address] of Object.entries(BACKENDS))
  describe(`claims in ${name}`, () => {
    let servers: Servers;
    let server: Server;
    beforeEach(async () => {
      servers = new Servers(await address());
      server = await servers.open();
    });
    afterEach(async () => {
      await servers.close();
    });

    it("go to one of many concurrent requests, on any server", async () => {
      const other = await servers.open();
      const request = payment();
      const racers = Array.from({ length: 12 }, (_, i) => acquire(request, i % 2 === 0 ? server : other));
      const results = await Promise.all(racers);
      expect(results.filter((result) => typeof result === "object").length).to.equal(1);
      expect(results.filter((result) => result === "IN_USE").length).to.equal(11);
    });

    it("are consumed by any response below 500", async () => {
      for (const status of [200, 204, 302, 404, 499]) {
        const request = payment();
        await (await acquired(request, server)).finish(status);
        expect(await acquire(request, server), String(status)).to.equal("USED");
        expect(await server.store.isUsed(request.id)).to.equal(true);
      }
    });

    it("are released after a failure, three times in total", async () => {
      const request = payment();
      for (const outcome of [500, "aborted", 503] as const) {
        expect(await server.store.isUsed(request.id)).to.equal(false);
        await (await acquired(request, server)).finish(outcome);
      }
      expect(await acquire(request, server)).to.equal("USED");
    });

    it("accept only the first outcome", async () => {
      const request = payment();
      const claim = await acquired(request, server);
      await claim.finish(200);
      await claim.finish(500);
      expect(await acquire(request, server)).to.equal("USED");
      const failing = await acquired(payment({ id: "other" }), server);
      await failing.finish("aborted");
      await failing.finish(200);
      await acquired(payment({ id: "other" }), server);
    });

    it("bind one resource and one payment", async () => {
      const request = payment();
      await (await acquired(request, server)).finish(500);
      expect(await acquire({ ...request, resource: "https://data.example/b" }, server)).to.equal("USED");
      expect(await acquire({ ...request, digest: "0x02" }, server)).to.equal("USED");
      await acquired(request, server);
    });

    it("of an invalid payment do not block a valid one of the same note", async () => {
      const [invented, real] = [payment({ digest: "0x02" }), payment()];
      const request = { ...real, id: invented.id };
      for (const end of ["releaseUncounted", "reject"] as const) {
        expect(await server.store.claim(invented, "liar")).to.equal("claimed");
        // While the invalid one is checked, the valid one is busy, not used.
        expect(await acquire(request, server)).to.equal("IN_USE");
        await server.store[end](invented.id, "liar");
      }
      await (await acquired(request, server)).finish(500);
      expect(await server.store.claim(invented, "liar")).to.equal("used");
      await server.store.releaseUncounted(request.id, "liar");
      await server.store.reject(request.id, "liar");
      await (await acquired(request, server)).finish(200);
      expect(await acquire(request, server)).to.equal("USED");
    });

    it("are kept while the newer of two headers of one note is fresh", async () => {
      const early = payment({ expiresAt: Date.now() + MINUTE, digest: "0x02" });
      expect(await server.store.claim(early, "liar")).to.equal("claimed");
      await server.store.releaseUncounted(early.id, "liar");
      const request = payment({ id: early.id });
      await (await acquired(request, server)).finish(200);
      await servers.elapse(MINUTE);
      await server.store.sweep();
      expect(await acquire(request, server)).to.equal("USED");
      expect(await server.store.isUsed(request.id)).to.equal(true);
    });

    it("are kept until their header is too old", async () => {
      const request = payment();
      await (await acquired(request, server)).finish(200);
      await servers.elapse(5 * MINUTE);
      await server.store.sweep();
      expect(await server.store.isUsed(request.id)).to.equal(true);
      await servers.elapse(MINUTE);
      await server.store.sweep();
      expect(await server.store.isUsed(request.id)).to.equal(false);
      // A payment that was swept does not count as new.
      const old = { ...request, expiresAt: request.expiresAt - 6 * MINUTE };
      expect(await acquire(old, server)).to.equal("USED");
    });
  });
