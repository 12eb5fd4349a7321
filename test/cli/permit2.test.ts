// The command line in a pool whose token has no EIP-3009.

import { slow } from "@sotto/test-kit/slow";
import { contractWalletOf } from "@sotto/test-world/contract-wallets";
import { openPermit2Pool, type Permit2Pool } from "@sotto/test-world/permit2-pool";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { type CliWorld, createCliWorld, openCli, openCliWorld } from "./support/world.ts";

describe("sotto: deposits by Permit2", function () {
  slow(this, "a chain, a service and the command line's processes");
  let world: CliWorld;
  let pool: Permit2Pool;

  before(async () => {
    const shared = await openCliWorld();
    pool = await openPermit2Pool(shared, "PermitToken");
    const { node, provider: _, service: __, deploymentFile: ___, codes: ____, ...manifest } = shared;
    const { deploymentBlock, token } = pool;
    const address = pool.pool as `0x${string}`;
    const contracts = { ...manifest.contracts, pool: { ...manifest.contracts.pool, address } };
    const deployment = { ...manifest, contracts, deploymentBlock, pool: address, token: token as `0x${string}` };
    world = await createCliWorld({ url: node.url, stop: async () => undefined, deployment });
  });

  it("take the tokens of an account without ether, and leave no approval", async () => {
    const cli = await openCli(world, 5_000_000n);
    const done = await cli.json<{ amount: string; notes: number }>(["deposit", "2", "--notes", "2"]);
    expect(done).to.include({ amount: "2000000", notes: 2 });
    expect(await pool.tokensOf(cli.account)).to.equal(3_000_000n);
    expect((await cli.json<{ total: { amount: string } }>(["balance"])).total.amount).to.equal("2000000");
  });

  it("of a contract account need its approval of Permit2, and the error says so", async () => {
    const cli = await openCli(world, 0n);
    const owner = new Account(cli.env["SOTTO_ACCOUNT_KEY"]!);
    const from = await contractWalletOf(world, owner.address);
    await (await pool.tokenContract.getFunction("mint")(from, 1_000_000n)).wait();
    const { code, stderr } = await cli.run(["deposit", "1", "--from", from]);
    expect(code).to.equal(3);
    expect(stderr).to.include("NOT_APPROVED").and.to.include("approve Permit2");
    await pool.approve(from, 1_000_000n);
    expect(await cli.json(["deposit", "1", "--from", from])).to.include({ amount: "1000000" });
    expect(await pool.tokensOf(from)).to.equal(0n);
  });
});
