// Writes the files that explorers need to show a contract's source: the compiler's input and the constructor's arguments.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toJson, writeAtomically } from "@sotto/keys/circuits/files";
import { DEPLOYMENT_CONTRACTS, type DeploymentManifest } from "@sotto/protocol";
import { AbiCoder } from "ethers";
import hre from "hardhat";
import { contractNames } from "./bytecode.ts";

const POOL_ARGUMENTS = ["address", "address", "address", "address", "address", "uint64"];

interface BuildInfo {
  readonly solcLongVersion: string;
  readonly input: object;
}

/** The ShieldedPool's constructor arguments, ABI-encoded, hex without 0x. The other contracts have no arguments. */
export function poolArguments({ contracts, token, smallestDeposit }: DeploymentManifest): string {
  const { paymentVerifier, withdrawalVerifier, noteAppendVerifier, noteHasher } = contracts;
  const parts = [paymentVerifier, withdrawalVerifier, noteAppendVerifier, noteHasher].map(({ address }) => address);
  return AbiCoder.defaultAbiCoder()
    .encode(POOL_ARGUMENTS, [token, ...parts, smallestDeposit])
    .slice(2);
}

/**
 * Writes into `folder` the compiler's standard JSON input of each contract, and `verification.json` with the values to
 * enter in an explorer for each address.
 */
export async function prepareVerification(manifest: DeploymentManifest, folder: string): Promise<void> {
  const names = contractNames(manifest.set);
  const entries = [];
  for (const part of DEPLOYMENT_CONTRACTS) {
    const name = names[part];
    const { buildInfoId, inputSourceName } = await hre.artifacts.readArtifact(name);
    const path = join(hre.config.paths.artifacts, "build-info", `${buildInfoId}.json`);
    const { solcLongVersion, input } = JSON.parse(readFileSync(path, "utf8")) as BuildInfo;
    const standardInput = `${name}.input.json`;
    writeAtomically(join(folder, standardInput), toJson(input));
    entries.push({
      address: manifest.contracts[part].address,
      contract: `${inputSourceName}:${name}`,
      compiler: `v${solcLongVersion}`,
      licence: "GPL-3.0-or-later",
      constructorArguments: part === "pool" ? poolArguments(manifest) : "",
      standardInput,
    });
  }
  writeAtomically(join(folder, "verification.json"), toJson(entries));
}
