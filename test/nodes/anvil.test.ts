// Deployment, service and wallets on Anvil, with the commands and programs that operators use.

import { compareDeployment, differs } from "@sotto/deploy/check";
import { slow } from "@sotto/test-kit/slow";
import { startDeployedAnvil } from "@sotto/test-world/anvil";
import { createWorld, type World } from "@sotto/test-world/wallets";
import { expect } from "chai";
import { Books } from "./support/audit.ts";

describe("a pool on Anvil", function () {
  slow(this, "a deployment, a service and wallets");
  let world: World;
  let books: Books;
  before(async () => {
    world = await createWorld(await startDeployedAnvil());
    books = await Books.open(world);
  });

  it("equals its manifest", async () => {
    expect((await compareDeployment(world, world.provider)).filter(differs)).to.deep.equal([]);
  });

  it("takes deposits, settles payments and pays withdrawals, with exact balances", async () => {
    await books.deposit(3_000_000n, 2_000_000n);
    await books.pay(1_250_000n);
    await books.audit();
    const verified = [await books.verified(400_000n), await books.verified(600_001n)];
    const transactions = await Promise.all(verified.map(({ settle }) => settle()));
    for (const hash of transactions) expect((await world.provider.getTransactionReceipt(hash))!.status).to.equal(1);
    await books.audit();
    await books.withdraw(1_000_000n);
    await books.audit();
  });

  it("returns the first outcome if a payment is settled again", async () => {
    await books.deposit(1_000_000n);
    const { settle } = await books.verified(300_000n);
    expect(await settle()).to.equal(await settle());
    await books.audit();
  });
});
