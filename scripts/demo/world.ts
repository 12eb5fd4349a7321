// Everybody who plays in the demo, on a real local chain. Only the relayer owns ETH.
import {
  createSeedWords,
  ethersChain,
  MemoryStore,
  NoteAppender,
  type Payment,
  seedFromWords,
  ViewingWallet,
  Wallet,
} from "@sotto/client";
import { createProver, createVerifier, loadArtifacts, type Prover, type Verifier } from "@sotto/prover";
import {
  Wallet as Account,
  Contract,
  type HDNodeWallet,
  JsonRpcProvider,
  type Signer,
  type TransactionReceipt,
} from "ethers";
import { deployLocal } from "../chain/deployment.ts";
import { startNode } from "../chain/node.ts";
import { MINTED } from "./amounts.ts";
import { progress, type Screen } from "./terminal.ts";

const POLLING_MS = 50;

export interface World {
  readonly screen: Screen;
  readonly provider: JsonRpcProvider;
  readonly pool: string;
  readonly token: Contract;
  readonly verifier: Verifier;
  readonly relayer: { readonly signer: Signer; readonly address: string; readonly appender: NoteAppender };
  /** The seed words are all the payer has to keep; the wallet is lost and restored on the way. */
  readonly payer: { readonly account: HDNodeWallet; readonly words: string; wallet: Wallet };
  /** The owner's wallet, and the web server that holds nothing but the viewing key. */
  readonly merchant: { readonly account: HDNodeWallet; readonly wallet: Wallet; readonly server: ViewingWallet };
  /** Every transaction of the story. */
  readonly receipts: TransactionReceipt[];
  /** The relayer's ETH before the story, wei. */
  readonly relayerStart: bigint;
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
 * Starts the chain, deploys the contracts, opens the wallets and gives the payer its dollars.
 * @throws CommandError PORT_BUSY, and the errors of loading artifacts, before anything else is done
 */
export async function createWorld(screen: Screen, { port, artifacts }: Places, cleanup: Cleanup): Promise<World> {
  const prover = await progress(screen, "checking the circuits' artifacts", () => openProver(artifacts));
  cleanup.add(() => prover.close());
  const node = await progress(screen, "starting a local chain", () => startNode(port));
  cleanup.add(() => node.stop());
  const { chainId, pool, token, deploymentBlock } = await progress(screen, "deploying the contracts", () =>
    deployLocal(node.url),
  );
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
  const appender = await NoteAppender.open({ ...place, store: new MemoryStore(), prover });
  const signer = await provider.getSigner(0);
  const payer = { account: Account.createRandom(), words, wallet: await openWallet(words) };
  const dollar = new Contract(
    token,
    ["function mint(address, uint256)", "function balanceOf(address) view returns (uint256)"],
    signer,
  );
  const minting = await dollar.getFunction("mint")(payer.account.address, MINTED);
  await minting.wait();
  return {
    screen,
    provider,
    pool,
    token: dollar,
    verifier: createVerifier({ artifacts: prover.artifacts, engine: prover.engine }),
    relayer: { signer, address: signer.address, appender },
    payer,
    merchant: { account: Account.createRandom(), wallet, server },
    receipts: [],
    relayerStart: await provider.getBalance(signer.address),
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
