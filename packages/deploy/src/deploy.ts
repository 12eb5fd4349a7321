// Deploys a pool through Ignition, which records each transaction before sending it: an interrupted deployment is resumed,
// and nothing is deployed twice.
import { existsSync, readFileSync } from "node:fs";
import type {} from "@nomicfoundation/hardhat-ignition-ethers";
import { CommandError } from "@sotto/command/command";
import {
  type Address,
  DEPLOYMENT_CONTRACTS,
  type DeployedContract,
  type DeploymentContract,
  type DeploymentManifest,
  parseAddress,
  parseDeployment,
} from "@sotto/protocol";
import { assertAllowedOnChain, lockOf } from "@sotto/prover";
import { keccak256 } from "ethers";
import type { NetworkConnection } from "hardhat/types/network";
import { localShieldedPool } from "../../../ignition/modules/LocalShieldedPool.ts";
import { shieldedPool } from "../../../ignition/modules/ShieldedPool.ts";
import type {} from "../../../types/ethers-contracts/hardhat.d.ts";
import { deployResumably } from "./lost-transactions.ts";
import { journalOf } from "./manifest-paths.ts";
import { assertSuitable, assertToken, chainIdOf, deployerOf, explain } from "./preflight.ts";

export interface DeployOptions {
  /** Name of the deployment, its journal and its manifest. */
  readonly network: string;
  readonly set: string;
  /** Address of an existing token; undefined deploys a test dollar. */
  readonly token: string | undefined;
  /** In base units; default: 10,000. */
  readonly smallestDeposit?: bigint | undefined;
  /** The node's name in errors. */
  readonly node?: string | undefined;
  /** Whether Ignition shows its progress. */
  readonly displayUi?: boolean;
  /** Called before each step. */
  readonly report?: (line: string) => void;
}

/**
 * @throws CommandError SETTING_INVALID, NODE_UNREACHABLE, CHAIN_UNSUITABLE, NO_FUNDS, TOKEN_INVALID, TRANSACTION_LOST,
 * DEPLOYMENT_FAILED; SottoError DEVELOPMENT_KEYS_REFUSED, ARTIFACT_SET_UNKNOWN, INVALID_ADDRESS
 */
export async function deployPool(connection: NetworkConnection, options: DeployOptions): Promise<DeploymentManifest> {
  try {
    return await deploy(connection, options);
  } catch (error) {
    throw explain(error);
  }
}

async function deploy(connection: NetworkConnection, options: DeployOptions): Promise<DeploymentManifest> {
  const { network, set, token, smallestDeposit, node = "SOTTO_DEPLOY_RPC_URL", displayUi = false, report } = options;
  const lock = lockOf(set);
  const given = token === undefined ? undefined : parseAddress(token, "token");
  const chainId = await chainIdOf(connection, node);
  // The verifiers' constructors check this too, but only after gas was spent.
  assertAllowedOnChain(lock, chainId, process.env["NODE_ENV"] === "production");
  const { account, balance } = await deployerOf(connection, chainId);
  for (const warning of await assertSuitable(connection)) report?.(warning);
  if (given !== undefined) for (const line of await assertToken(connection, given, chainId)) report?.(line);
  report?.(`deploying on chain ${chainId} from ${account}, which has ${balance} ETH`);
  const module = given === undefined ? localShieldedPool(set) : shieldedPool(set);
  const parameters = {
    [module.id]: {
      ...(given === undefined ? {} : { token: given }),
      ...(smallestDeposit === undefined ? {} : { smallestDeposit }),
    },
  };
  const settings = { deploymentId: network, parameters, displayUi };
  const run = () => connection.ignition.deploy(module, settings);
  const deployed = await deployResumably(connection.provider, journalOf(network), run);
  const pool = await connection.ethers.getContractAt("ShieldedPool", await deployed.pool.getAddress());
  if ((await codeAt(connection, parseAddress(await pool.getAddress()))) === "0x")
    throw new CommandError(
      "POOL_GONE",
      `${journalOf(network)} belongs to a chain that has been restarted; remove its folder`,
    );
  const addresses: Record<DeploymentContract, string> = {
    pool: await pool.getAddress(),
    paymentVerifier: await pool.paymentVerifier(),
    withdrawalVerifier: await pool.withdrawalVerifier(),
    noteAppendVerifier: await pool.noteAppendVerifier(),
    noteHasher: await pool.noteHasher(),
  };
  const contracts: Partial<Record<DeploymentContract, DeployedContract>> = {};
  for (const name of DEPLOYMENT_CONTRACTS) {
    const address = parseAddress(addresses[name]);
    contracts[name] = { address, codeHash: keccak256(await codeAt(connection, address)) };
  }
  return parseDeployment({
    version: 1,
    network,
    set,
    chainId,
    pool: contracts.pool!.address,
    // The requested values, so that the later check detects a pool with different ones.
    token: given ?? parseAddress(await pool.token()),
    deploymentBlock: blockBefore(network),
    smallestDeposit: String(smallestDeposit ?? (await pool.smallestDeposit())),
    contracts,
    verificationKeys: Object.fromEntries(Object.entries(lock.circuits).map(([name, { vkey }]) => [name, vkey])),
  });
}

const codeAt = async ({ provider }: NetworkConnection, address: Address): Promise<string> =>
  String(await provider.request({ method: "eth_getCode", params: [address, "latest"] }));

/** The block before the pool's, from Ignition's journal. */
function blockBefore(network: string): number {
  const path = journalOf(network);
  const blocks = (existsSync(path) ? readFileSync(path, "utf8").split("\n") : [])
    .filter((line) => line.includes('"TRANSACTION_CONFIRM"') && line.includes('ShieldedPool#ShieldedPool"'))
    .map((line) => (JSON.parse(line) as { receipt: { blockNumber: number } }).receipt.blockNumber);
  const first = Math.min(...blocks);
  if (!Number.isFinite(first))
    throw new CommandError(
      "JOURNAL_DAMAGED",
      `${path} has no confirmed transaction of the pool; remove its folder and deploy again`,
    );
  return Math.max(0, first - 1);
}
