// Everybody who plays in the demo, on a real local chain and through a real service. Only the service's relayer owns ETH.
import {
  createSeedWords,
  ethersChain,
  MemoryStore,
  type Payment,
  poolInterface,
  SottoService,
  seedFromWords,
  ViewingWallet,
  Wallet,
} from "@sotto/client";
import { createProver, loadArtifacts, type Prover } from "@sotto/prover";
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
import { MINTED } from "./amounts.ts";
import { startDemoService } from "./service.ts";
import { paint, progress, type Screen } from "./terminal.ts";

const POLLING_MS = 50;
/** What the relayer begins with. */
const RELAYER_ETHER = parseEther("10");

export interface World {
  readonly screen: Screen;
  readonly provider: JsonRpcProvider;
  readonly pool: string;
  readonly poolContract: Contract;
  readonly token: Contract;
  /** The service, as payer and merchant reach it. */
  readonly service: SottoService;
  /** Of the service's relayer; its ETH before the story in wei. */
  readonly relayer: { readonly address: string; readonly ether: bigint };
  /** The seed words are all the payer has to keep; the wallet is lost and restored on the way. */
  readonly payer: { readonly account: HDNodeWallet; readonly words: string; wallet: Wallet };
  /** The owner's wallet, and the web server that holds nothing but the viewing key. */
  readonly merchant: { readonly account: HDNodeWallet; readonly wallet: Wallet; readonly server: ViewingWallet };
  /** Every transaction of the story. */
  readonly receipts: TransactionReceipt[];
  /** A payment that was made and not yet settled. */
  payment?: Payment;
  /** A wallet on an empty store: what it knows comes from the seed and the chain. */
  openWallet(words: string): Promise<Wallet>;
}

export interface Places {
  /** Port of the chain; 0 for any free one. */
  readonly port: number;
  /** Folder with the circuits' artifacts. */
  readonly artifacts: string;
}

/** What has to be ended again, last one first. */
export class Cleanup {
  readonly #actions: (() => Promise<void>)[] = [];
  add(action: () => Promise<void>): void {
    this.#actions.push(action);
  }
  async run(): Promise<void> {
    for (let action = this.#actions.pop(); action; action = this.#actions.pop()) await action();
  }
}

/**
 * Starts the chain, deploys the contracts, opens the wallets, gives the payer its dollars and the relayer its ETH, and
 * starts the service.
 * @throws CommandError PORT_BUSY, and the errors of loading artifacts, before anything else is done
 */
export async function createWorld(screen: Screen, { port, artifacts }: Places, cleanup: Cleanup): Promise<World> {
  const prover = await progress(screen, "checking the circuits' artifacts", () => openProver(artifacts));
  cleanup.add(() => prover.close());
  const node = await progress(screen, "starting a local chain", () => startNode(port));
  cleanup.add(() => node.stop());
  const deployment = await progress(screen, "deploying the contracts", () => deployLocal(node.url));
  const { chainId, pool, token, deploymentBlock } = deployment;
  const options = { staticNetwork: true, cacheTimeout: -1, pollingInterval: POLLING_MS };
  const provider = new JsonRpcProvider(node.url, undefined, options);
  cleanup.add(async () => provider.destroy());

  const place = { chain: ethersChain(provider), chainId: BigInt(chainId), pool, token, deploymentBlock };
  const openWallet = (words: string) =>
    Wallet.open({ ...place, seed: seedFromWords(words), store: new MemoryStore(), prover, finality: 0 });
  const words = createSeedWords();
  const wallet = await openWallet(createSeedWords());
  const server = await ViewingWallet.open({
    ...place,
    ...wallet.exportViewingKey(),
    store: new MemoryStore(),
    finality: 0,
  });
  const payer = { account: Account.createRandom(), words, wallet: await openWallet(words) };
  const relayer = Account.createRandom();
  const funder = await provider.getSigner(0);
  const dollar = new Contract(
    token,
    ["function mint(address, uint256)", "function balanceOf(address) view returns (uint256)"],
    funder,
  );
  await (await dollar.getFunction("mint")(payer.account.address, MINTED)).wait();
  await (await funder.sendTransaction({ to: relayer.address, value: RELAYER_ETHER })).wait();
  const serving = { deployment, chain: node.url, artifacts, relayerKey: relayer.privateKey };
  const service = await progress(screen, "starting the service", () => startDemoService(serving));
  cleanup.add(() => service.stop());
  screen.write(paint(screen, "dim", `   it listens at ${service.url} until the story ends\n`));
  return {
    screen,
    provider,
    pool,
    poolContract: new Contract(pool, poolInterface, provider),
    token: dollar,
    service: new SottoService(service.url),
    relayer: { address: service.relayer, ether: RELAYER_ETHER },
    payer,
    merchant: { account: Account.createRandom(), wallet, server },
    receipts: [],
    openWallet,
  };
}

/** Reads and checks every file now: a damaged one is found before the first transaction. */
async function openProver(directory: string): Promise<Prover> {
  const artifacts = await loadArtifacts({ directory });
  const prover = createProver(artifacts);
  for (const circuit of artifacts.circuits) await prover.warm(circuit);
  return prover;
}
