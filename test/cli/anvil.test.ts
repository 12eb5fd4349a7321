// The command line on Anvil, as processes that prove for real: deposit, pay, withdraw, and the same wallet from its words.

import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { startDeployedAnvil } from "@sotto/test-world/anvil";
import { expect } from "chai";
import { Cli } from "./support/cli.ts";
import { openResourceServer, type ResourceServer } from "./support/resource-server.ts";
import { type CliWorld, createCliWorld, initArguments, openCli, tokensOf } from "./support/world.ts";

type Account = Cli & { account: string };
interface Balance {
  spendable: { amount: string };
  total: { amount: string };
}

describe("sotto: on Anvil", function () {
  slow(this, "a deployment, a service and the command line's processes");
  let world: CliWorld;
  let merchant: Account;
  let payer: Account;
  let server: ResourceServer;
  before(async () => {
    world = await createCliWorld(await startDeployedAnvil());
    merchant = await openCli(world, 0n);
    payer = await openCli(world);
    server = await openResourceServer(world, merchant);
  });
  after(async () => {
    await server?.close();
  });

  const json = <T>(cli: Cli, args: string[], input?: string) =>
    cli.json<T>(args, { process: true, ...(input === undefined ? {} : { input }) });
  /** The balance once every note can be spent. */
  const settled = (cli: Cli) =>
    eventually(async () => {
      const { spendable, total } = await json<Balance>(cli, ["balance"]);
      return spendable.amount === total.amount && total.amount;
    });
  /** Everything that was paid in and not paid out is in the two wallets and in the pool. */
  async function audit(payers: bigint, merchants: bigint): Promise<void> {
    expect(await settled(payer)).to.equal(String(payers));
    expect(await settled(merchant)).to.equal(String(merchants));
    expect(await tokensOf(world, world.pool)).to.equal(payers + merchants);
  }

  it("deposits, pays and withdraws, with exact balances", async () => {
    await json(payer, ["deposit", "2", "--notes", "2"]);
    await audit(2_000_000n, 0n);
    const { code, stdout } = await payer.run(["pay", `${server.url}/article/1`, "--max", "0.05"], { process: true });
    expect([code, stdout]).to.deep.equal([0, "GET /article/1"]);
    await audit(1_950_000n, 50_000n);
    const to = `0x${"88".repeat(20)}`;
    await json(merchant, ["withdraw", "0.02", "--to", to, "--yes"]);
    expect(await tokensOf(world, to)).to.equal(20_000n);
    await audit(1_950_000n, 30_000n);
  });

  it("lists a payment as settled after a reorganization removed it and the service settled it again", async () => {
    const height = await world.provider.getBlockNumber();
    const paid = await json<{ payment: { id: string } }>(payer, [
      "request",
      `${server.url}/article/2`,
      "--max",
      "0.05",
    ]);
    await world.provider.send("evm_setAutomine", [false]);
    await world.provider.send("anvil_reorg", [(await world.provider.getBlockNumber()) - height, []]);
    await world.provider.send("evm_setAutomine", [true]);
    await world.provider.send("anvil_mine", ["0x2"]);
    await audit(1_900_000n, 80_000n);
    const payments = await json<{ id: string; state: string }[]>(payer, ["payments", "--out"]);
    expect(payments.find(({ id }) => id === paid.payment.id)).to.include({ state: "settled" });
    expect(payments).to.have.length(2);
  });

  it("restores the wallet from its 24 words", async () => {
    const { words } = await json<{ words: string }>(payer, ["export", "--words", "--show-secret"]);
    expect(words.split(" ")).to.have.length(24);
    const restored = new Cli();
    await json(restored, [...initArguments(world), "--words"], words);
    restored.learnSecrets();
    expect(await settled(restored)).to.equal("1900000");
    const { code } = await restored.run(["pay", `${server.url}/article/3`, "--max", "0.05"], { process: true });
    expect(code).to.equal(0);
    expect(await settled(restored)).to.equal("1850000");
    await audit(1_850_000n, 130_000n);
  });
});
