// Chains that differ from Ethereum: Anvil runs older EVMs, lower limits, and the rules of other networks. A proxy in front of it
// answers like nodes of chains that Anvil does not run.

import type { Ask } from "@sotto/deploy/chain/ask";
import { GAS_PROBE } from "@sotto/deploy/chain/probes";
import { lacksOf } from "@sotto/deploy/chain/properties";
import { startAnvil } from "@sotto/test-kit/anvil";
import { command, expectRefused } from "@sotto/test-kit/command";
import { CuttingProxy } from "@sotto/test-kit/cutting-proxy";
import { inLongRun } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { startDeployedAnvil } from "@sotto/test-world/anvil";
import { accountOf, createWorld } from "@sotto/test-world/wallets";
import { expect } from "chai";
import { JsonRpcProvider, toBeHex } from "ethers";
import { Books } from "./support/audit.ts";

const OPCODES = "no PUSH0, no MCOPY, no TSTORE, TLOAD";

/** Options of Anvil, and what is found. */
const CHAINS: readonly [options: readonly string[], found: Readonly<Record<string, string>>][] = [
  [[], {}],
  [["--hardfork", "osaka"], {}],
  [["--optimism"], {}],
  [["--celo"], {}],
  [["--network", "tempo", "--hardfork", "T1"], { storage: "a write to storage costs 252208 gas" }],
  [
    ["--network", "tempo", "--hardfork", "T4"],
    {
      "contract size": "no contract of 18000 bytes can be created",
      storage: "a write to storage costs 252208 gas",
    },
  ],
  [["--hardfork", "shanghai"], { opcodes: "no MCOPY, no TSTORE, TLOAD" }],
  [["--hardfork", "berlin"], { opcodes: OPCODES, fees: "blocks have no base fee" }],
  [["--gas-limit", "5000000"], { "gas limit": "blocks have 5000000 gas" }],
  [["--code-size-limit", "10000"], { "contract size": "no contract of 18000 bytes can be created" }],
];

async function onAnvil(options: readonly string[], use: (url: string, provider: JsonRpcProvider) => Promise<void>) {
  const node = await startAnvil(...options);
  const provider = new JsonRpcProvider(node.url, undefined, { staticNetwork: true, cacheTimeout: -1 });
  await use(node.url, provider).finally(async () => {
    provider.destroy();
    await node.stop();
  });
}

describe("the properties of a chain", function () {
  slow(this, "several chains");

  for (const [options, found] of CHAINS)
    it(`are found on Anvil${options.length === 0 ? "" : ` with ${options.join(" ")}`}`, () =>
      onAnvil(options, async (_, provider) => {
        const ask: Ask = (method, params) => provider.send(method, params);
        const lacks = async () => (await lacksOf(ask)).map((lack) => [lack.property.name, lack.found]);
        expect(Object.fromEntries(await lacks())).to.deep.equal(found);
        await provider.send("anvil_mine", ["0x10"]);
        expect(Object.fromEntries(await lacks())).to.deep.equal(found);
      }));

  for (const options of inLongRun([], [["--optimism"], ["--celo"], ["--network", "tempo", "--hardfork", "T1"]]))
    it(`permit deposits, payments and withdrawals on Anvil with ${options.join(" ")}`, async () => {
      const books = await Books.open(await createWorld(await startDeployedAnvil(...options)));
      await books.deposit(3_000_000n, 2_000_000n);
      await books.pay(1_250_000n);
      await books.withdraw(1_000_000n);
      await books.audit();
    });

  /** What is found on Anvil if a proxy changes the results of calls. */
  const foundIf = async (alter: (call: { to?: string; data?: string }, result: unknown) => unknown) => {
    const node = await startAnvil();
    const proxy = new CuttingProxy(node.url);
    proxy.alter = (method, [call], { result }) =>
      method === "eth_call" ? { result: alter(Object(call), result) } : undefined;
    const provider = new JsonRpcProvider(await proxy.listen(), undefined, { staticNetwork: true, cacheTimeout: -1 });
    try {
      const lacks = await lacksOf((method, params) => provider.send(method, params));
      return Object.fromEntries(lacks.map((lack) => [lack.property.name, lack.found]));
    } finally {
      provider.destroy();
      await proxy.close();
      await node.stop();
    }
  };

  it("permit gas for data that is spent before the code runs, as on Arbitrum", async () => {
    const spent = 3_000_000n;
    const seen: bigint[] = [];
    const found = await foundIf(({ data }, result) => {
      if (data !== GAS_PROBE) return result;
      const left = BigInt(String(result)) - spent;
      seen.push(left);
      return toBeHex(left, 32);
    });
    expect(seen).to.have.length(2);
    expect(found).to.deep.equal({});
  });

  it("name only that code does not run in calls, as on EraVM, where nothing else can be tested", async () => {
    const found = await foundIf(({ to }, result) => (to === undefined ? "0x" : result));
    expect(found).to.deep.equal({ "code in calls": "creation code returns 0x" });
  });

  it("prevent a deployment before anything is sent", () =>
    onAnvil(["--hardfork", "london"], async (url, provider) => {
      const deployer = accountOf(0);
      const refused = await command(
        "packages/deploy/src/main.ts",
        ["--network", `london-${process.pid}`, "--to", temporaryFolder("london"), "--test-token", "yes"],
        undefined,
        { SOTTO_DEPLOY_RPC_URL: url, SOTTO_DEPLOYER_KEY: deployer.privateKey },
      );
      expectRefused(refused, "CHAIN_UNSUITABLE", `opcodes: ${OPCODES}, so the contracts would fail`);
      expect(await provider.getTransactionCount(deployer.address)).to.equal(0);
    }));
});
