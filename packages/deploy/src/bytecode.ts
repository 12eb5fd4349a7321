// Compares compiled contracts with deployed code, which also contains immutables and, in a library, its own address.

import { verifierName } from "@sotto/keys/verifiers/verifier-name";
import type { DeploymentContract } from "@sotto/protocol";
import { getBytes, hexlify } from "ethers";
import hre from "hardhat";

/** The name of the contract at each entry of a manifest, for a given set of keys. */
export function contractNames(set: string): Record<DeploymentContract, string> {
  return {
    pool: "ShieldedPool",
    paymentVerifier: verifierName("Payment", set),
    withdrawalVerifier: verifierName("Withdrawal", set),
    noteAppendVerifier: verifierName("NoteAppend", set),
    noteHasher: "PoseidonT4",
  };
}

/** PUSH20 before the library's own address, which the library compares to reject every call except delegatecall. */
const LIBRARY_PREFIX = "0x73";
const ADDRESS_END = 21;

/** Whether the deployed `code` (hex) is this tree's contract, with any constructor arguments. */
export async function isCompiled(contract: string, code: string): Promise<boolean> {
  const artifact = await hre.artifacts.readArtifact(contract);
  const [expected, found] = [getBytes(artifact.deployedBytecode), getBytes(code)];
  if (expected.length !== found.length) return false;
  const immutables = Object.values(artifact.immutableReferences ?? {}).flat();
  for (const { start, length } of immutables) found.fill(0, start, start + length);
  if (artifact.deployedBytecode.startsWith(`${LIBRARY_PREFIX}${"00".repeat(20)}`)) found.fill(0, 1, ADDRESS_END);
  return hexlify(expected) === hexlify(found);
}
