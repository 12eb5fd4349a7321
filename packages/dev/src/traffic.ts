// `npm run dev -- --traffic 0.3`, as a child process: its own wallets pay the resource servers at this rate per second,
// with real proofs and transactions.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type PayingFetch, wrapFetch } from "@sotto/client";
import type { CuratedSet } from "@sotto/local/demo/processes";
import { showOrigins } from "@sotto/origins/client";
import { Origins } from "@sotto/origins/wallet";
import { prepaid } from "@sotto/prepaid/client";
import type { DeploymentManifest } from "@sotto/protocol";
import { createProver, loadArtifacts, type Prover } from "@sotto/prover";
import { createSeedWords, seedFromWords, splitAmount, Wallet } from "@sotto/wallet";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { Wallet as Account, Interface } from "ethers";
import type OpenAI from "openai";
import { LOCAL_MODEL } from "../../create-sotto/templates/resource-server-llm/src/local-model.ts";
import { payingOpenAi } from "../../create-sotto/templates/resource-server-llm/src/openai.ts";
import { send } from "./faucet.ts";

export interface TrafficOrder {
  /** Paid requests a second. */
  readonly rate: number;
  readonly deployment: DeploymentManifest;
  /** JSON-RPC URL. */
  readonly chain: string;
  /** Base URL of the service. */
  readonly service: string;
  /** The set that the first payer follows. */
  readonly set: CuratedSet;
  /** Folder of the circuits' artifacts. */
  readonly artifacts: string;
  /** The state folder. */
  readonly folder: string;
  /** Paid resources; their last path segment is varied. */
  readonly urls: readonly string[];
  /** Base URL of a paid model, for clients of OpenAI. */
  readonly model: string;
}

/** Sent every two seconds. */
export interface TrafficStatus {
  readonly paid: number;
  readonly failed: number;
  /** Paid requests a second in the last minute. */
  readonly rate: number;
  /** The last failure. */
  readonly problem: string | undefined;
}

const PAYERS = 3;
/** Notes per deposit: a payer's notes are spendable again a few seconds after each payment. */
const NOTES = 8;
/** Base units of one deposit, and the balance below which a payer makes another deposit. */
const DEPOSIT = 20_000_000n;
const MIN_BALANCE = 1_000_000n;
const MAX_PER_REQUEST = 200_000n;
/** Maximum number of late requests; further ones are dropped, so that a slow machine does not fall behind forever. */
const MAX_DUE = PAYERS;
const MINUTE_MS = 60_000;
const STATUS_MS = 2_000;
const PAUSE_MS = 2_000;
const POLL_MS = 300;
const TOKEN = new Interface(["function mint(address to, uint256 amount)"]);

interface Payer {
  readonly wallet: Wallet;
  readonly account: Account;
  readonly pay: PayingFetch;
  readonly openai: OpenAI;
  /** Follows the curator's set; the first payer only. */
  readonly origins: Origins | undefined;
}

/** The payers' secrets, made at the first start. */
function readSecrets(folder: string): readonly { words: string; accountKey: string }[] {
  const file = join(folder, "traffic.json");
  if (!existsSync(file)) {
    const make = () => ({ words: createSeedWords(), accountKey: Account.createRandom().privateKey });
    writeFileSync(file, `${JSON.stringify(Array.from({ length: PAYERS }, make))}\n`, { mode: 0o600 });
  }
  return JSON.parse(readFileSync(file, "utf8"));
}

async function openPayers(order: TrafficOrder, prover: Prover): Promise<readonly Payer[]> {
  const { deployment, chain, service, folder } = order;
  const secrets = readSecrets(folder);
  return Promise.all(
    secrets.map(async ({ words, accountKey }, index) => {
      const store = new SqliteStore(join(folder, `traffic-${index + 1}.sqlite`));
      const wallet = await Wallet.open({ ...deployment, chain, seed: seedFromWords(words), store, prover, service });
      // One proof of an origin takes two thirds of the time of a payment's, so the others show none.
      const origins = index === 0 ? await follow(wallet, order.set) : undefined;
      const attachments = origins === undefined ? [] : [showOrigins({ origins })];
      const options = { services: [service], maxPerRequest: MAX_PER_REQUEST, attachments };
      const pay = wrapFetch(fetch, wallet, options);
      // Single tokens, so that a chat is a payment, unless its token is change.
      const tokens = prepaid({ maxPerHost: DEPOSIT, mirrors: [service], buyAfter: 1e9 });
      const openai = payingOpenAi(wrapFetch(fetch, wallet, { ...options, methods: [tokens] }), order.model);
      return { wallet, account: new Account(accountKey), pay, openai, origins };
    }),
  );
}

