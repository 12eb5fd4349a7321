// A real local chain and the real service as a process. All test files of this folder share them, because starting them
// takes longer than most tests.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { toJson, writeAtomically } from "@sotto/keys/circuits/files";
import { type DeployedNode, startDeployedNode } from "@sotto/local/chain/node";
import type { DeploymentManifest } from "@sotto/protocol";
import { atEnd } from "@sotto/test-kit/at-end";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { PATIENT } from "@sotto/test-world/patient";
import { artifacts, relayerKey } from "@sotto/test-world/service";
import { type ServiceChild, startServiceChild } from "@sotto/test-world/service-child";
import { Wallet as Account, Contract, JsonRpcProvider } from "ethers";
import { Cli } from "./cli.ts";

export interface CliWorld extends DeploymentManifest {
  readonly node: Pick<DeployedNode, "url">;
  readonly provider: JsonRpcProvider;
  readonly service: ServiceChild;
  /** Path of the JSON file that deploy:local writes. */
  readonly deploymentFile: string;
  /** Path of the file to which the registry writes its codes. */
  readonly codes: string;
}

/** The chain and the pool for which the wallets derive their keys. */
export const placeOf = ({ chainId, pool }: CliWorld) => ({ chainId: BigInt(chainId), pool });

let shared: Promise<CliWorld> | undefined;
const ending: (() => Promise<unknown>)[] = [];

export function openCliWorld(): Promise<CliWorld> {
  shared ??= startDeployedNode().then(createCliWorld);
  return shared;
}

/** Starts a service on a node of the caller's own. Both end after all tests of the folder. */
export async function createCliWorld(node: DeployedNode): Promise<CliWorld> {
  ending.push(() => node.stop());
  const { deployment } = node;
  const folder = temporaryFolder("cli-world");
  const deploymentFile = join(folder, "deployment.json");
  writeAtomically(deploymentFile, toJson(deployment));
  const codes = join(folder, "codes.jsonl");
  const service = await startServiceChild({
    ...PATIENT,
    SOTTO_PORT: "0",
    SOTTO_CHAIN_ID: String(deployment.chainId),
    SOTTO_POOL: deployment.pool,
    SOTTO_DEPLOYMENT_BLOCK: String(deployment.deploymentBlock),
    SOTTO_RPC_URLS: node.url,
    SOTTO_RELAYER_KEY: relayerKey(),
    SOTTO_ARTIFACTS: artifacts,
    SOTTO_STORE: "sqlite::memory:",
    SOTTO_TOKEN_KEYS: join(folder, "keys"),
    SOTTO_RATE_LIMIT: "100000",
    SOTTO_VERIFY_WORKERS: "1",
    SOTTO_SETTLE_WAIT_MS: "120000",
    SOTTO_LOG_LEVEL: "error",
    SOTTO_PHONE_REGISTRY: "on",
    SOTTO_PHONE_SENDER: "file",
    SOTTO_PHONE_CODE_FILE: codes,
    SOTTO_PHONE_KEYS: join(folder, "phone-keys"),
    SOTTO_PHONE_STORE: `sqlite:${join(folder, "phone.sqlite")}`,
  });
  ending.push(() => service.close());
  const options = { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 };
  const provider = new JsonRpcProvider(node.url, undefined, options);
  ending.push(async () => provider.destroy());
  return { ...deployment, node, provider, service, deploymentFile, codes };
}

atEnd(async () => {
  for (let end = ending.pop(); end; end = ending.pop()) await end();
});

const TOKEN = ["function mint(address, uint256)", "function balanceOf(address) view returns (uint256)"];

/** Balance of an account in base units of the test dollar. */
export async function tokensOf({ provider, token }: CliWorld, account: string): Promise<bigint> {
  return new Contract(token, TOKEN, provider).getFunction("balanceOf")(account) as Promise<bigint>;
}

/** Opens a wallet with its own account, which has tokens but no ETH. */
export async function openCli(world: CliWorld, tokens = 1_000_000_000n): Promise<Cli & { account: string }> {
  const account = Account.createRandom();
  if (tokens > 0n) {
    const minter = new Contract(world.token, TOKEN, await world.provider.getSigner(0));
    await (await minter.getFunction("mint")(account.address, tokens)).wait();
  }
  const cli = new Cli({ SOTTO_ACCOUNT_KEY: account.privateKey });
  await cli.json(initArguments(world));
  cli.learnSecrets();
  return Object.assign(cli, { account: account.address.toLowerCase() });
}

/** The part of a world that `sotto init` needs. */
interface InitWorld extends Pick<CliWorld, "node" | "deploymentFile"> {
  readonly service: Pick<ServiceChild, "url">;
}

export function initArguments({ node, service, deploymentFile }: InitWorld): string[] {
  return [
    "init",
    "--deployment",
    deploymentFile,
    "--rpc",
    node.url,
    "--service",
    service.url,
    "--artifacts",
    artifacts,
  ];
}

export interface Server {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a server on a free port. */
export async function listen(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
