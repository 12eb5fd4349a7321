// One payment, one handler at a time, three at most: in both databases, between processes, after a kill.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Claims } from "../src/claims/claims.ts";
import { type ClaimRequest, ClaimStore } from "../src/claims/store.ts";
import { startPostgres, type TestPostgres } from "./support/postgres.ts";

const LEASE_MS = 1_000;
const MINUTE = 60_000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let counter = 0;
const payment = (changes: Partial<ClaimRequest> = {}): ClaimRequest => ({
  id: `31337:0xpool:${++counter}`,
  digest: "0x01",
  resource: "https://shop.example/a",
  expiresAt: Date.now() + 6 * MINUTE,
  ...changes,
});

const folder = mkdtempSync(join(tmpdir(), "sotto-claims-"));
let postgres: TestPostgres;
const backends: Record<string, () => Promise<string>> = {
  SQLite: async () => `sqlite:${join(folder, `${++counter}.sqlite`)}`,
  PostgreSQL: () => postgres.database(),
};

before(async () => {
  postgres = await startPostgres();
});
after(async () => {
  await postgres?.stop();
  rmSync(folder, { recursive: true });
});

for (const [name, address] of Object.entries(backends))
  describe(`claims in ${name}`, () => {
    let url: string;
    let store: ClaimStore;
    let claims: Claims;
    const errors: unknown[] = [];
    const opened: Claims[] = [];
    const children: ChildProcess[] = [];

    /** Another server of the same wallet. */
    async function open(leaseMs = LEASE_MS, clock = Date.now): Promise<{ store: ClaimStore; claims: Claims }> {
      const onError = (error: unknown) => errors.push(error);
      const another = await ClaimStore.open({ url, clock, leaseMs, onError });
      const made = { store: another, claims: new Claims(another, clock, onError) };
      opened.push(made.claims);
      return made;
    }

    beforeEach(async () => {
      url = await address();
      ({ store, claims } = await open());
    });
    afterEach(async () => {
      for (const child of children.splice(0)) child.kill("SIGKILL");
      for (const one of opened.splice(0)) await one.close();
      expect(errors.splice(0)).to.deep.equal([]);
    });

    /** What a header would be told. */
    const take = (request: ClaimRequest, from = claims) =>
      from.take(request).then(
        (claim) => claim,
        ({ failure }: { failure: string }) => failure,
      );
    async function taken(request: ClaimRequest, from = claims) {
      const claim = await take(request, from);
      if (typeof claim === "string") throw new Error(`not taken: ${claim}`);
      return claim;
    }

    it("go to one of many at once, whichever server they come to", async () => {
      const other = await open();
      const request = payment();
      const racers = Array.from({ length: 12 }, (_, i) => take(request, i % 2 === 0 ? claims : other.claims));
      const results = await Promise.all(racers);
      expect(results.filter((result) => typeof result === "object").length).to.equal(1);
      expect(results.filter((result) => result === "IN_USE").length).to.equal(11);
    });

    it("are consumed by any answer below 500", async () => {
      for (const status of [200, 204, 302, 404, 499]) {
        const request = payment();
        await (await taken(request)).finish(status);
        expect(await take(request), String(status)).to.equal("USED");
        expect(await store.isUsed(request.id)).to.equal(true);
      }
    });

    it("are given back by a failure, three times in all", async () => {
      const request = payment();
      for (const outcome of [500, "aborted", 503] as const) {
        expect(await store.isUsed(request.id)).to.equal(false);
        await (await taken(request)).finish(outcome);
      }
      expect(await take(request)).to.equal("USED");
    });

    it("hear the first end only", async () => {
      const request = payment();
      const claim = await taken(request);
      await claim.finish(200);
      await claim.finish(500);
      expect(await take(request)).to.equal("USED");
      const failing = await taken(payment({ id: "other" }));
      await failing.finish("aborted");
      await failing.finish(200);
      await taken(payment({ id: "other" }));
    });

    it("are of one resource and one payment: the same nullifier opens no other", async () => {
      const request = payment();
      await (await taken(request)).finish(500);
      expect(await take({ ...request, resource: "https://shop.example/b" })).to.equal("USED");
      expect(await take({ ...request, digest: "0x02" })).to.equal("USED");
      await taken(request);
    });

    it("of what turned out to be no payment do not stand in the way of one of the same note", async () => {
      const [invented, real] = [payment({ digest: "0x02" }), payment()];
      const request = { ...real, id: invented.id };
      for (const end of ["putBack", "forget"] as const) {
        expect(await store.claim(invented, "liar")).to.equal("claimed");
        // While it is looked at, nobody says that the real one is used.
        expect(await take(request)).to.equal("IN_USE");
        await store[end](invented.id, "liar");
      }
      await (await taken(request)).finish(500);
      expect(await store.claim(invented, "liar")).to.equal("used");
      await store.putBack(request.id, "liar");
      await store.forget(request.id, "liar");
      await (await taken(request)).finish(200);
      expect(await take(request)).to.equal("USED");
    });

    it("are remembered for as long as the younger of two headers of one note is fresh", async () => {
      const early = payment({ expiresAt: Date.now() + 1_000, digest: "0x02" });
      expect(await store.claim(early, "liar")).to.equal("claimed");
      await store.putBack(early.id, "liar");
      const request = payment({ id: early.id });
      await (await taken(request)).finish(200);
      await pause(1_100);
      await store.sweep();
      expect(await take(request)).to.equal("USED");
      expect(await store.isUsed(request.id)).to.equal(true);
    });

    it("are kept by a handler that takes longer than a lease", async () => {
      const other = await open();
      const request = payment();
      const claim = await taken(request);
      await pause(2.5 * LEASE_MS);
      expect(await take(request, other.claims)).to.equal("IN_USE");
      await claim.finish(200);
      expect(await take(request, other.claims)).to.equal("USED");
    });

    it("of a server that is killed are free after its lease, and count as tries", async () => {
      const request = payment();
      const program = join(import.meta.dirname, "support", "claim-process.ts");
      for (let round = 0; round < 3; round++) {
        const child = spawn(process.execPath, [program, url, String(LEASE_MS), JSON.stringify(request)]);
        children.push(child);
        await once(child.stdout, "data");
        expect(await take(request)).to.equal("IN_USE");
        child.kill("SIGKILL");
        await once(child, "exit");
        expect(await take(request)).to.equal("IN_USE");
        await pause(LEASE_MS + 100);
      }
      expect(await take(request)).to.equal("USED");
    });

    it("are used up by a handler that lost its lease and answered all the same", async () => {
      const request = payment();
      // Too long ago to be renewed: its process stood still.
      const stalled = await open(1);
      const claim = await taken(request, stalled.claims);
      await stalled.claims.close();
      opened.splice(opened.indexOf(stalled.claims), 1);
      await pause(20);
      const second = await taken(request);
      const again = await open();
      // It cannot give back what is another's by now,
      expect(await again.store.release(request.id, "stalled")).to.equal(false);
      expect(await take(request)).to.equal("IN_USE");
      // and the second handler's failure does not undo the first one's answer.
      await again.store.consume(request.id);
      await second.finish(500);
      expect(await take(request)).to.equal("USED");
      await claim.finish(500).catch(() => undefined);
      errors.splice(0);
    });

    it("are remembered until their header is too old, and no longer", async () => {
      const request = payment({ expiresAt: Date.now() + 800 });
      await (await taken(request)).finish(200);
      await store.sweep();
      expect(await store.isUsed(request.id)).to.equal(true);
      await pause(900);
      await store.sweep();
      expect(await store.isUsed(request.id)).to.equal(false);
      // What was forgotten is not taken for new.
      expect(await take(request)).to.equal("USED");
    });

    it("are held and stored as used later, where the store is away when the answer is given", async () => {
      const request = payment();
      const claim = await taken(request);
      const { consume } = store;
      let away = true;
      store.consume = (id) => (away ? Promise.reject(new Error("away")) : consume.call(store, id));
      const before = Date.now();
      await claim.finish(200);
      expect(Date.now() - before).to.be.below(500);
      expect(await take(request)).to.equal("IN_USE");
      away = false;
      for (const end = Date.now() + 5_000; !(await store.isUsed(request.id)) && Date.now() < end; ) await pause(50);
      expect(await take(request)).to.equal("USED");
      expect(errors.splice(0).map((error) => (error as Error).message)).to.deep.equal(["away"]);
    });

    it("cannot be had while the store is away, which is not the payer's fault", async () => {
      const gone = await open();
      await gone.claims.close();
      opened.splice(opened.indexOf(gone.claims), 1);
      const failure = await gone.claims.take(payment()).catch((error: unknown) => error);
      expect(failure).to.have.property("code", "STORE_UNAVAILABLE");
      expect(failure).to.have.property("retryAfter", 5);
    });
  });
