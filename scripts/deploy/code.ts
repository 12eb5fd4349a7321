// Compares compiled contracts with a chain's code, in which immutables and a library's own address are filled in.

import type { DeploymentContract } from "@sotto/protocol";
import { getBytes, hexlify } from "ethers";
import hre from "hardhat";
import { verifierName } from "../../ignition/support/verifier-name.ts";

/** The contract behind each entry of a manifest, for a set of keys. */
export function contractNames(set: string): Record<DeploymentContract, string> {
  return {
    pool: "ShieldedPool",
    paymentVerifier: verifierName("Payment", set),
    withdrawalVerifier: verifierName("Withdrawal", set),
    noteAppendVerifier: verifierName("NoteAppend", set),
    noteHasher: "PoseidonT4",
  };
}

/** PUSH20 and the library's own address, with which a library rejects everything but delegatecall. */
const LIBRARY_PREFIX = "0x73";
const ADDRESS_END = 21;

/** Whether `code` is this tree's compiled contract, with any constructor arguments. */
export async function isCompiled(contract: string, code: string): Promise<boolean> {
  const artifact = await hre.artifacts.readArtifact(contract);
  const [expected, found] = [getBytes(artifact.deployedBytecode), getBytes(code)];
  if (expected.length !== found.length) return false;
  const places = Object.values(artifact.immutableReferences ?? {}).flat();
  for (const { start, length } of places) found.fill(0, start, start + length);
  if (artifact.deployedBytecode.startsWith(`${LIBRARY_PREFIX}${"00".repeat(20)}`)) found.fill(0, 1, ADDRESS_END);
  return hexlify(expected) === hexlify(found);
}