async function follow(wallet: Wallet, { curator: url, key: curator, name }: CuratedSet): Promise<Origins> {
  const origins = await Origins.open(wallet);
  // Few wallets use the pool of one machine.
  await origins.follow({ curator, name, url, minimumCrowd: 0 });
  return origins;
}

/** Deposits test tokens if the payer has few left, and waits until they can be spent. */
async function fund({ wallet, account }: Payer, { chain, deployment }: TrafficOrder): Promise<void> {
  await wallet.scan();
  // Left over from a process that was stopped.
  for (const { id } of await wallet.unfinishedDeposits()) await wallet.resumeDeposit(id);
  if (wallet.balance().total >= MIN_BALANCE) return;
  const data = TOKEN.encodeFunctionData("mint", [account.address, DEPOSIT]);
  await send(chain, { to: deployment.token, data });
  await wallet.fund({ amounts: splitAmount(DEPOSIT, NOTES), account });
}

/** Another resource of the same kind. */
function vary(url: string): string {
  const names = ["lima", "oslo", "cairo", "quito", "hanoi", "accra", "turin", "perth"];
  const number = Math.floor(Math.random() * 900) + 100;
  return new URL(url.includes("/forecast/") ? names[number % names.length]! : String(number), url).href;
}

/** Makes one paid request: at each resource in turn, then at the model. */
async function request({ pay, openai }: Payer, { urls }: TrafficOrder, turn: number): Promise<void> {
  const url = urls[turn % (urls.length + 1)];
  if (url === undefined) {
    const messages = [{ role: "user" as const, content: `What is ${turn} and ${turn}?` }];
    const stream = await openai.chat.completions.create({ model: LOCAL_MODEL, messages, stream: true });
    for await (const _ of stream);
    return;
  }
  const response = await pay(vary(url));
  await response.body?.cancel();
  if (!response.ok) throw new Error(`a paid request was answered with ${response.status}`);
}

async function run(order: TrafficOrder): Promise<void> {
  const prover = createProver(await loadArtifacts({ folder: order.artifacts }));
  const payers = await openPayers(order, prover);
  const times: number[] = [];
  const start = Date.now();
  let paid = 0;
  let failed = 0;
  let due = 0;
  let problem: string | undefined;
  setInterval(() => {
    due = Math.min(MAX_DUE, due + 1);
  }, 1000 / order.rate);
  setInterval(() => {
    const now = Date.now();
    while (times[0] !== undefined && times[0] < now - MINUTE_MS) times.shift();
    const seconds = Math.max(1, Math.min(MINUTE_MS, now - start) / 1000);
    process.send?.({ paid, failed, rate: times.length / seconds, problem } satisfies TrafficStatus);
  }, STATUS_MS);
  const runPayer = async (payer: Payer): Promise<never> => {
    for (;;) {
      if (due === 0) {
        await sleep(POLL_MS / 3);
        continue;
      }
      due--;
      try {
        await fund(payer, order);
        await payer.origins?.sync({ claims: false });
        await request(payer, order, paid + failed);
        paid++;
        times.push(Date.now());
      } catch (error) {
        failed++;
        problem = error instanceof Error ? error.message : String(error);
        console.error(problem);
        await sleep(PAUSE_MS);
      }
    }
  };
  process.send?.("started");
  await Promise.all(payers.map(runPayer));
}

process.once("SIGTERM", () => process.exit(0));
process.once("message", (order: TrafficOrder) => {
  run(order).catch((error: Error) => {
    console.error(error.message);
    process.exit(1);
  });
});
