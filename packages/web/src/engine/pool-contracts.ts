// Compares the contracts on chain with the host's manifest.
import { type Chain, isAnotherContract, readNewest } from "@sotto/chain";
import { poolInterface } from "@sotto/chain/ethers";
import type { DeploymentManifest } from "@sotto/protocol";
import { keccak256 } from "ethers/crypto";
import type { HostConfig } from "../config.ts";
import { connect } from "./chain.ts";
import type { ConstantCheck, ContractCheck } from "./pool-feed-api.ts";

export async function checkContracts(
  config: HostConfig,
): Promise<{ contracts: readonly ContractCheck[]; constants: readonly ConstantCheck[] }> {
  const chain = connect(config);
  const { deployment } = config;
  const checks = Object.entries(deployment.contracts).map(
    async ([name, { address, codeHash }]): Promise<ContractCheck> => {
      const code = await readNewest(
        chain,
        (node, block) => node.code(address, block),
        (found) => found !== "0x",
      );
      return { name, address, expected: codeHash, found: code === "0x" ? undefined : keccak256(code) };
    },
  );
  return { contracts: await Promise.all(checks), constants: await checkConstants(chain, deployment) };
}

/** Reads the pool's getters. Empty if the pool's address has another contract or none. */
async function checkConstants(chain: Chain, deployment: DeploymentManifest): Promise<ConstantCheck[]> {
  const { contracts, pool, token, smallestDeposit } = deployment;
  const verifiers = Object.entries(contracts).filter(([name]) => name !== "pool");
  const expected: [name: string, value: string][] = [
    ["token", token],
    ["smallestDeposit", smallestDeposit],
    ...verifiers.map(([name, { address }]): [string, string] => [name, address]),
  ];
  const reads = expected.map(([name]) => ({ abi: poolInterface, to: pool, name, values: [] }));
  try {
    const found = await chain.reads(reads);
    return expected.map(([name, value], i) => ({ name, expected: value, found: String(found[i]).toLowerCase() }));
  } catch (error) {
    if (isAnotherContract(error)) return [];
    throw error;
  }
}
