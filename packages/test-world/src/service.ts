// A real local chain with a pool, and services on it. All test files of a run share one chain, because starting it takes
// longer than most tests.

import { join } from "node:path";
import { type ContractCall, depositCall, sendCall } from "@sotto/chain/ethers";
import { type LocalNode, startDeployedNode } from "@sotto/local/chain/node";
import { type DeploymentManifest, NoteTree, shieldedPoolAbi } from "@sotto/protocol";
import { EXTENSIONS } from "@sotto/service";
import { atEnd } from "@sotto/test-kit/at-end";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { appendDeposit, forgingProver } from "@sotto/test-pool/append";
import { createLog, type RunningService, readConfig, startService } from "@sotto/verifier-service";
import { Contract, HDNodeWallet, JsonRpcProvider, type JsonRpcSigner, type TransactionReceipt } from "ethers";
import { PATIENT } from "./patient.ts";

export const artifacts = join(import.meta.dirname, "..", "..", "..", "circuits", "build");
/** Mnemonic of Hardhat's public accounts: the first deploys, the second deposits, the others are relayers. */
const MNEMONIC = "test test test test test test test test test test test junk";
const FIRST_RELAYER = 2;
const RELAYERS = 18;
let relayers = 0;
let accounts: HDNodeWallet | undefined;

/** The key of the next relayer. Services with separate stores must not share an account, because each counts its nonces. */
export function relayerKey(): string {
  const index = FIRST_RELAYER + (relayers++ % RELAYERS);
  accounts ??= HDNodeWallet.fromPhrase(MNEMONIC, undefined, "m/44'/60'/0'/0");
  return accounts.deriveChild(index).privateKey;
}

export interface World extends DeploymentManifest {
  readonly node: LocalNode;
  readonly provider: JsonRpcProvider;
  /** An account that has tokens and has approved the pool. */
  readonly depositor: JsonRpcSigner;
  /** Sends a call from the depositor, and waits until it is mined. */
  readonly send: (call: ContractCall) => Promise<TransactionReceipt>;
  readonly tokenContract: Contract;
  readonly poolContract: Contract;
  /** A root that the pool knows. */
  readonly root: bigint;
}

const TOKENS = 10n ** 15n;
const TOKEN = [
  "function mint(address, uint256)",
  "function approve(address, uint256)",
  "function balanceOf(address) view returns (uint256)",
];

let shared: Promise<World> | undefined;

/** Opens the chain that all tests of the run share. */
export function openWorld(): Promise<World> {
  shared ??= createOwnWorld();
  return shared;
}

/** Opens a chain of its own, whose time a test can change. The caller stops it. */
export async function createOwnWorld(): Promise<World> {
  const node = await startDeployedNode();
  const { deployment } = node;
  const options = { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 };
  const provider = new JsonRpcProvider(node.url, undefined, options);
  const depositor = await provider.getSigner(1);
  const tokenContract = new Contract(deployment.token, TOKEN, depositor);
  const poolContract = new Contract(deployment.pool, shieldedPoolAbi, depositor);
  await (await tokenContract.getFunction("mint")(depositor.address, TOKENS)).wait();
  await (await tokenContract.getFunction("approve")(deployment.pool, TOKENS)).wait();
  const send = (call: ContractCall) => sendCall(depositor, call);
  const deposited = await send(depositCall(deployment.pool, [1n], [1_000_000n]));
  const place = { chainId: BigInt(deployment.chainId), pool: deployment.pool };
  const root = await appendDeposit(poolContract, place, new NoteTree(), deposited);
  return { ...deployment, node, provider, depositor, send, tokenContract, poolContract, root };
}

export interface TestService extends RunningService {
  /** Every line that the service logged. */
  readonly logged: string[];
  readonly folder: string;
}

/**
 * Starts a service, with its own store and token keys. It forges the proofs of its appends.
 * @param settings environment variables in addition to those that describe the chain
 * @param clock returns the current time, ms
 * @param on default: the shared chain
 */
export async function openService(
  settings: Record<string, string> = {},
  clock: () => number = Date.now,
  on: Promise<World> | World = openWorld(),
): Promise<TestService> {
  const world = await on;
  const folder = temporaryFolder("service");
  const logged: string[] = [];
  const config = readConfig({ ...environment(world, folder), ...settings }, EXTENSIONS);
  const log = createLog("debug", { write: (line: string) => void logged.push(line) });
  const service = await startService(config, log, { clock, prover: forgingProver });
  const close = async () => {
    await service.close();
  };
  return { ...service, close, logged, folder };
}

export function environment(world: World, folder: string): Record<string, string> {
  return {
    SOTTO_PORT: "0",
    SOTTO_CHAIN_ID: String(world.chainId),
    SOTTO_POOL: world.pool,
    SOTTO_DEPLOYMENT_BLOCK: String(world.deploymentBlock),
    SOTTO_RPC_URLS: world.node.url,
    SOTTO_RELAYER_KEY: relayerKey(),
    SOTTO_ARTIFACTS: artifacts,
    SOTTO_STORE: `sqlite:${join(folder, "store.sqlite")}`,
    SOTTO_TOKEN_KEYS: join(folder, "keys"),
    SOTTO_RATE_LIMIT: "100000",
    SOTTO_SETTLE_WAIT_MS: "120000",
    SOTTO_VERIFY_WORKERS: "1",
    // Proving an append takes longer than anything else, and these tests never spend the notes of a payment.
    SOTTO_APPEND_AFTER_MS: "600000",
    ...PATIENT,
  };
}

/** Stops the chain after all tests of the run. */
export async function closeWorld(): Promise<void> {
  if (shared === undefined) return;
  const { provider, node } = await shared;
  shared = undefined;
  provider.destroy();
  await node.stop();
}

atEnd(closeWorld);
