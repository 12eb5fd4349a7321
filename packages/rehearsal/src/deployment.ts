// The chain with a foreign id, the deployment on it, and its check.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { say } from "@sotto/command/terminal";
import { type LocalNode, startNode } from "@sotto/local/chain/node";
import { type DeploymentManifest, parseDeployment, REHEARSAL_CHAIN_ID } from "@sotto/protocol";
import { Wallet as Account, JsonRpcProvider, parseEther, toQuantity } from "ethers";
import { SET } from "./ceremony.ts";
import { npmRun } from "./programs.ts";
import type { Rehearsal } from "./rehearsal.ts";

/** Milliseconds between blocks. */
export const BLOCK_TIME_MS = 1_000;
/** A chain of real value, on which nothing of a rehearsal may run. */
const REAL_CHAIN_ID = 8453;
const NETWORK = "rehearsal";
/** The first account of Hardhat and Anvil, whose key is public. */
export const PUBLIC_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

export interface Chain {
  readonly url: string;
  readonly provider: JsonRpcProvider;
  /** Gives an account ETH. */
  fund(account: string): Promise<void>;
}

/** @returns a chain on which only the accounts of the rehearsal have ETH */
export async function startChain({ screen, lifetime }: Rehearsal): Promise<Chain> {
  const node = await open(lifetime, Number(REHEARSAL_CHAIN_ID));
  say(screen, `A chain with the id ${REHEARSAL_CHAIN_ID}, a block each second, and no account with ETH.`);
  const provider = new JsonRpcProvider(node.url, undefined, { staticNetwork: true, cacheTimeout: -1 });
  lifetime.atEnd(() => provider.destroy());
  const fund = async (account: string): Promise<void> => {
    await provider.send("hardhat_setBalance", [account, toQuantity(parseEther("10"))]);
  };
  return { url: node.url, provider, fund };
}

async function open(lifetime: Rehearsal["lifetime"], chainId: number): Promise<LocalNode> {
  const node = await startNode(0, { chainId, blockTimeMs: BLOCK_TIME_MS, isFunded: false });
  lifetime.atEnd(() => node.stop());
  return node;
}

/** Deploys with `deploy:network` in production mode, and checks the deployment. @throws CommandError REHEARSAL_FAILED */
export async function deploy(
  { lifetime, copy, programs }: Rehearsal,
  chain: Chain,
): Promise<{ readonly manifest: DeploymentManifest; readonly path: string }> {
  const path = join("deployments", `${NETWORK}.json`);
  for (const left of [path, join("ignition", "deployments"), join(".sotto", "deployments")])
    rmSync(join(copy, left), { recursive: true, force: true });
  const deployer = Account.createRandom();
  await chain.fund(deployer.address);
  const settings = (SOTTO_DEPLOY_RPC_URL: string, SOTTO_DEPLOYER_KEY = deployer.privateKey) => ({
    NODE_ENV: "production",
    SOTTO_DEPLOY_RPC_URL,
    SOTTO_DEPLOYER_KEY,
  });
  const command = ["deploy:network", "--network", NETWORK, "--test-token", "yes"] as const;
  const withSet = npmRun(...command, "--set", SET);
  await programs.refused(
    "development keys on this chain",
    ["DEVELOPMENT_KEYS_REFUSED"],
    npmRun(...command),
    settings(chain.url),
  );
  const real = await open(lifetime, REAL_CHAIN_ID);
  await programs.refused(
    `the rehearsal's keys on chain ${REAL_CHAIN_ID}`,
    ["DEVELOPMENT_KEYS_REFUSED"],
    withSet,
    settings(real.url),
  );
  await real.stop();
  await programs.refused(
    "a public account as the deployer",
    ["SETTING_INVALID", "public account"],
    withSet,
    settings(chain.url, PUBLIC_KEY),
  );
  await programs.refused(
    "a deployer without ETH",
    ["NO_FUNDS"],
    withSet,
    settings(chain.url, Account.createRandom().privateKey),
  );
  await programs.run(withSet, settings(chain.url));
  const check = npmRun("check:deployment", "--network", NETWORK, "--rpc", chain.url);
  await programs.run(check, { NODE_ENV: "production" });
  return { manifest: parseDeployment(JSON.parse(readFileSync(join(copy, path), "utf8"))), path };
}
