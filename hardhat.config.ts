import { createRequire } from "node:module";
import hardhatToolboxMochaEthers from "@nomicfoundation/hardhat-toolbox-mocha-ethers";
import { defineConfig } from "hardhat/config";

const require = createRequire(import.meta.url);

export default defineConfig({
  plugins: [hardhatToolboxMochaEthers],
  paths: { sources: "./contracts", tests: { mocha: "./test" } },
  solidity: {
    compilers: [
      {
        version: "0.8.37",
        // The compiler from npm: nothing is downloaded from a host of its own.
        path: require.resolve("solc/soljson.js"),
        settings: { evmVersion: "prague", viaIR: true, optimizer: { enabled: true, runs: 1_000_000 } },
      },
    ],
  },
  networks: {
    node: {
      type: "edr-simulated",
      chainType: "l1",
      chainId: 31337,
      // A node that mines many transactions in a second would run its clock ahead and end every validUntil.
      allowBlocksWithSameTimestamp: true,
    },
  },
});
