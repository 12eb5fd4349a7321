import type { Screen } from "@sotto/command/terminal";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import type { JsonRpcProvider } from "ethers";
import { usdc } from "../../src/demo/amounts.ts";
import { type Balance, printBalances, readBalances } from "../../src/demo/balances.ts";
import { Transactions, type World } from "../../src/demo/world.ts";

const balance = (what: string, found: bigint): Balance => ({ what, unit: "USDC", expected: 1_000_000n, found });

describe("demo balances", () => {
  it("are reported if they differ by one base unit", () => {
    const printed: string[] = [];
    const screen: Screen = { width: 120, colours: false, write: (text) => void printed.push(text) };
    const balances = [
      balance("right", 1_000_000n),
      balance("short", 999_999n),
      balance("over", 1_000_001n),
      balance("debt", -1n),
    ];
    expect(printBalances(screen, balances).map(({ what }) => what)).to.deep.equal(["short", "over", "debt"]);
    const lines = printed.join("").split("\n");
    expect(lines[1]).to.match(/^right +1\.00 USDC +1\.00 USDC +exact$/);
    expect(lines[2]).to.match(/^short +1\.00 USDC +0\.999999 USDC +DIFFERENT$/);
    expect(lines[4]).to.match(/^debt +1\.00 USDC +-1 USDC +DIFFERENT$/);
  });

  it("count the gas of every relayer transaction up to one block, also of those that reverted", async () => {
    const relayer = { address: `0x${"aB".repeat(20)}`, ether: 1_000n };
    // Each block has a transaction of the relayer, which costs 10, and one of somebody else.
    let height = 3;
    const provider = {
      getBlockNumber: async () => height,
      getBlock: async (number: number) => ({
        prefetchedTransactions: [
          { hash: `relayer ${number}`, from: relayer.address },
          { hash: `other ${number}`, from: `0x${"cd".repeat(20)}` },
        ],
      }),
      getTransactionReceipt: async (hash: string) => ({ hash, fee: 10n, status: hash === "relayer 2" ? 0 : 1 }),
      getBalance: async (address: string, blockTag: number) =>
        address === relayer.address ? relayer.ether - 10n * BigInt(blockTag) : 0n,
    } as unknown as JsonRpcProvider;
    const mine = async () => {
      height += 1;
    };
    const transactions = new Transactions(provider, relayer.address.toLowerCase(), 0);
    const wallet = { scan: mine, balance: () => ({ total: 0n }), store: new MemoryStore(), now: Date.now };
    const party = { wallet, account: { address: "0x" }, server: { scan: mine, total: () => 0n } };
    // A transaction is mined while the balances are being read.
    const token = { getFunction: () => async () => mine().then(() => 0n) };
    const chain = { provider, token, transactions, pool: "0x" };
    const nothing = { sales: [], prepaid: { bought: 0n, spent: 0n }, moved: { in: 0n, out: 0n } };
    const world = { ...chain, payer: party, merchant: party, relayer, ...nothing };
    const found = await readBalances(world as unknown as World);
    const gas = found.find(({ what }) => what === "relayer, ETH spent on gas");
    expect(height).to.be.greaterThan(6);
    expect(gas).to.deep.include({ expected: 60n, found: 60n });
  });

  it("are written with at least two decimals", () => {
    expect(usdc(0n)).to.equal("0.00 USDC");
    expect(usdc(50_000n)).to.equal("0.05 USDC");
    expect(usdc(1n)).to.equal("0.000001 USDC");
    expect(usdc(25_000_000n)).to.equal("25.00 USDC");
  });
});
