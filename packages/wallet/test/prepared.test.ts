import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { poolViews } from "@sotto/chain";
import { anyRejection, rejection } from "@sotto/test-kit/rejection";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { MemoryStore, type Wallet } from "@sotto/wallet";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { expect } from "chai";
import { Journal } from "../src/wallet/journal.ts";
import { dyingStore, MERCHANT, URL, World } from "./support/world.ts";

const SEED = new Uint8Array(32).map((_, i) => 13 * i + 1);
const SERVICE = "https://service.example";
const SLOT = 120;

/** A payer with notes that are older than the current slot, and the terms of a payment. */
async function openPayer(amounts = [5_000n, 6_000n, 7_000n, 8_000n, 9_000n], store = new MemoryStore()) {
  const world = new World();
  const merchant = await world.wallet();
  const payer = await world.funded(amounts, { seed: SEED, store });
  nextSlot(world);
  const terms = { recipient: world.recipient(merchant), amount: 1_000n, service: SERVICE };
  return { world, payer, store, terms, request: { ...terms, resourceUrl: URL } };
}

/** Mines a block after the next slot began. */
function nextSlot({ chain }: World): void {
  chain.time += SLOT - (chain.time % SLOT);
  chain.mine();
}

function passTime({ chain }: World, seconds: number): void {
  chain.time += seconds;
}

function replaceKeys({ prover }: World): void {
  prover.artifacts.set = "another";
}

const rootOf = ({ chain, pool }: World): Promise<bigint> =>
  poolViews(chain, pool.address as `0x${string}`).root(chain.height);

/** Circuits for which complete proofs were made since the last call. */
const proved = ({ prover }: World): string[] => prover.asked.splice(0).filter((asked) => !asked.startsWith("prepare "));

