// The relayer appends queued notes to the tree: immediately, when the oldest note is old enough, or when an append is full.

import { eventually, WAIT } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { forgingProver } from "../world/append.ts";
import { TestChain } from "./support/chain.ts";
import { enqueue, rounds, Services } from "./support/service.ts";

/** Hardhat's public test account 2. */
const OTHER_KEY = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";

describe("the relayer's appends", function () {
  slow(this, "a chain and a relayer's rounds");
  let chain: TestChain;
  let services: Services;
  before(async () => {
    chain = await TestChain.open();
  });
  beforeEach(() => {
    services = new Services(chain);
  });
  afterEach(() => services.stopAll());

  const queue = async () => {
    const { size, appended } = await chain.pool.getFunction("queue")();
    return { size: Number(size), appended: Number(appended) };
  };
  const appended = async (size: number) => eventually(async () => (await queue()).appended === size);
  const settled = async () => {
    const { store, relayer } = await services.start();
    const id = await enqueue(store, await chain.payment());
    await relayer.waitFor(id, WAIT);
    return (await queue()).size;
  };

  it("run immediately on a development chain, as many as the notes need", async () => {
    await settled();
    for (let i = 0; i < 3; i += 1) await chain.deposit(Array.from({ length: 40 }, () => 20_000n));
    const { size } = await queue();
    const { store } = await services.start({ config: { append: true, appendAfter: 0 } });
    await appended(size);
    const last = await eventually(async () => {
      const append = await store.ledger.lastAppend();
      return append?.size === size && append;
    });
    expect(await chain.pool.getFunction("root")()).to.equal(BigInt(last.root));
    expect(await chain.pool.getFunction("isKnownRoot")(last.root)).to.equal(true);
  });

  it("wait for the oldest note to be old enough", async () => {
    // The relayer's clock is stopped and only the chain's advances; a slow machine may need 20 s for any step.
    const now = Date.now();
    const service = await services.start({ config: { append: true, appendAfter: 20_000 }, clock: () => now });
    await chain.deposit();
    const { size } = await queue();
    await rounds(service);
    expect((await queue()).appended).to.equal(size - 1);
    await chain.rpc("evm_increaseTime", 21);
    await chain.mine();
    await appended(size);
  });

  it("do not wait once 64 notes are queued", async () => {
    const before = await queue();
    const service = await services.start({ config: { append: true, appendAfter: 3_600_000 } });
    await chain.deposit(Array.from({ length: 63 }, () => 20_000n));
    await rounds(service);
    expect(await queue()).to.deep.equal({ size: before.size + 63, appended: before.size });
    await chain.deposit();
    await appended(before.size + 64);
  });

  it("continue after a reorganization changes the queue", async () => {
    await chain.mine(2);
    const snapshot = await chain.rpc("evm_snapshot");
    const { relayer } = await services.start({ config: { append: true, appendAfter: 0, rebroadcastAfter: 100 } });
    await chain.deposit([30_000n, 40_000n]);
    await appended((await queue()).size);
    await chain.rpc("evm_revert", snapshot);
    await chain.mine(2);
    await chain.deposit([50_000n]);
    await appended((await queue()).size);
    await eventually(async () => (await relayer.status()).error === undefined);
  });

  it("survive an append by someone else", async () => {
    const { log } = await services.start({ config: { append: true, appendAfter: 0 } });
    await services.start({ config: { append: true, appendAfter: 0 }, key: OTHER_KEY });
    for (let i = 0; i < 3; i += 1) {
      await chain.deposit();
      await appended((await queue()).size);
    }
    expect(log.filter(({ level }) => level === "error").map(({ fields }) => fields)).to.deep.equal([]);
  });

  it("are proved once and kept while gas is too expensive, and proved again only after a pause", async () => {
    await chain.deposit();
    const { size } = await queue();
    let proofs = 0;
    const counting: typeof forgingProver = {
      ...forgingProver,
      prove: (circuit, input) => {
        proofs += 1;
        return forgingProver.prove(circuit, input);
      },
    };
    const poor = { append: true, appendAfter: 0, gasBudgetPerDay: 1n };
    const first = await services.start({ config: poor, prover: counting });
    await eventually(async () => proofs > 0);
    await rounds(first);
    expect(proofs).to.equal(1);
    await services.stop(first);

    const failing: typeof forgingProver = {
      ...forgingProver,
      prove: async () => {
        proofs += 1;
        throw new Error("no proof today");
      },
    };
    let now = Date.now();
    const config = { append: true, appendAfter: 0 };
    const second = await services.start({ config, prover: failing, clock: () => now });
    await eventually(async () => proofs > 1);
    await rounds(second);
    expect(proofs).to.equal(2);
    now += 10_000;
    await eventually(async () => proofs > 2);
    expect((await second.relayer.status()).error).to.equal(undefined);
    expect((await queue()).appended).to.be.lessThan(size);
  });
});
