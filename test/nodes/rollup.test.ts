// A chain like Arbitrum: contracts see other block numbers than the node reports, and several blocks have the same time.

import { compareDeployment, differs } from "@sotto/deploy/check";
import { slow } from "@sotto/test-kit/slow";
import { startDeployedAnvil } from "@sotto/test-world/anvil";
import { createWorld, type World } from "@sotto/test-world/wallets";
import { expect } from "chai";
import { Books } from "./support/audit.ts";
import { BLOCKS_APART, startRollupNode } from "./support/rollup-node.ts";

/** Creation code that returns NUMBER. */
const NUMBER_CODE = "0x4360005260206000f3";

describe("a pool on a chain whose contracts see other block numbers", function () {
  slow(this, "a deployment, a service and wallets");
  let world: World;
  let books: Books;
  before(async () => {
    const anvil = await startDeployedAnvil();
    const { url, stop } = await startRollupNode(anvil.url);
    const deploymentBlock = anvil.deployment.deploymentBlock + BLOCKS_APART;
    const deployment = { ...anvil.deployment, deploymentBlock };
    const node = { url, deployment, stop: () => stop().then(() => anvil.stop()) };
    world = await createWorld(node);
    books = await Books.open(world);
  });

  it("equals its manifest, and is suitable", async () => {
    const [seen, reported] = [await world.provider.call({ data: NUMBER_CODE }), await world.provider.getBlockNumber()];
    expect(reported - Number(seen)).to.be.within(BLOCKS_APART - 1, BLOCKS_APART);
    expect((await compareDeployment(world, world.provider)).filter(differs)).to.deep.equal([]);
  });

  it("takes deposits, settles payments and pays withdrawals, with exact balances", async () => {
    await books.deposit(3_000_000n, 2_000_000n);
    await books.audit();
    await books.pay(1_250_000n);
    await books.audit();
    await books.withdraw(1_000_000n);
    await books.audit();
  });

  it("does the same while all blocks have the same time", async () => {
    await world.provider.send("anvil_setBlockTimestampInterval", [0]);
    const first = await world.provider.getBlock("latest");
    await books.deposit(1_000_000n);
    await books.deposit(500_000n);
    await books.audit();
    await books.pay(700_000n);
    await books.audit();
    const last = await world.provider.getBlock("latest");
    expect(last!.number - first!.number).to.be.greaterThan(4);
    expect(last!.timestamp).to.equal(first!.timestamp);
    await world.provider.send("anvil_removeBlockTimestampInterval", []);
    await books.withdraw(400_000n);
    await books.audit();
  });
});
