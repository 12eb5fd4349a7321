// Compares a chain with the manifest of a deployment, and both with this tree.
import { DEPLOYMENT_CONTRACTS, type DeploymentManifest } from "@sotto/protocol";
import { lockOf } from "@sotto/prover";
import { Contract, type JsonRpcProvider, keccak256 } from "ethers";
import { contractNames, isCompiled } from "./code.ts";

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
  const before = await provider.getCode(manifest.pool, manifest.deploymentBlock).catch(() => "0x");
  compare(`pool at block ${manifest.deploymentBlock}`, "not there yet", before === "0x" ? "not there yet" : "there");
  for (const [circuit, { vkey }] of Object.entries(lockOf(manifest.set).circuits))
    compare(`verification key of ${circuit}`, manifest.verificationKeys[circuit], vkey);
  return results;
}
