import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSeedWords, type Wallet } from "@sotto/wallet";
import { openWallet } from "@sotto/wallet/node";
import { Wallet as Account } from "ethers";
import { isLocal, readDeployment } from "./deployment.ts";
import { faucet, folder, nodes, service } from "./settings.ts";

/**
 * Amounts of the first deposit's notes, base units. Each payment spends one note and returns the change as a new note.
 */
const NOTES = [5_000_000n, 5_000_000n];

/** The 24 words that restore the wallet; created at the first start, readable by their owner only. */
function readWords(): string {
  const path = join(folder, "words");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!existsSync(path)) writeFileSync(path, `${createSeedWords()}\n`, { mode: 0o600, flag: "wx" });
  return readFileSync(path, "utf8").trim();
}

/** Opens the wallet. On a local chain, an empty one gets test tokens. */
export async function open(): Promise<Wallet> {
  const deployment = await readDeployment(service);
  const wallet = await openWallet({ deployment, words: readWords(), nodes, service, folder });
  await wallet.scan();
  if (isLocal(deployment) && wallet.balance().total === 0n) {
    console.error("The wallet is empty: depositing 10 test USDC from the faucet");
    await fillFromFaucet(wallet);
  }
  return wallet;
}

async function fillFromFaucet(wallet: Wallet): Promise<void> {
  const account = Account.createRandom();
  const headers = { "content-type": "application/json" };
  const response = await fetch(faucet, { method: "POST", headers, body: JSON.stringify({ address: account.address }) });
  if (!response.ok) throw new Error(`the faucet ${faucet} answers ${response.status}: ${await response.text()}`);
  // The account signs, and the service submits the deposit: the account needs no ETH.
  await wallet.fund({ amounts: NOTES, account, onProgress: ({ stage }) => console.error(`.. ${stage}`) });
}
