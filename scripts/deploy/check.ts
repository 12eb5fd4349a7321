// Compares a chain with the manifest of a deployment, and both with this tree.
import { DEPLOYMENT_CONTRACTS, type DeploymentManifest } from "@sotto/protocol";
import { lockOf } from "@sotto/prover";
import { Contract, getCreateAddress, type JsonRpcProvider, keccak256, toQuantity } from "ethers";
import hre from "hardhat";
import { contractNames, isCompiled } from "./code.ts";
import { poolArguments } from "./verification.ts";

const POOL = [
  "function token() view returns (address)",
  "function smallestDeposit() view returns (uint64)",
  "function paymentVerifier() view returns (address)",
  "function withdrawalVerifier() view returns (address)",
  "function noteAppendVerifier() view returns (address)",
  "function noteHasher() view returns (address)",
];

/** One thing that was compared. */
export interface Comparison {
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

export const differs = ({ expected, found }: Comparison): boolean => expected !== found;

interface BlockTransaction {
  readonly from: string;
  readonly to?: string | null;
  readonly nonce: string;
  readonly input: string;
}

/**
 * Whether the block after `deploymentBlock` has the transaction in which this tree's constructor made the pool of the
 * manifest's parts. The pool's code does not say it: creation code of somebody's own can leave the same code with another
 * verifier in one of the places for an immutable, or with roots in its storage of notes that nobody deposited.
 */
async function isConstructed(manifest: DeploymentManifest, provider: JsonRpcProvider): Promise<boolean> {
  const params = [toQuantity(manifest.deploymentBlock + 1), true];
  const block: { transactions: BlockTransaction[] } | null = await provider.send("eth_getBlockByNumber", params);
  const { bytecode } = await hre.artifacts.readArtifact("ShieldedPool");
  const creation = `${bytecode}${poolArguments(manifest)}`;
  const made = ({ from, nonce }: BlockTransaction) => getCreateAddress({ from, nonce: BigInt(nonce) }).toLowerCase();
  return (block?.transactions ?? []).some(
    (tx) => !tx.to && tx.input.toLowerCase() === creation && made(tx) === manifest.pool,
  );
}

/** Creation code that returns block.number: NUMBER, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN. */
const BLOCK_NUMBER = "0x435f5260205ff3";
/** More than a node is behind itself between two questions. */
const APART = 1_000n;

/**
 * Whether contracts count blocks as the node does. Some rollups show them the numbers of the chain below (Arbitrum does):
 * the pool then closes its checkpoints elsewhere than its events say, and nothing here finds where an append may end.
 */
async function countsBlocksAlike(provider: JsonRpcProvider): Promise<boolean> {
  const seen = BigInt(await provider.send("eth_call", [{ data: BLOCK_NUMBER }, "latest"]));
  const apart = seen - BigInt(await provider.send("eth_blockNumber", []));
  return apart < APART && apart > -APART;
}

/**
 * Everything the manifest says that the chain or this tree can tell.
 * @throws what the provider throws where the node does not answer
 */
export async function compareDeployment(
  manifest: DeploymentManifest,
  provider: JsonRpcProvider,
): Promise<Comparison[]> {
  const results: Comparison[] = [];
  const compare = (what: string, expected: unknown, found: unknown) =>
    void results.push({ what, expected: String(expected).toLowerCase(), found: String(found).toLowerCase() });
  compare("chain id", manifest.chainId, BigInt(await provider.send("eth_chainId", [])));
  compare("block numbers", "one count", (await countsBlocksAlike(provider)) ? "one count" : "contracts see others");
  const names = contractNames(manifest.set);
  const codes = new Map<string, string>();
  for (const name of DEPLOYMENT_CONTRACTS) {
    const { address, codeHash } = manifest.contracts[name];
    const code = await provider.getCode(address);
    codes.set(name, code);
    compare(`code hash of ${name}`, codeHash, code === "0x" ? "no contract" : keccak256(code));
    const built = code !== "0x" && (await isCompiled(names[name], code));
    compare(`code of ${name}`, `this tree's ${names[name]}`, built ? `this tree's ${names[name]}` : "another contract");
  }
  // A node that knows no such contract answers nothing more of it.
  if (codes.get("pool") === "0x") return results;
  const pool = new Contract(manifest.pool, POOL, provider);
  const ask = async (view: string) =>
    String(
      await pool
        .getFunction(view)()
        .catch(() => "no answer"),
    );
  compare("token", manifest.token, await ask("token"));
  compare("smallest deposit", manifest.smallestDeposit, await ask("smallestDeposit"));
  for (const name of DEPLOYMENT_CONTRACTS.filter((contract) => contract !== "pool"))
    compare(`${name} of the pool`, manifest.contracts[name].address, await ask(name));
  const constructed = "made by its constructor in the next";
  const made = (await isConstructed(manifest, provider)) ? constructed : "not so";
  compare(`pool at block ${manifest.deploymentBlock}`, constructed, made);
  for (const [circuit, { vkey }] of Object.entries(lockOf(manifest.set).circuits))
    compare(`verification key of ${circuit}`, manifest.verificationKeys[circuit], vkey);
  return results;
}
