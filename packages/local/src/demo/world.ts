// Everything the demo runs on: a local chain, the service, a curator, and the wallets of a payer and a merchant. Only the relayer has
// ETH.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PayingFetch } from "@sotto/client";
import { CommandError } from "@sotto/command/command";
import { paint, progress, type Screen } from "@sotto/command/terminal";
import type { Origins } from "@sotto/origins/wallet";
import type { DeploymentManifest, MonthAddresses } from "@sotto/protocol";
import { createProver, loadArtifacts, type Prover } from "@sotto/prover";
import {
  createSeedWords,
  ethersChain,
  MemoryStore,
  poolInterface,
  SottoService,
  seedFromWords,
  ViewingWallet,
  Wallet,
} from "@sotto/wallet";
import {
  Wallet as Account,
  Contract,
  type HDNodeWallet,
  JsonRpcProvider,
  parseEther,
  type TransactionReceipt,
} from "ethers";
import { deployLocal } from "../chain/deployment.ts";
import { startNode } from "../chain/node.ts";
import { serverKeys } from "../merchant/addresses.ts";
import { MINTED } from "./amounts.ts";
import { type Cleanup, type CuratedSet, startDemoCurator, startDemoService } from "./processes.ts";
import type { ResourceServer } from "./resource-servers.ts";

const POLL_INTERVAL_MS = 50;
/** The relayer's ETH at the start. */
const RELAYER_ETHER = parseEther("10");
/** The merchant's phone number. */
export const PHONE = "+4915112345678";

interface Parties {
  readonly token: Contract;
  /** The wallet is deleted during the story and restored from the words. */
  readonly payer: { readonly account: HDNodeWallet; readonly words: string; wallet: Wallet };
  /** The owner's wallet, and a server that has only the viewing keys of this month and the last one. */
  readonly merchant: { readonly account: HDNodeWallet; readonly wallet: Wallet; readonly server: ViewingWallet };
  /** Opens a wallet on an empty store, so that it restores everything from the seed and the chain. */
  openWallet(words: string): Promise<Wallet>;
}

export interface World extends Parties {
  readonly screen: Screen;
  readonly cleanup: Cleanup;
  /** Folder for files that are deleted at the end. */
  readonly folder: string;
  readonly chain: { readonly url: string; readonly id: number };
  readonly provider: JsonRpcProvider;
  readonly pool: string;
  readonly poolContract: Contract;
  /** Folder with the circuits' artifacts. */
  readonly artifacts: string;
  /** The curator's set. */
  readonly set: CuratedSet;
  /** The service and its phone registry, as payer and merchant reach them. */
  readonly service: SottoService;
  readonly wire: Wire;
  /** The service's relayer, with its ETH at the start in wei. */
  readonly relayer: { readonly address: string; readonly ether: bigint };
  readonly transactions: Transactions;
  /** Every paid request, with its price in base units. */
  readonly sales: { readonly price: bigint; readonly goods: string }[];
  /** Value of the prepaid tokens that were bought, and what was paid with them, base units. */
  readonly prepaid: { bought: bigint; spent: bigint };
  /** What the payer moved into and out of the pool after its first deposit, base units. */
  readonly moved: { in: bigint; out: bigint };
  /** Set by the story: the addresses that a 402 names, the resource servers, and the payer's fetch. */
  addresses?: MonthAddresses;
  servers?: readonly ResourceServer[];
  pay?: PayingFetch;
  /** The payer's follower of the curator's set, set by the story. */
  origins?: Origins;
}

/** @throws CommandError OUT_OF_ORDER if an earlier step has not set the value */
export function assertSet<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new CommandError("OUT_OF_ORDER", `an earlier step has not made the ${what}`);
  return value;
}

export interface WorldOptions {
  /** Port of the chain; 0 for any free port. */
  readonly port: number;
  /** Folder with the circuits' artifacts. */
  readonly artifacts: string;
}

/**
 * Starts the chain, deploys the contracts, opens the wallets and starts the service.
 * @throws CommandError PORT_BUSY; errors of loading artifacts, which come before anything is started
 */
