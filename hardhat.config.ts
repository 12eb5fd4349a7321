import { createRequire } from "node:module";
import hardhatToolboxMochaEthers from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
import { configVariable, defineConfig } from "hardhat/config";

const require = createRequire(import.meta.url);

// The compiler comes from npm, so Hardhat downloads nothing from the compiler's own host.
const compiler = { version: "0.8.37", path: require.resolve("./contracts/soljson.cjs") };
const optimizer = { enabled: true, runs: 1_000_000 };

export default defineConfig({
  plugins: [hardhatToolboxMochaEthers],
  // The tests in Solidity, in test/fuzz, have settings of their own, so that a build compiles only the contracts.
  paths: { sources: "./contracts", tests: { mocha: "./test/contracts", solidity: "./test/contracts" } },
  // Hardhat does not look for it by itself.
  test: { mocha: require("./.mocharc.cjs") },
  solidity: {
    // The library with the deposit hash; the pool calls its pure function.
    npmFilesToBuild: ["poseidon-solidity/PoseidonT4.sol"],
    compilers: [{ ...compiler, settings: { evmVersion: "prague", viaIR: true, optimizer } }],
    overrides: {
      // The optimizer of the IR pipeline inlines its rounds: 53,547 bytes, twice what a chain accepts.
      "poseidon-solidity/PoseidonT4.sol": { ...compiler, settings: { evmVersion: "prague", viaIR: false, optimizer } },
    },
  },
  networks: {
    node: {
      type: "edr-simulated",
      chainType: "l1",
      chainId: 31337,
      // Otherwise a node that mines many blocks a second would run ahead of real time, and every validUntil would
      // expire.
      allowBlocksWithSameTimestamp: true,
    },
    // `pnpm deploy:network`: any network. Both come from `hardhat keystore set NAME`, or from the environment.
    deploy: {
      type: "http",
      url: configVariable("SOTTO_DEPLOY_RPC_URL"),
      accounts: [configVariable("SOTTO_DEPLOYER_KEY")],
    },
  },
  // `hardhat ignition verify NAME --network deploy`: Blockscout and Sourcify need no key.
  verify: { etherscan: { apiKey: configVariable("ETHERSCAN_API_KEY", { default: "" }) } },
});
