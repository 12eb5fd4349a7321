// Deploys the test dollar and a pool for it on a local chain, and remembers where.
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type {} from "@nomicfoundation/hardhat-ignition-ethers";
import hre from "hardhat";
import LocalShieldedPool from "../../ignition/modules/LocalShieldedPool.ts";
import { CommandError } from "../lib/command.ts";

export const LOCAL_CHAIN_ID = 31337n;

/** Where wallets find the pool. Addresses in lower-case hex. */
export interface LocalDeployment {
  readonly chainId: number;
  readonly pool: string;
  readonly token: string;
  /** Block after which the pool's events begin. */
  readonly deploymentBlock: number;
}

export const deploymentFile = join(import.meta.dirname, "..", "..", ".sotto", "deployment.json");

/** One JSON-RPC question. @throws CommandError NODE_UNREACHABLE, NODE_ERROR */
async function ask(url: string, method: string): Promise<bigint> {
  let response: Response;
  try {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] });
    response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  } catch {
    throw new CommandError("NODE_UNREACHABLE", `no chain answers at ${url}; start one with pnpm chain`);
  }
  const { result } = (await response.json().catch(() => ({}))) as { result?: unknown };
  if (typeof result !== "string" || !/^0x[0-9a-f]+$/i.test(result))
    throw new CommandError("NODE_ERROR", `what answers at ${url} is not a JSON-RPC node`);
  return BigInt(result);
}

/**
 * Deploys through the Ignition module that the contract tests use.
 * @param url JSON-RPC endpoint of a local chain with Hardhat's unlocked accounts
 * @throws CommandError INVALID_URL, NODE_UNREACHABLE, NODE_ERROR, WRONG_CHAIN
 */
export async function deployLocal(url: string): Promise<LocalDeployment> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CommandError("INVALID_URL", `"${url}" is not an http address of a JSON-RPC node`);
  const chainId = await ask(url, "eth_chainId");
  if (chainId !== LOCAL_CHAIN_ID)
    throw new CommandError(
      "WRONG_CHAIN",
      `the node at ${url} is on chain ${chainId}; development keys belong on the local chain ${LOCAL_CHAIN_ID} alone`,
    );
  const block = await ask(url, "eth_blockNumber");
  const connection = await hre.network.create({ network: "localhost", override: { url } });
  // Ignition's journal would outlive the chain it is about, so it gets a name of its own and goes.
  const deploymentId = `local-${randomUUID()}`;
  try {
    const { pool, token } = await connection.ignition.deploy(LocalShieldedPool, { deploymentId });
    const address = async (contract: { getAddress(): Promise<string> }) => (await contract.getAddress()).toLowerCase();
    return {
      chainId: Number(chainId),
      pool: await address(pool),
      token: await address(token),
      deploymentBlock: Number(block),
    };
  } finally {
    await connection.close();
    rmSync(join(hre.config.paths.ignition, "deployments", deploymentId), { recursive: true, force: true });
  }
}

export function saveDeployment(deployment: LocalDeployment, file = deploymentFile): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(deployment, null, 2)}\n`);
}
