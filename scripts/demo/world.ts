// The world of the demo: a real local chain and a real service. Only the service's relayer owns ETH.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PayingFetch, poolInterface, SottoService } from "@sotto/client";
import { createProver, loadArtifacts, type Prover } from "@sotto/prover";
import type { PaywallRecipient } from "@sotto/resource-server";
import { Contract, JsonRpcProvider } from "ethers";
import { deployLocal } from "../chain/deployment.ts";
import { startNode } from "../chain/node.ts";
import { CommandError } from "../lib/command.ts";
import { type Cast, createCast, RELAYER_ETHER } from "./cast.ts";
import type { Cleanup } from "./cleanup.ts";
import { startDemoService } from "./service.ts";
import type { Shop } from "./shops-process.ts";
import { paint, progress, type Screen } from "./terminal.ts";
import { Transactions } from "./transactions.ts";
import { Wire } from "./wire.ts";

const POLLING_MS = 50;
/** The merchant's. */
export const PHONE = "+4915112345678";

export interface World extends Omit<Cast, "relayerKey"> {
  readonly screen: Screen;
  readonly cleanup: Cleanup;
  /** For files that end with the story. */
  readonly folder: string;
  readonly chain: { readonly url: string; readonly id: number };
  readonly provider: JsonRpcProvider;
  readonly pool: string;
  readonly poolContract: Contract;
  /** The service and its phone registry, as agent and merchant reach them. */
  readonly service: SottoService;
  readonly wire: Wire;
  /** Of the service's relayer; its ETH before the story in wei. */
  readonly relayer: { readonly address: string; readonly ether: bigint };
  readonly transactions: Transactions;
  /** What was sold; prices in base units. */
  readonly sales: { readonly price: bigint; readonly goods: string }[];
  /** What the story brings about: whom the shops' 402 name, the shops, and the agent's fetch. */
  recipient?: PaywallRecipient;
  shops?: readonly Shop[];
  pay?: PayingFetch;
}

export interface Places {
  /** Port of the chain; 0 for any free one. */
  readonly port: number;
  /** Folder with the circuits' artifacts. */
  readonly artifacts: string;
}

/** @throws CommandError OUT_OF_ORDER: what an earlier step brings about is not there */
export function expectThere<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new CommandError("OUT_OF_ORDER", `there is no ${what} yet`);
  return value;
}

/**
 * Starts the chain, deploys the contracts, opens the wallets and starts the service.
 * @throws CommandError PORT_BUSY, and the errors of loading artifacts, before anything else is done
 */
export async function createWorld(screen: Screen, { port, artifacts }: Places, cleanup: Cleanup): Promise<World> {
  const prover = await progress(screen, "checking the circuits' artifacts", () => openProver(artifacts));
  cleanup.add(() => prover.close());
  const node = await progress(screen, "starting a local chain", () => startNode(port));
  cleanup.add(() => node.stop());
  const deployment = await progress(screen, "deploying the contracts", () => deployLocal(node.url));
  const { chainId, pool, deploymentBlock } = deployment;
  const options = { staticNetwork: true, cacheTimeout: -1, pollingInterval: POLLING_MS };
  const provider = new JsonRpcProvider(node.url, undefined, options);
  cleanup.add(async () => provider.destroy());
  const { relayerKey, ...cast } = await createCast(provider, deployment, prover);
  const folder = await mkdtemp(join(tmpdir(), "sotto-demo-"));
  cleanup.add(() => rm(folder, { recursive: true, force: true }));
  const serving = { deployment, chain: node.url, artifacts, relayerKey, folder };
  const start = () => startDemoService(serving, cleanup);
  const service = await progress(screen, "starting the service, with its phone registry", start);
  screen.write(paint(screen, "dim", `   it listens at ${service.url} until the story ends\n`));
  const wire = new Wire();
  return {
    ...cast,
    ...{ screen, cleanup, folder, provider, pool, wire },
    chain: { url: node.url, id: chainId },
    poolContract: new Contract(pool, poolInterface, provider),
    service: new SottoService(service.url, { fetch: wire.toService }),
    relayer: { address: service.relayer, ether: RELAYER_ETHER },
    transactions: new Transactions(provider, pool, deploymentBlock),
    sales: [],
  };
}

/** Reads and checks every file now: a damaged one is found before the first transaction. */
async function openProver(directory: string): Promise<Prover> {
  const artifacts = await loadArtifacts({ directory });
  const prover = createProver(artifacts);
  for (const circuit of artifacts.circuits) await prover.warm(circuit);
  return prover;
}
