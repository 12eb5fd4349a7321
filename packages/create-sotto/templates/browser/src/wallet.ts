import { LOCAL_CHAIN_IDS } from "@sotto/protocol";
import { createSeedWords, SottoService, type Wallet } from "@sotto/wallet";
import { openWallet } from "@sotto/wallet/browser";
import { Wallet as Account } from "ethers";
import { faucet, node, service } from "./settings.ts";

/** Amounts of the first deposit's notes, base units. */
const NOTES = [5_000_000n, 5_000_000n];
const WORDS = "words";

/**
 * The 24 words that restore the wallet. This page keeps them readable in the browser, which is enough for test tokens:
 * a wallet with real tokens encrypts the words.
 */
function readWords(): string {
  const words = localStorage.getItem(WORDS) ?? createSeedWords();
  localStorage.setItem(WORDS, words);
  return words;
}

/** Opens the wallet of this browser, and fills an empty one from the faucet. */
export async function open(tell: (text: string) => void): Promise<Wallet> {
  const deployment = await new SottoService(service).deployment();
  // Another service could name a pool of its own. For a real pool, build its manifest into the page.
  if (!LOCAL_CHAIN_IDS.includes(BigInt(deployment.chainId)))
    throw new Error(`chain ${deployment.chainId} is not local`);
  const prover = new Worker(new URL("./prover.ts", import.meta.url), { type: "module" });
  const onDownload = ({ circuit }: { circuit: string }) => tell(`Downloading the files of the circuit ${circuit}.`);
  const wallet = await openWallet({ deployment, words: readWords(), nodes: node, service, prover, onDownload });
  await wallet.scan();
  if (wallet.balance().total === 0n) {
    tell("Depositing test tokens.");
    const account = Account.createRandom();
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ address: account.address });
    const response = await fetch(faucet, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`the faucet answers ${response.status}`);
    await wallet.fund({ amounts: NOTES, account });
  }
  return wallet;
}
