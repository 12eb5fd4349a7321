// A page with a wallet that pays. It keeps its state in the browser's IndexedDB, and talks to a node of the chain, to one
// service and to a resource server.
import { createSeedWords, type PurchaseProgress, seedFromWords, spentOn, Wallet, wrapFetch } from "@sotto/client";
import { connectProver } from "@sotto/client/browser";
import { IndexedDbStore } from "@sotto/client/indexeddb";
import { formatDecimalAmount } from "@sotto/protocol";

/** config.json, beside the page. */
interface Config {
  /** JSON-RPC URL of a node. */
  node: string;
  chainId: number;
  pool: string;
  deploymentBlock: number;
  finality: number;
  /** Base URL of the service. */
  service: string;
  /** Base units. */
  maxPerRequest: string;
  maxPerDay: string;
  /** Initial content of the address field. */
  url: string;
  /** Words of the wallet; left out: made once and kept in this browser. */
  words?: string;
}

const DECIMALS = 6;
const LOOK_MS = 1_000;
const element = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E;
const usdc = (amount: bigint): string => `${formatDecimalAmount(amount, DECIMALS)} USDC`;

/** For a page that shows how it works. A wallet with real money asks its owner to write the words down. */
function keptWords(): string {
  const words = localStorage.getItem("sotto-words") ?? createSeedWords();
  localStorage.setItem("sotto-words", words);
  return words;
}

async function startWorker(): Promise<Worker> {
  const worker = new Worker("prover.js", { type: "module" });
  await new Promise<void>((resolve, reject) => {
    worker.addEventListener("message", () => resolve(), { once: true });
    worker.addEventListener("error", () => reject(new Error("the prover's worker does not start")), { once: true });
  });
  return worker;
}

async function start(): Promise<void> {
  const config: Config = await (await fetch("config.json")).json();
  element<HTMLInputElement>("url").value = config.url;
  const wallet = await Wallet.open({
    seed: seedFromWords(config.words ?? keptWords()),
    chain: config.node,
    chainId: BigInt(config.chainId),
    pool: config.pool,
    deploymentBlock: config.deploymentBlock,
    store: await IndexedDbStore.open(`sotto-${config.pool}`),
    prover: await connectProver(await startWorker()),
    finality: config.finality,
  });
  element("address").textContent = wallet.shieldedAddress;
  const showBalance = async () => {
    await wallet.scan();
    const { spendable, total } = wallet.balance();
    const waiting = total - spendable;
    element("balance").textContent = usdc(spendable) + (waiting > 0n ? `, ${usdc(waiting)} on its way` : "");
    element("spent").textContent = usdc(await spentOn(wallet.store, Date.now()));
    // Change comes back once the service has appended it.
    if (waiting > 0n) setTimeout(() => void showBalance().catch(showError), LOOK_MS);
  };
  await showBalance();

  const pay = wrapFetch(fetch, wallet, {
    services: [config.service],
    maxPerRequest: BigInt(config.maxPerRequest),
    maxPerDay: BigInt(config.maxPerDay),
    onProgress: showProgress,
  });
  element("form").addEventListener("submit", (event) => {
    event.preventDefault();
    void request(pay).then(showBalance);
  });
  element<HTMLButtonElement>("pay").disabled = false;
}

function showProgress({ stage, price, txSignature }: PurchaseProgress): void {
  const item = document.createElement("li");
  item.textContent = stage === "challenge" ? `402: ${usdc(price)}` : stage;
  element("stages").append(item);
  if (txSignature === undefined) return;
  element("receipt").textContent = `settled in ${txSignature}`;
  element("receipt").hidden = false;
}

function showError(error: unknown): void {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  element("error").textContent = `${typeof code === "string" ? `${code}: ` : ""}${String(message ?? error)}`;
  element("error").hidden = false;
}

/** Sends one request of the form. The stop button aborts it; the next request resumes the payment. */
async function request(pay: ReturnType<typeof wrapFetch>): Promise<void> {
  const abort = new AbortController();
  const [go, stop] = [element<HTMLButtonElement>("pay"), element<HTMLButtonElement>("stop")];
  for (const id of ["error", "answer", "receipt"]) element(id).hidden = true;
  element("stages").replaceChildren();
  go.disabled = true;
  stop.disabled = false;
  stop.onclick = () => abort.abort();
  try {
    const response = await pay(element<HTMLInputElement>("url").value, { signal: abort.signal });
    element("answer").textContent = `${response.status}\n${await response.text()}`;
    element("answer").hidden = false;
  } catch (error) {
    showError(error);
  } finally {
    go.disabled = false;
    stop.disabled = true;
  }
}

start().catch((error: unknown) => {
  element("balance").textContent = "not open";
  showError(error);
});
