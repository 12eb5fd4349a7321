import { type PurchaseProgress, wrapFetch } from "@sotto/client";
import { formatDecimalAmount } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { service, url } from "./settings.ts";
import { open } from "./wallet.ts";

const find = (id: string): HTMLElement => document.getElementById(id)!;
/** Always as text: the article comes from another server. */
const show = (id: string, text: string): void => {
  find(id).textContent = text;
};
const tell = (text: string): void => show("status", text);

let opening: Promise<Wallet> | undefined;

async function read(): Promise<void> {
  opening ??= open(tell);
  const wallet = await opening;
  let paid: PurchaseProgress | undefined;
  const pay = wrapFetch(fetch, wallet, {
    services: [service],
    maxPerRequest: 100_000n,
    maxPerDay: 1_000_000n,
    onProgress: (progress) => {
      tell(`Paying: ${progress.stage}.`);
      if (progress.stage === "paid") paid = progress;
    },
  });
  const response = await pay(url);
  show("article", await response.text());
  if (paid !== undefined) show("summary", summary(paid));
  tell(`Done. ${formatDecimalAmount(wallet.balance().total, 6)} USDC are left.`);
}

const summary = ({ price, txSignature }: PurchaseProgress): string =>
  `You paid ${formatDecimalAmount(price, 6)} USDC.
The server learned the amount, the URL and your network address; not which wallet paid.
The service learned the recipient, the URL, the amount within 10%, and your network address.
The chain shows that one of the pool's notes was spent: transaction ${txSignature}.`;

const button = find("pay") as HTMLButtonElement;
button.addEventListener("click", async () => {
  button.disabled = true;
  try {
    await read();
  } catch (error) {
    opening = undefined;
    tell(`That failed: ${error instanceof Error ? error.message : String(error)}`);
  }
  button.disabled = false;
});
