// Compares a chain with the manifest of a deployment, and both with this tree.

import { CommandError } from "@sotto/command/command";
import { DEPLOYMENT_CONTRACTS, type DeploymentManifest } from "@sotto/protocol";
import { lockOf } from "@sotto/prover";
import { Contract, getCreateAddress, keccak256, type Provider, toQuantity } from "ethers";
import hre from "hardhat";
import { contractNames, isCompiled } from "./bytecode.ts";
import type { Ask } from "./chain/ask.ts";
import { hasPermit2, tokenSupport } from "./chain/authorizations.ts";
import { CHAIN_PROPERTIES } from "./chain/properties.ts";
import { poolArguments } from "./verification.ts";

const POOL = [
  "function token() view returns (address)",
  "function smallestDeposit() view returns (uint64)",
  "function paymentVerifier() view returns (address)",
  "function withdrawalVerifier() view returns (address)",
  "function noteAppendVerifier() view returns (address)",
  "function noteHasher() view returns (address)",
];

/** What is printed for a property that the chain has. */
const SUITABLE = "suitable";

export interface Comparison {
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

export const differs = ({ expected, found }: Comparison): boolean => expected !== found;

/** @throws CommandError DEPLOYMENT_DIFFERS */
export function assertSame(results: readonly Comparison[]): void {
  const wrong = results.filter(differs);
  if (wrong.length === 0) return;
  const lines = wrong.map(({ what, expected, found }) => `${what}: expected ${expected}, found ${found}`);
  throw new CommandError("DEPLOYMENT_DIFFERS", lines.join("; "));
}

/** An ethers provider that also sends raw requests. */
export interface Node extends Provider {
  send(method: string, params: unknown[]): Promise<unknown>;
}

interface BlockTransaction {
  readonly from: string;
  readonly to?: string | null;
  readonly nonce: string;
  readonly input: string;
}

/**
 * Whether the block after `deploymentBlock` has the transaction in which this tree's constructor created the pool with the
 * manifest's parts. The pool's code alone does not prove it: other creation code can produce the same code, but set
 * another verifier as an immutable, or store roots of notes that were never deposited.
 */
async function isConstructed(manifest: DeploymentManifest, provider: Node): Promise<boolean> {
  const params = [toQuantity(manifest.deploymentBlock + 1), true];
  const block = (await provider.send("eth_getBlockByNumber", params)) as { transactions: BlockTransaction[] } | null;
  const { bytecode } = await hre.artifacts.readArtifact("ShieldedPool");
  const creation = `${bytecode}${poolArguments(manifest)}`;
  const made = ({ from, nonce }: BlockTransaction) => getCreateAddress({ from, nonce: BigInt(nonce) }).toLowerCase();
  return (block?.transactions ?? []).some(
    (tx) => !tx.to && tx.input.toLowerCase() === creation && made(tx) === manifest.pool,
  );
}

/**
 * Compares everything in the manifest with the chain and this tree.
 * @throws the provider's error if the node does not answer
 */
export async function compareDeployment(manifest: DeploymentManifest, provider: Node): Promise<Comparison[]> {
  const results: Comparison[] = [];
  const compare = (what: string, expected: unknown, found: unknown) =>
    void results.push({ what, expected: String(expected), found: String(found) });
  const request: Ask = (method, params) => provider.send(method, params);
  compare("the node's chain id", manifest.chainId, BigInt(String(await request("eth_chainId", []))));
  for (const { name, isOptional, find } of CHAIN_PROPERTIES) {
    const found = (await find(request)) ?? SUITABLE;
    compare(name, isOptional ? found : SUITABLE, found);
  }
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
  // Without a pool there is nothing more to compare.
  if (codes.get("pool") === "0x") return results;
  const pool = new Contract(manifest.pool, POOL, provider);
  const ask = async (view: string) =>
    String(
      await pool
        .getFunction(view)()
        .catch(() => "no answer"),
    ).toLowerCase();
  compare("token", manifest.token, await ask("token"));
  // A pool of a token without EIP-3009 is accepted.
  const { problem, accounts } = await tokenSupport(request, manifest.token, manifest.chainId);
  const support = problem === undefined ? "supported" : `not supported, because ${problem}`;
  compare("deposits by EIP-3009", support, support);
  const whole = accounts ? "supported" : "not supported";
  compare("deposits by EIP-3009 of contract accounts", whole, whole);
  const byPermit2 = (await hasPermit2(request)) ? "supported" : "not supported, because the chain has no Permit2";
  compare("deposits by Permit2", byPermit2, byPermit2);
  compare("smallest deposit", manifest.smallestDeposit, await ask("smallestDeposit"));
  for (const name of DEPLOYMENT_CONTRACTS.filter((contract) => contract !== "pool"))
    compare(`${name} of the pool`, manifest.contracts[name].address, await ask(name));
  const constructed = "created by its constructor in the next block";
  const made = (await isConstructed(manifest, provider)) ? constructed : "not created there";
  compare(`pool at block ${manifest.deploymentBlock}`, constructed, made);
  for (const [circuit, { vkey }] of Object.entries(lockOf(manifest.set).circuits))
    compare(`verification key of ${circuit}`, manifest.verificationKeys[circuit], vkey);
  return results;
}