describe("prepared payments", () => {
  it("are finished without another proof, and settle", async () => {
    const { world, payer, terms, request } = await openPayer();
    const prepared = await payer.prepare(terms);
    expect(prepared.usable()).to.equal(true);
    proved(world);
    world.chain.time += 60;
    world.chain.mine();
    const payment = await payer.pay(request);
    expect(proved(world)).to.deep.equal([]);
    expect(prepared.usable()).to.equal(false);
    expect(payment.bundle).to.include({ resourceUrl: URL, timestamp: world.clock(), recipientPublicKey: MERCHANT });
    expect(payer.proofOf(payment.id)).to.deep.equal({ bundle: payment.bundle, settle: payment.settle });
    world.settle(payment);
    await payer.scan();
    expect(payer.status(payment.id)).to.include({ state: "settled", digest: payment.digest });
    expect((await payer.receipt(payment.id, { showDeposit: true })).timestamp).to.equal(payment.bundle.timestamp);
  });

  it("are discarded when the recipient's address ends, and are not made after that", async () => {
    const { world, payer, terms, request } = await openPayer();
    const before = world.clock() + 60_000;
    const prepared = await payer.prepare({ ...terms, before });
    expect(prepared.usable()).to.equal(true);
    passTime(world, 60);
    expect(prepared.usable()).to.equal(false);
    expect(world.prover.discarded).to.equal(1);
    for (const act of [() => payer.prepare({ ...terms, before }), () => payer.pay({ ...request, before })]) {
      const error = await rejection(act());
      expect([error.code, error.details]).to.deep.equal(["ADDRESS_ENDED", { before }]);
    }
    expect(payer.history()).to.deep.equal([]);
    const { id } = await payer.pay({ ...request, before: before + 1 });
    passTime(world, 1);
    expect((await rejection(payer.payAgain(id))).code).to.equal("ADDRESS_ENDED");
    expect(payer.status(id), "the first attempt is as before").to.include({ state: "open" });
    for (const wrong of [-1, 0.5, Number.NaN, "1", 1n])
      expect((await rejection(payer.pay({ ...request, before: wrong as number }))).code).to.equal("INVALID_OPTION");
  });

  it("are used once: the next payment is proved as usual", async () => {
    const { world, payer, terms, request } = await openPayer();
    await payer.prepare(terms);
    const [first, second] = await Promise.all([payer.pay(request), payer.pay(request)]);
    expect(first.nullifier).to.not.equal(second.nullifier);
    expect(world.prover.finished).to.equal(1);
    expect(proved(world).filter((circuit) => circuit === "payment")).to.have.length(1);
    world.settle(first, second);
  });

  it("write nothing to the store", async () => {
    const { payer, store, terms } = await openPayer();
    await payer.scan();
    const before = JSON.stringify(await store.list(""));
    const prepared = await payer.prepare(terms);
    expect(JSON.stringify(await store.list(""))).to.equal(before);
    expect(prepared.usable()).to.equal(true);
  });

  it("are used only for exactly their terms", async () => {
    const { world, payer, terms, request } = await openPayer();
    const prepared = await payer.prepare(terms);
    const other = world.recipient(await world.wallet());
    for (const changed of [
      { amount: 1_001n },
      { upperBound: 1_101n },
      { lowerBound: 999n },
      { service: "https://other.example" },
      { service: undefined },
      { recipient: other },
      { recipient: { ...request.recipient, wallet: `0x${"ac".repeat(20)}` } },
      { note: payer.notes().at(-1)!.leafIndex },
    ]) {
      const payment = await payer.pay({ ...request, ...changed });
      await payer.discard(payment.id);
    }
    expect(world.prover.finished).to.equal(0);
    expect(prepared.usable()).to.equal(true);
    await payer.pay(request);
    expect(world.prover.finished).to.equal(1);
  });

  for (const [what, change] of [
    [
      "another device spends its note",
      async ({ world, payer, request, note }) => {
        const other = await world.wallet({ seed: SEED });
        world.settle(await other.pay({ ...request, note }));
        await payer.scan();
      },
    ],
    [
      "another payment holds its note",
      async ({ payer, request, note }) => void (await payer.pay({ ...request, amount: 2_000n, note })),
    ],
    [
      "a withdrawal holds its note",
      async ({ payer }) => void (await payer.withdraw({ recipient: `0x${"cc".repeat(20)}`, amount: 5_000n })),
    ],
    [
      "a reorganization removes its root",
      async ({ world, payer }) => {
        world.chain.takeBack(2);
        world.chain.mine();
        await payer.scan();
      },
    ],
    [
      "a reorganization removes its note",
      async ({ world, payer }) => {
        world.chain.takeBack(world.chain.height);
        world.chain.mine();
        await payer.scan();
      },
    ],
    ["its slot is more than 240 s old", async ({ world }) => passTime(world, 2 * SLOT)],
    ["the prover has another set of keys", async ({ world }) => replaceKeys(world)],
    ["the wallet is closed", async ({ payer }) => payer.close()],
    ["the caller discards it", async ({ prepared }) => prepared.discard()],
  ] as [
    string,
    (state: {
      world: World;
      payer: Wallet;
      prepared: { discard(): void };
      request: Parameters<Wallet["pay"]>[0];
      note: number;
    }) => Promise<void>,
  ][])
    it(`are discarded if ${what}`, async () => {
      const { world, payer, terms, request } = await openPayer();
      const prepared = await payer.prepare(terms);
      // The smallest note that suffices.
      const note = payer.notes().find(({ amount }) => amount === 5_000n)!.leafIndex;
      await change({ world, payer, prepared, request, note });
      expect(prepared.usable()).to.equal(false);
      expect(world.prover.discarded).to.equal(1);
      expect(world.prover.finished).to.equal(0);
    });

  it("use the last root at or before the slot, while direct payments use the newest", async () => {
    const { world, payer, terms, request } = await openPayer();
    const old = await rootOf(world);
    const other = await world.wallet();
    await world.deposit(other, [1_000n]);
    await world.append();
    expect(await rootOf(world)).to.not.equal(old);
    await payer.prepare(terms);
    expect((await payer.pay(request)).settle.signals[5]).to.equal(String(old));
    expect((await payer.pay(request)).settle.signals[5]).to.equal(String(await rootOf(world)));
    nextSlot(world);
    await payer.prepare(terms);
    expect((await payer.pay(request)).settle.signals[5]).to.equal(String(await rootOf(world)));
  });

  it("wait until their note is older than the slot", async () => {
    const world = new World();
    const terms = { recipient: world.recipient(await world.wallet()), amount: 1_000n };
    nextSlot(world);
    const payer = await world.funded([5_000n]);
    expect((await rejection(payer.prepare(terms))).code).to.equal("FUNDS_NOT_READY");
    nextSlot(world);
    expect((await payer.prepare(terms)).usable()).to.equal(true);
    // The only note is in use by that preparation.
    expect((await rejection(payer.prepare(terms))).code).to.equal("FUNDS_NOT_READY");
    expect((await rejection(payer.prepare({ ...terms, amount: 9_000n }))).code).to.equal("INSUFFICIENT_FUNDS");
  });

  it("are discarded if a reorganization replaces their root but not their note", async () => {
    const world = new World();
    const other = await world.wallet();
    const payer = await world.funded([5_000n], { seed: SEED });
    await world.deposit(other, [1_000n]);
    await world.append();
    nextSlot(world);
    const prepared = await payer.prepare({ recipient: world.recipient(other), amount: 1_000n });
    // The slot's block, the append and the deposit of the other wallet.
    world.chain.takeBack(3);
    await world.deposit(other, [2_000n]);
    await world.append();
    await payer.scan();
    expect(payer.notes()[0]!.state).to.equal("spendable");
    expect(prepared.usable()).to.equal(false);
    expect(world.prover.discarded).to.equal(1);
  });

  it("are discarded if a reorganization moves the append of their root to a block that is not confirmed", async () => {
    const world = new World();
    const other = await world.wallet();
    const payer = await world.funded([5_000n], { seed: SEED, finality: 3 });
    const { approve, deposit } = await other.deposit({ amounts: [1_000n] });
    world.chain.mine(approve, deposit);
    await world.append();
    const root = await rootOf(world);
    nextSlot(world);
    for (let blocks = 0; blocks < 3; blocks += 1) world.chain.mine();
    const prepared = await payer.prepare({ recipient: world.recipient(other), amount: 1_000n });
    expect(prepared.usable()).to.equal(true);
    world.chain.takeBack(5);
    for (let blocks = 0; blocks < 3; blocks += 1) world.chain.mine();
    await world.append();
    for (let blocks = 0; blocks < 2; blocks += 1) world.chain.mine();
    await payer.scan();
    expect(await rootOf(world)).to.equal(root);
    expect(payer.notes()[0]!.state).to.equal("spendable");
    expect(prepared.usable()).to.equal(false);
    expect(world.prover.discarded).to.equal(1);
  });

  it("do not use a note that came into the tree after the slot", async () => {
    const world = new World();
    const other = await world.funded([5_000n]);
    nextSlot(world);
    const payer = await world.funded([5_000n], { seed: SEED });
    const terms = { recipient: world.recipient(other), amount: 1_000n };
    expect((await rejection(payer.prepare(terms))).code).to.equal("FUNDS_NOT_READY");
  });

  it("are used once even if the payment that took them is discarded", async () => {
    const { world, payer, terms, request } = await openPayer([5_000n]);
    await payer.prepare(terms);
    await payer.discard((await payer.pay(request)).id);
    proved(world);
    world.settle(await payer.pay(request));
    expect(proved(world)).to.deep.equal(["payment", "elgamal_range"]);
  });

  it("are discarded if the wallet is closed while they are prepared", async () => {
    const { world, payer, terms } = await openPayer();
    world.prover.before = async () => payer.close();
    expect((await payer.prepare(terms)).usable()).to.equal(false);
    expect(world.prover.discarded).to.equal(1);
  });

  it("do not show a note to a second recipient or service", async () => {
    const { world, payer, terms, request } = await openPayer([5_000n]);
    const abandoned = await payer.pay({ ...request, service: "https://other.example" });
    world.chain.time = abandoned.validUntil + 1;
    nextSlot(world);
    expect((await rejection(payer.prepare(terms))).code).to.equal("FUNDS_NOT_READY");
  });

  it("are at most four: another one replaces the oldest", async () => {
    const { payer, terms, world } = await openPayer();
    const all = [];
    for (let n = 0n; n < 5n; n += 1n) all.push(await payer.prepare({ ...terms, amount: 1_000n + n }));
    expect(all.map((prepared) => prepared.usable())).to.deep.equal([false, true, true, true, true]);
    expect(world.prover.discarded).to.equal(1);
  });

  it("are journaled before they are finished", async () => {
    const { world, payer, store, terms, request } = await openPayer();
    await payer.prepare(terms);
    let journaled: unknown;
    world.prover.beforeFinish = async () => {
      const [record] = [...(await Journal.open(store)).spends.values()];
      journaled = { attempts: record?.attempts, proof: record?.proof };
    };
    const { digest, validUntil, settle } = await payer.pay(request);
    const attempt = { digest, validUntil, timestamp: world.clock(), root: settle.signals[5] };
    expect(journaled).to.deep.equal({ attempts: [attempt], proof: null });
  });

  it("are wiped and never finished if the journal cannot be written", async () => {
    const disk = new MemoryStore();
    await openPayer(undefined, disk);
    const world = new World();
    const payer = await world.funded([5_000n], { seed: SEED });
    nextSlot(world);
    const terms = { recipient: world.recipient(await world.wallet()), amount: 1_000n };
    await payer.prepare(terms);
    payer.store.put = async () => {
      throw new Error("disk full");
    };
    expect((await anyRejection(payer.pay({ ...terms, resourceUrl: URL }))).message).to.equal("disk full");
    expect(world.prover).to.include({ finished: 0, discarded: 1 });
  });

  it("lose nothing if the process dies at any write, and payAgain proves as usual from the same note", async () => {
    for (const after of [false, true])
      for (let writes = 0; ; writes += 1) {
        const { world, payer, store, terms, request } = await openPayer([5_000n]);
        await payer.scan();
        // The process that dies has the same store.
        const mortal = await world.wallet({ seed: SEED, store: dyingStore(store, writes, after) });
        await mortal.prepare(terms);
        const died = await mortal.pay(request).then(
          () => undefined,
          (error: Error) => error.message,
        );
        if (died === undefined) {
          expect(writes).to.equal(2);
          break;
        }
        expect(died).to.equal("the process died");
        expect(world.prover.finished).to.equal(writes === 0 ? 0 : 1);
        const restarted = await world.wallet({ seed: SEED, store });
        await restarted.scan();
        const [open] = restarted.history();
        expect(open === undefined).to.equal(writes === 0 && !after);
        if (open === undefined) continue;
        proved(world);
        const again = await restarted.payAgain(open.id);
        expect(proved(world)).to.deep.equal(["payment", "elgamal_range"]);
        world.settle(again);
        await restarted.scan();
        expect(restarted.status(open.id)).to.include({ state: "settled", final: true });
        await world.append();
        await restarted.scan();
        expect(restarted.balance().total).to.equal(4_000n);
      }
  });

  it("leave a journaled attempt without a proof if the process is killed before they are finished", async () => {
    const folder = temporaryFolder("prepared");
    const path = join(folder, "wallet.sqlite");
    const child = fork(join(import.meta.dirname, "support", "killed-payer.ts"), [path]);
    expect(await once(child, "exit")).to.deep.equal([null, "SIGKILL"]);
    const store = new SqliteStore(path);
    const [record, ...others] = [...(await Journal.open(store)).spends.values()];
    await store.close();
    expect(others).to.deep.equal([]);
    expect(record).to.include({ kind: "payment", proof: null, resourceUrl: URL });
    expect(record!.attempts).to.have.length(1);
    expect(record!.attempts[0]).to.include.keys("digest", "validUntil").and.not.include.keys("proved");
  });

  it("are proved as usual, with the journaled digest, if the prover has lost them", async () => {
    const { world, payer, terms, request } = await openPayer();
    await payer.prepare(terms);
    world.prover.beforeFinish = () => {
      throw new Error("the worker ended");
    };
    proved(world);
    const payment = await payer.pay(request);
    expect(proved(world)).to.deep.equal(["payment"]);
    world.settle(payment);
    await payer.scan();
    expect(payer.status(payment.id).digest).to.equal(payment.digest);
  });

  it("are not used by payAgain", async () => {
    const { world, payer, terms, request } = await openPayer();
    const payment = await payer.pay(request);
    const prepared = await payer.prepare(terms);
    proved(world);
    const again = await payer.payAgain(payment.id);
    expect(again.nullifier).to.equal(payment.nullifier);
    expect(proved(world)).to.deep.equal(["payment", "elgamal_range"]);
    expect(prepared.usable()).to.equal(true);
  });

  it("wait for complete proofs, and are repeated if one interrupts them", async () => {
    const { world, payer, terms, request } = await openPayer();
    const asked: string[] = [];
    const other = payer.notes().find(({ amount }) => amount === 9_000n)!.leafIndex;
    let pay: Promise<unknown> | undefined;
    world.prover.before = async (circuit) => {
      asked.push(circuit);
      if (circuit === "prepare payment") pay ??= payer.pay({ ...request, note: other });
      // The first preparation ends after the payment's proof has begun.
      while (pay !== undefined && !asked.includes("payment")) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    const prepared = await payer.prepare(terms);
    await pay;
    expect(prepared.usable()).to.equal(true);
    expect(asked.filter((circuit) => circuit === "prepare payment")).to.have.length(2);
    expect(asked.at(-1)).to.equal("prepare payment");
  });

  it("stop when the caller aborts, and release their note", async () => {
    const { world, payer, terms } = await openPayer([5_000n]);
    const controller = new AbortController();
    world.prover.before = () => controller.abort(new Error("enough"));
    expect((await anyRejection(payer.prepare(terms, { signal: controller.signal }))).message).to.equal("enough");
    world.prover.before = () => undefined;
    expect((await payer.prepare(terms)).usable()).to.equal(true);
  });

  it("need a prover that can prepare", async () => {
    const world = new World();
    const { artifacts } = world.prover;
    const prove = world.prover.prove.bind(world.prover);
    const payer = await world.funded([5_000n], { prover: { artifacts, prove } });
    const terms = { recipient: world.recipient(payer), amount: 1_000n };
    expect((await rejection(payer.prepare(terms))).code).to.equal("INVALID_OPTION");
  });
});
