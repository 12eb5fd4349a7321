// Chains that lack what a pool needs: Anvil runs older EVMs and lower limits.

import type { Ask } from "@sotto/deploy/chain/ask";
import { lacksOf } from "@sotto/deploy/chain/properties";
import { startAnvil } from "@sotto/test-kit/anvil";
import { command, expectRefused } from "@sotto/test-kit/command";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { accountOf } from "@sotto/test-world/wallets";
import { expect } from "chai";
import { JsonRpcProvider } from "ethers";

const OPCODES = "no PUSH0, no MCOPY, no TSTORE, TLOAD";

/** Options of Anvil, and what is found. */
const CHAINS: readonly [options: readonly string[], found: Readonly<Record<string, string>>][] = [
  [[], {}],
  [["--hardfork", "osaka"], {}],
  [["--optimism"], {}],
  [["--hardfork", "shanghai"], { opcodes: "no MCOPY, no TSTORE, TLOAD" }],
  [["--hardfork", "berlin"], { opcodes: OPCODES, fees: "blocks have no base fee" }],
  [["--gas-limit", "5000000"], { "gas limit": "blocks have 5000000 gas" }],
  [["--code-size-limit", "10000"], { "contract size": "no contract of 16000 bytes can be created" }],
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
