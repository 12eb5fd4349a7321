// A real chain and a real service in a separate process, with wallets for them. All test files of a run share both.

import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { sendCall } from "@sotto/chain/ethers";
import { type DeployedNode, startDeployedNode } from "@sotto/local/chain/node";
import type { DeploymentManifest } from "@sotto/protocol";
import { atEnd } from "@sotto/test-kit/at-end";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import {
  createSeedWords,
  MemoryStore,
  SottoService,
  type Store,
  seedFromWords,
  Wallet,
  type WalletOptions,
} from "@sotto/wallet";
import { Contract, HDNodeWallet, JsonRpcProvider, type JsonRpcSigner } from "ethers";
import { PATIENT } from "./patient.ts";
import { type ServiceChild, startServiceChild } from "./service-child.ts";
import { TrapdoorProver } from "./trapdoor-prover.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");
export const ARTIFACTS = join(ROOT, "circuits", "build");
/** Hardhat's public accounts: the first deploys, the second deposits, the third is the relayer. */
const MNEMONIC = "test test test test test test test test test test test junk";
export const accountOf = (index: number) => HDNodeWallet.fromPhrase(MNEMONIC, undefined, `m/44'/60'/0'/0/${index}`);
const TOKENS = 10n ** 15n;

export interface World extends DeploymentManifest {
  readonly node: Pick<DeployedNode, "url">;
  readonly provider: JsonRpcProvider;
  readonly depositor: JsonRpcSigner;
  readonly serviceUrl: string;
  readonly service: SottoService;
}

let shared: Promise<World> | undefined;
const ending: (() => Promise<unknown>)[] = [];

/** @param settings the settings of the service, in addition to its usual ones; the first call of a run decides */
export function openWorld(settings: Readonly<Record<string, string>> = {}): Promise<World> {
  shared ??= create(settings);
  return shared;
}

/** Closes every world of the run. */
export async function closeWorld(): Promise<void> {
  shared = undefined;
  for (let end = ending.pop(); end; end = ending.pop()) await end();
}

atEnd(closeWorld);

async function create(settings: Readonly<Record<string, string>>): Promise<World> {
  return createWorld(await startDeployedNode(), settings);
}

/**
 * Opens a world on a node of the caller's own, which is stopped after all tests of the run.
 * @param settings the settings of the service, in addition to its usual ones @param start starts the service with all its
 * settings
 */
export async function createWorld(
  node: DeployedNode,
  settings: Readonly<Record<string, string>> = {},
  start: (environment: Record<string, string>) => Promise<ServiceChild> = startServiceChild,
): Promise<World> {
  ending.push(() => node.stop());
  const { deployment } = node;
  const options = { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 };
  const provider = new JsonRpcProvider(node.url, undefined, options);
  ending.push(async () => provider.destroy());
  const depositor = await provider.getSigner(1);
  const token = new Contract(
    deployment.token,
    ["function mint(address, uint256)", "function approve(address, uint256)"],
    depositor,
  );
  await (await token.getFunction("mint")(depositor.address, TOKENS)).wait();
  await (await token.getFunction("approve")(deployment.pool, TOKENS)).wait();
  const { url: serviceUrl, close } = await start(environmentOf(deployment, node.url, settings));
  ending.push(close);
  return { ...deployment, node, provider, depositor, serviceUrl, service: new SottoService(serviceUrl) };
}

function environmentOf(
  deployment: DeploymentManifest,
  chain: string,
  settings: Readonly<Record<string, string>>,
): Record<string, string> {
  const folder = temporaryFolder("payer");
  const { privateKey } = generateKeyPairSync("ed25519");
  return {
    SOTTO_PORT: "0",
    SOTTO_CHAIN_ID: String(deployment.chainId),
    SOTTO_POOL: deployment.pool,
    SOTTO_DEPLOYMENT_BLOCK: String(deployment.deploymentBlock),
    SOTTO_RPC_URLS: chain,
    SOTTO_RELAYER_KEY: accountOf(2).privateKey,
    SOTTO_ARTIFACTS: ARTIFACTS,
    SOTTO_STORE: `sqlite:${join(folder, "service.sqlite")}`,
    SOTTO_TOKEN_KEY: JSON.stringify(privateKey.export({ format: "jwk" })),
    SOTTO_VERIFY_WORKERS: "1",
    SOTTO_RATE_LIMIT: "1000000",
    SOTTO_SETTLE_WAIT_MS: "120000",
    ...PATIENT,
    SOTTO_LOG_LEVEL: process.env["SOTTO_DEBUG"] === "1" ? "debug" : "silent",
    ...settings,
  };
}

export interface PayerOptions {
  seed?: Uint8Array;
  store?: Store;
  /** The default forges proofs with the trapdoor of the development keys. */
  prover?: NonNullable<WalletOptions["prover"]>;
  clock?: () => number;
  /** Default: the world's node. */
  chain?: WalletOptions["chain"];
}

/** Where wallets of a world are: its chain, pool and service. */
export type WorldPlace = Pick<World, "chainId" | "pool" | "token" | "deploymentBlock" | "serviceUrl"> & {
  readonly node: { readonly url: string };
};

export async function openWallet(world: WorldPlace, { prover = new TrapdoorProver(), ...options }: PayerOptions = {}) {
  const { chainId, pool, token, deploymentBlock, node } = world;
  return Wallet.open({
    chain: node.url,
    chainId: BigInt(chainId),
    pool,
    token,
    deploymentBlock,
    seed: seedFromWords(createSeedWords()),
    store: new MemoryStore(),
    finality: 0,
    prover,
    ...options,
  });
}

/** Deposits these notes for a wallet, and waits until the relayer has appended them, so that they can be spent. */
export async function fund(world: World, wallet: Wallet, amounts: bigint[]): Promise<void> {
  const { deposit } = await wallet.deposit({ amounts });
  await sendCall(world.depositor, deposit);
  const total = amounts.reduce((sum, amount) => sum + amount, 0n);
  const before = wallet.balance().spendable;
  await until(async () => {
    await wallet.scan();
    return wallet.balance().spendable - before >= total;
  });
}

/** Opens a wallet with these notes, all of them spendable. */
export async function payerWith(world: World, amounts: bigint[], options: PayerOptions = {}): Promise<Wallet> {
  const wallet = await openWallet(world, options);
  await fund(world, wallet, amounts);
  return wallet;
}

export async function until(reached: () => Promise<boolean>): Promise<void> {
  while (!(await reached())) await new Promise((resolve) => setTimeout(resolve, 60));
}
