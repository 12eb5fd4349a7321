// The deployment that the chains of one run of `npm test` share. The first chain deploys through Ignition and writes its
// signed transactions to a file. The other chains send these transactions, so that they load neither Ignition nor ethers.
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sha256, toJson, writeAtomically } from "@sotto/keys/circuits/files";
import { root } from "@sotto/keys/circuits/paths";
import type { DeploymentManifest } from "@sotto/protocol";
import type { NetworkConnection } from "hardhat/types/network";
import type { NodeBlock } from "./history.ts";

type Provider = NetworkConnection["provider"];

interface Snapshot {
  /** From {@link hashOfSources}. */
  readonly sources: string;
  readonly deployment: DeploymentManifest;
  /** Signed transactions in the order of the chain, hex with 0x. */
  readonly transactions: readonly string[];
}

/** Hash of the files that determine the deployment. */
function hashOfSources(): string {
  const compiled = globSync("artifacts/**/*.json", { cwd: root, exclude: ["artifacts/build-info"] });
  const files = [...compiled, ...globSync("ignition/**/*.ts", { cwd: root }), "circuits/artifacts.lock.json"];
  return sha256(...files.sort().flatMap((path) => [`${path}\0`, readFileSync(join(root, path))]));
}

/**
 * Deploys on a new chain, or repeats the deployment of the file.
 * @param file written after the first deployment; undefined: nothing is shared
 */
export async function deployOnce(
  provider: Provider,
  file: string | undefined,
  deploy: () => Promise<DeploymentManifest>,
): Promise<DeploymentManifest> {
  if (file === undefined) return deploy();
  const sources = hashOfSources();
  const snapshot = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Snapshot) : undefined;
  if (snapshot?.sources === sources) {
    // The accounts and nonces of new chains are the same, and so are the addresses. A reverted transaction is an error.
    for (const transaction of snapshot.transactions)
      await provider.request({ method: "eth_sendRawTransaction", params: [transaction] });
    return snapshot.deployment;
  }
  const deployment = await deploy();
  const transactions = await transactionsOf(provider);
  writeAtomically(file, toJson({ sources, deployment, transactions } satisfies Snapshot));
  return deployment;
}

/** All transactions of a chain. */
async function transactionsOf(provider: Provider): Promise<string[]> {
  const { serialize } = await import("./history.ts");
  const head = Number(await provider.request({ method: "eth_blockNumber" }));
  const transactions: string[] = [];
  for (let number = 1; number <= head; number++) {
    const params = [`0x${number.toString(16)}`, true];
    const block = (await provider.request({ method: "eth_getBlockByNumber", params })) as NodeBlock;
    transactions.push(...block.transactions.map(serialize));
  }
  return transactions;
}
