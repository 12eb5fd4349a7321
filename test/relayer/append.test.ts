// Queued notes get into the tree: at once, when the oldest waited long enough, or when an append would be full.
import { expect } from "chai";
import { forgingProver } from "./support/append.ts";
import { TestChain } from "./support/chain.ts";
import { enqueue, eventually, Services } from "./support/service.ts";

const WAIT = 20_000;
/** Hardhat's public test account 2. */
const OTHER_KEY = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";

describe("relayer's appends", () => {
  let chain: TestChain;
  let services: Services;
  before(async function () {
    this.timeout(60_000);
    chain = await TestChain.start();
  });
  after(() => chain.stop());
  beforeEach(() => {
    services = new Services(chain);
  });
  afterEach(() => services.stopAll());

  const queue = async () => {
    const { size, appended } = await chain.pool.getFunction("queue")();
    return { size: Number(size), appended: Number(appended) };
  };
  const appended = async (size: number) => eventually(async () => (await queue()).appended === size, WAIT);
  const settled = async () => {
    const { store, relayer } = await services.start();
    const id = await enqueue(store, await chain.payment());
    await relayer.waitFor(id, WAIT);
    return (await queue()).size;
  };

  it("come at once on a development chain, in as many steps as there are notes", async () => {
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
    const { relayer } = await services.start({ config: { append: true, appendAfter: 20_000 } });
    await chain.deposit();
    const { size } = await queue();
    await eventually(async () => (await relayer.status()).head?.number === (await chain.provider.getBlockNumber()));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await queue()).appended).to.equal(size - 1);
    await chain.rpc("evm_increaseTime", 21);
    await chain.mine();
    await appended(size);
  });

  it("do not wait once 64 notes are there", async () => {
    const before = await queue();
    await services.start({ config: { append: true, appendAfter: 3_600_000 } });
    await chain.deposit(Array.from({ length: 63 }, () => 20_000n));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await queue()).to.deep.equal({ size: before.size + 63, appended: before.size });
    await chain.deposit();
    await appended(before.size + 64);
  });

  it("go on after a reorganisation changed what is queued", async () => {
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

  it("survive that somebody else appends first", async () => {
    const { log } = await services.start({ config: { append: true, appendAfter: 0 } });
    await services.start({ config: { append: true, appendAfter: 0 }, key: OTHER_KEY });
    for (let i = 0; i < 3; i += 1) {
      await chain.deposit();
      await appended((await queue()).size);
    }
    expect(log.filter(({ level }) => level === "error").map(({ fields }) => fields)).to.deep.equal([]);
  });

  it("are proved once and kept while gas is too dear, and proved again only after a while when that fails", async () => {
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
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(proofs).to.equal(1);
    await services.stop(first);

    const failing: typeof forgingProver = {
      ...forgingProver,
      prove: async () => {
        proofs += 1;
        throw new Error("no proof today");
      },
    };
    const second = await services.start({ config: { append: true, appendAfter: 0 }, prover: failing });
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(proofs).to.equal(2);
    expect((await second.relayer.status()).error).to.equal(undefined);
    expect((await queue()).appended).to.be.lessThan(size);
  });
});
