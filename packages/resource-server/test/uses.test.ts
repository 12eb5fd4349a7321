// The claims as another payment format uses them: before it knows whether the payment is valid.

import type { PaymentUse } from "@sotto/protocol";
import { expect } from "chai";
import { PaymentClaims } from "../src/claims/claims.ts";
import { ClaimStore } from "../src/claims/store.ts";
import { StoredUses } from "../src/claims/uses.ts";

const REMEMBERED_MS = 360_000;

describe("payment uses across formats", () => {
  let store: ClaimStore;
  let claims: PaymentClaims;
  let uses: StoredUses;
  let now: number;
  let counter = 0;
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const idOf = (nullifier: string) => `31337:0xpool:${nullifier}`;
  const open = (memoryStartedAt?: number) =>
    new StoredUses({ store, idOf, rememberedMs: REMEMBERED_MS, memoryStartedAt, clock: () => now, onError });
  const payment = (changes: Partial<PaymentUse> = {}): PaymentUse => {
    counter += 1;
    const resource = "https://data.example/a";
    return { digest: `0x${counter}`, nullifier: String(counter), resource, timestamp: now, ...changes };
  };
  const request = (use: PaymentUse) => {
    const { digest, nullifier, resource, timestamp } = use;
    return { id: idOf(nullifier), digest, resource, expiresAt: timestamp + REMEMBERED_MS };
  };
  const acquired = (use: PaymentUse): Promise<string> =>
    claims.acquire(request(use)).then(
      () => "acquired",
      (error: { failure: string }) => error.failure,
    );

  beforeEach(async () => {
    now = Date.now();
    const clock = () => now;
    store = await ClaimStore.open({ url: "sqlite::memory:", clock, leaseMs: 1_000, onError });
    claims = new PaymentClaims(store, clock, onError);
    uses = open();
  });
  afterEach(async () => {
    uses.close();
    await claims.close();
    expect(errors).to.deep.equal([]);
  });

  it("are acquired by one of many requests, in either format", async () => {
    const use = payment();
    const answers = await Promise.all(Array.from({ length: 5 }, () => uses.claim(use)));
    expect(answers.sort()).to.deep.equal(["busy", "busy", "busy", "busy", "claimed"]);
    expect(await acquired(use)).to.equal("IN_USE");
    await uses.consume(use);
    expect([await uses.claim(use), await acquired(use)]).to.deep.equal(["used", "USED"]);
    const other = payment();
    expect([await acquired(other), await uses.claim(other)]).to.deep.equal(["acquired", "busy"]);
  });

  it("stay consumed while a clock is hours ahead and after it is corrected, in either format", async () => {
    const [shown, use, under] = [payment(), payment(), payment()];
    await (await claims.acquire(request(shown))).finish(200);
    expect(await uses.claim(use)).to.equal("claimed");
    await uses.consume(use);
    expect(await uses.claim(under)).to.equal("claimed");
    const HOURS = 23 * 3_600_000;
    now += HOURS;
    await store.sweep();
    expect([await acquired(shown), await uses.claim(use), await uses.claim(payment({ timestamp: now }))]).to.deep.equal(
      [...["USED", "used", "claimed"]],
    );
    // Its handler started before the clock jumped, and finishes now.
    await uses.consume(under);
    now -= HOURS;
    await store.sweep();
    for (const old of [shown, use, under])
      expect([await acquired(old), await uses.claim(old)]).to.deep.equal(["USED", "used"]);
    now += HOURS + 2 * 3_600_000;
    await store.sweep();
    expect(await store.isUsed(idOf(shown.nullifier))).to.equal(false);
  });

  it("that are stored need memory only while valid or in progress", async () => {
    const [used, under] = [payment(), payment()];
    for (const use of [used, under]) await uses.claim(use);
    await uses.consume(used);
    now += REMEMBERED_MS - 1;
    await uses.claim(payment());
    expect(uses.size).to.equal(3);
    now += 1;
    await uses.claim(payment());
    expect(uses.size).to.equal(3);
    await uses.consume(under);
    expect(await store.isUsed(idOf(under.nullifier))).to.equal(true);
  });

  it("are released if nothing was settled, and then do not count as attempts", async () => {
    const use = payment();
    for (let i = 0; i < 8; i += 1) {
      expect(await uses.claim(use)).to.equal("claimed");
      await uses.release(use);
    }
    expect(await acquired(use)).to.equal("acquired");
  });

  it("of an invalid payment do not block a valid one of the same note", async () => {
    const honest = payment();
    const forged = { ...honest, digest: "0xf0" };
    expect(await uses.claim(forged)).to.equal("claimed");
    await uses.reject(forged);
    expect(await uses.claim(honest)).to.equal("claimed");
    await uses.release(honest);
    expect(await uses.claim(forged)).to.equal("claimed");
    await uses.reject(forged);
    expect(await uses.claim(honest)).to.equal("claimed");
    await uses.consume(honest);
    await uses.restore(honest);
    // Once the valid payment was served, the note's other payments are refused.
    expect([await uses.claim(forged), await uses.claim(honest)]).to.deep.equal(["used", "claimed"]);
  });

  it("are restored after failed handlers, three times in total", async () => {
    const use = payment();
    for (let i = 0; i < 3; i += 1) {
      expect(await uses.claim(use)).to.equal("claimed");
      await uses.consume(use);
      await uses.restore(use);
    }
    expect([await uses.claim(use), await acquired(use)]).to.deep.equal(["used", "USED"]);
  });

  it("stay consumed if the store was unavailable when the resource was served", async () => {
    const use = payment();
    await uses.claim(use);
    const { consume } = store;
    let endOutage = (): void => undefined;
    const outage = new Promise<void>((resolve) => {
      endOutage = resolve;
    });
    let tries = 0;
    const stored = new Promise<void>((resolve) => {
      store.consume = async (id) => {
        tries += 1;
        if (tries === 1) throw new Error("the store is unavailable");
        await outage;
        await consume.call(store, id);
        resolve();
      };
    });
    const failed = await uses.consume(use).catch((error: Error) => error.message);
    expect(failed).to.equal("the store is unavailable");
    expect(await open().claim(use)).to.equal("busy");
    endOutage();
    // The next renewal stores it as used instead.
    await stored;
    now += 2_400;
    expect(await open().claim(use)).to.equal("used");
  });

  it("can be released only by their holder", async () => {
    const use = payment();
    await uses.claim(use);
    await uses.consume(use);
    const other = open();
    for (const end of ["release", "reject", "restore", "consume"] as const) await other[end](use);
    expect(await other.claim(use)).to.equal("used");
  });

  it("of a crashed server are free after its lease expires", async () => {
    const use = payment();
    await uses.claim(use);
    uses.close();
    const other = open();
    expect(await other.claim(use)).to.equal("busy");
    now += 1_001;
    expect(await other.claim(use)).to.equal("claimed");
    other.close();
  });

  it("are rejected if an in-memory store cannot know whether they were used", async () => {
    const inMemory = open(now);
    expect(await inMemory.claim(payment({ timestamp: now - 1 }))).to.equal("early");
    expect(await inMemory.claim(payment({ timestamp: now + 1 }))).to.equal("early");
    expect(await inMemory.claim(payment())).to.equal("claimed");
    inMemory.close();
  });
});
