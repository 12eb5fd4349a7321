import { expect } from "chai";
import { URL, World } from "./support/world.ts";

const SEED = new Uint8Array(32).map((_, i) => 19 * i + 1);
const finality = 3;

async function start() {
  const world = new World();
  const wallet = await world.wallet({ seed: SEED, finality });
  const request = { recipient: world.recipient(await world.wallet()), amount: 1_000n, resourceUrl: URL };
  /** Mines `blocks` and scans. */
  const later = async (blocks: number) => {
    world.chain.mineMany(blocks);
    await wallet.scan();
  };
  const states = () => wallet.notes().map(({ state }) => state);
  return { world, wallet, request, later, states };
}

describe("state of a note, block by block", () => {
  it("goes from pending to queued to spendable with the last confirmation", async () => {
    const { world, wallet, later, states } = await start();
    await world.deposit(wallet, [5_000n]);
    await later(finality - 1);
    expect(states()).to.deep.equal(["pending"]);
    await later(1);
    expect(states()).to.deep.equal(["queued"]);
    await world.append();
    await later(finality - 1);
    expect(states()).to.deep.equal(["queued"]);
    await later(1);
    expect(states()).to.deep.equal(["spendable"]);
  });

  it("goes from held to spending to spent, and its payment becomes final with it", async () => {
    const { world, wallet, request, later, states } = await start();
    await world.deposit(wallet, [5_000n]);
    await world.append();
    await later(finality);
    const payment = await wallet.pay(request);
    expect(states()).to.deep.equal(["held"]);
    world.settle(payment);
    await later(finality - 1);
    expect(states()).to.deep.equal(["spending", "pending"]);
    expect(wallet.status(payment.id)).to.include({ state: "settled", final: false });
    expect(wallet.balance()).to.deep.equal({ spendable: 0n, held: 0n, queued: 0n, pending: 4_000n, total: 4_000n });
    await later(1);
    expect(states()).to.deep.equal(["spent", "queued"]);
    expect(wallet.status(payment.id)).to.include({ state: "settled", final: true });
  });

  it("is held until the block after validUntil is confirmed, and not released a second earlier", async () => {
    const { world, wallet, request, later, states } = await start();
    await world.deposit(wallet, [5_000n]);
    await world.append();
    await later(finality);
    const { id, validUntil } = await wallet.pay(request);
    world.chain.time = validUntil - 12;
    await later(1 + finality);
    expect(wallet.status(id).state).to.equal("open");
    expect(states()).to.deep.equal(["held"]);
    await later(1);
    expect(wallet.status(id).state).to.equal("expired");
    expect(states()).to.deep.equal(["spendable"]);
  });
});

describe("state of a payment", () => {
  it("follows its own note, not another one at the same leaf after a reorganization", async () => {
    const world = new World();
    const wallet = await world.funded([5_000n], { seed: SEED });
    const request = { recipient: world.recipient(await world.wallet()), amount: 1_000n, resourceUrl: URL };
    const first = await wallet.pay(request);
    world.chain.takeBack(2);
    await world.deposit(wallet, [6_000n]);
    await world.append();
    const second = await wallet.pay(request);
    expect(wallet.notes()[0]?.leafIndex).to.equal(0);
    world.settle(second);
    await wallet.scan();
    expect(wallet.status(second.id).state).to.equal("settled");
    expect(wallet.status(first.id).state).to.equal("open");
  });
});