export async function createWorld(screen: Screen, { port, artifacts }: WorldOptions, cleanup: Cleanup): Promise<World> {
  const prover = await progress(screen, "checking the circuits' artifacts", () => openProver(artifacts));
  cleanup.add(() => prover.close());
  const node = await progress(screen, "starting a local chain", () => startNode(port));
  cleanup.add(() => node.stop());
  const deployment = await progress(screen, "deploying the contracts", () => deployLocal(node.url));
  const { chainId, pool, deploymentBlock } = deployment;
  const options = { staticNetwork: true, cacheTimeout: -1, pollingInterval: POLL_INTERVAL_MS };
  const provider = new JsonRpcProvider(node.url, undefined, options);
  cleanup.add(async () => provider.destroy());
  const { relayerKey, ...parties } = await createParties(provider, deployment, prover);
  const folder = await mkdtemp(join(tmpdir(), "sotto-demo-"));
  // A process that is being stopped may still write a file.
  cleanup.add(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const common = { deployment, chain: node.url, artifacts, folder };
  const accepted = parties.payer.account.address;
  const [service, set] = await progress(screen, "starting the service, its phone registry and a curator", () =>
    Promise.all([
      startDemoService({ ...common, relayerKey }, cleanup),
      startDemoCurator({ ...common, accepted }, cleanup),
    ]),
  );
  screen.write(paint(screen, "dim", `   it listens at ${service.url}\n`));
  const wire = new Wire();
  return {
    ...parties,
    screen,
    cleanup,
    folder,
    provider,
    pool,
    artifacts,
    set,
    wire,
    chain: { url: node.url, id: chainId },
    poolContract: new Contract(pool, poolInterface, provider),
    service: new SottoService(service.url, { fetch: wire.toService }),
    relayer: { address: service.relayer, ether: RELAYER_ETHER },
    transactions: new Transactions(provider, service.relayer, deploymentBlock),
    sales: [],
    prepaid: { bought: 0n, spent: 0n },
    moved: { in: 0n, out: 0n },
  };
}

/** Reads every artifact now, so that a damaged file is reported before the first transaction. */
async function openProver(folder: string): Promise<Prover> {
  const artifacts = await loadArtifacts({ folder });
  const prover = createProver(artifacts);
  for (const circuit of artifacts.circuits) await prover.warm(circuit);
  return prover;
}

/** Opens the wallets, mints the payer's tokens and sends the relayer its ETH. */
async function createParties(
  provider: JsonRpcProvider,
  manifest: DeploymentManifest,
  prover: Prover,
): Promise<Parties & { readonly relayerKey: string }> {
  const { chainId, pool, token, deploymentBlock } = manifest;
  const chain = ethersChain(provider);
  const deployment = { chain, chainId: BigInt(chainId), pool, token, deploymentBlock, finality: 0 };
  const openWallet = (words: string) =>
    Wallet.open({ ...deployment, seed: seedFromWords(words), store: new MemoryStore(), prover });
  const words = createSeedWords();
  const wallet = await openWallet(createSeedWords());
  const server = await ViewingWallet.open({
    ...deployment,
    keys: serverKeys(wallet),
    store: new MemoryStore(),
  });
  const payer = { account: Account.createRandom(), words, wallet: await openWallet(words) };
  const relayer = Account.createRandom();
  const funder = await provider.getSigner(0);
  const abi = ["function mint(address, uint256)", "function balanceOf(address) view returns (uint256)"];
  const dollar = new Contract(token, abi, funder);
  await (await dollar.getFunction("mint")(payer.account.address, MINTED)).wait();
  await (await funder.sendTransaction({ to: relayer.address, value: RELAYER_ETHER })).wait();
  const merchant = { account: Account.createRandom(), wallet, server };
  return { token: dollar, relayerKey: relayer.privateKey, payer, merchant, openWallet };
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** The JSON body of a POST. */
  readonly body: unknown;
}

/** Records the requests to the service and the proofs shown to resource servers. */
export class Wire {
  /** Every request to the service, oldest first. */
  readonly seen: SeenRequest[] = [];
  /** The last proof header shown to a resource server. */
  proof: string | undefined;
  #taken = 0;

  readonly toService: typeof fetch = (input, init) => {
    const { method, url } = new Request(input, init);
    const body: unknown = typeof init?.body === "string" ? JSON.parse(init.body) : undefined;
    this.seen.push({ method, path: decodeURIComponent(new URL(url).pathname), body });
    return fetch(input, init);
  };

  readonly toServers: typeof fetch = (input, init) => {
    const { headers } = new Request(input, init);
    this.proof = headers.get("x-payment-proof") ?? this.proof;
    return fetch(input, init);
  };

  /** @returns the requests to the service since the last call */
  takeNew(): SeenRequest[] {
    const requests = this.seen.slice(this.#taken);
    this.#taken = this.seen.length;
    return requests;
  }
}

/** The relayer's transactions, which are all of the story: it also submits the payer's deposits. */
export class Transactions {
  /** All so far, in the order of the chain. */
  readonly receipts: TransactionReceipt[] = [];
  readonly #provider: Pick<JsonRpcProvider, "getBlockNumber" | "getBlock" | "getTransactionReceipt">;
  readonly #relayer: string;
  #block: number;

  /** @param block the last block before the story */
  constructor(
    provider: Pick<JsonRpcProvider, "getBlockNumber" | "getBlock" | "getTransactionReceipt">,
    relayer: string,
    block: number,
  ) {
    this.#provider = provider;
    this.#relayer = relayer.toLowerCase();
    this.#block = block;
  }

  /** The last block read. */
  get block(): number {
    return this.#block;
  }

  /** Reads the new blocks. @returns the receipts in them, also of transactions that reverted */
  async readNew(): Promise<TransactionReceipt[]> {
    const toBlock = await this.#provider.getBlockNumber();
    const numbers = Array.from({ length: Math.max(0, toBlock - this.#block) }, (_, index) => this.#block + 1 + index);
    const blocks = await Promise.all(numbers.map((number) => this.#provider.getBlock(number, true)));
    const all = blocks.flatMap((block) => block?.prefetchedTransactions ?? []);
    const sent = all.filter(({ from }) => from.toLowerCase() === this.#relayer);
    const found = await Promise.all(sent.map(({ hash }) => this.#provider.getTransactionReceipt(hash)));
    const receipts = found.filter((receipt) => receipt !== null);
    this.#block = Math.max(this.#block, toBlock);
    this.receipts.push(...receipts);
    return receipts;
  }
}
