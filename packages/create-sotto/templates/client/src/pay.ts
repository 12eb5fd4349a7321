// Pays for a URL, and prints its content, what was paid, and what each party learned.
import { type PurchaseProgress, wrapFetch } from "@sotto/client";
import { formatDecimalAmount, SottoError } from "@sotto/protocol";
import { folder, service } from "./settings.ts";
import { open } from "./wallet.ts";

const [url = "http://127.0.0.1:4022/articles/1"] = process.argv.slice(2);

try {
  await payFor(url);
} catch (error) {
  if (!(error instanceof SottoError)) throw error;
  const hint = `\nAfter \`npm run dev -- --fresh\`, delete ${folder}/, and likewise if you run another server there.`;
  console.error(`${error.code}: ${error.message}${error.code === "RECIPIENT_CHANGED" ? hint : ""}`);
  process.exitCode = 1;
}

async function payFor(url: string): Promise<void> {
  const wallet = await open();
  try {
    let paid: PurchaseProgress | undefined;
    const pay = wrapFetch(fetch, wallet, {
      services: [service],
      maxPerRequest: 100_000n,
      maxPerDay: 1_000_000n,
      onProgress: (progress) => {
        console.error(`.. ${progress.stage}`);
        if (progress.stage === "paid") paid = progress;
      },
    });
    const response = await pay(url);
    console.log(`${response.status} ${await response.text()}`);
    console.log(paid === undefined ? "nothing was paid" : summary(paid, wallet.balance().total));
  } finally {
    await wallet.close();
  }
}

function summary({ price, resourceUrl, txSignature }: PurchaseProgress, left: bigint): string {
  return `paid      ${formatDecimalAmount(price, 6)} USDC for ${resourceUrl}
server    learned amount, URL and your network address; not which wallet paid
service   learned recipient, URL, amount within 10% and your network address
chain     shows only that one of the pool's notes was spent, in transaction
          ${txSignature}
left      ${formatDecimalAmount(left, 6)} USDC`;
}
