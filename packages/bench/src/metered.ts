// `pnpm bench metered`: requests of a metered route, with the claims and swaps that follow them, against requests that are paid with
// one private payment each; and whether every unit is accounted for after kills of the server.
import { setTimeout as sleep } from "node:timers/promises";
import { type PayingFetch, type WrapOptions, wrapFetch } from "@sotto/client";
import { median } from "@sotto/command/median";
import { quantile } from "@sotto/command/quantile";
import {
  buyPrepaid,
  listCharges,
  listPrepaid,
  mergePrepaid,
  PrepaidError,
  prepaid,
  resumePrepaid,
} from "@sotto/prepaid/client";
import { createProver, loadArtifacts } from "@sotto/prover";
import { ARTIFACTS, closeWorld, fund, openWallet, openWorld, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { Connection, overConnections, requestText } from "./inputs/connection.ts";
import { type MeteredMerchant, type MeteredServer, openMeteredMerchant } from "./inputs/metered-merchant.ts";
import { PreparedPayer, type PreparedRequest, wordsOf } from "./inputs/metered-requests.ts";
import { RULE } from "./inputs/metered-rule.ts";
import { gasOfPayment } from "./inputs/payment-gas.ts";
import type { Print } from "./main.ts";

export const about =
  "requests of a metered route with claims and swaps (SQLite on disk) against private payments; conservation after kills";

/** Requests that a server answers, in turns over several connections. */
const SERVED = { turns: 5, requests: 300, connections: 32 };
/** Requests one after another on each route, for the times. */
const TIMED = 300;
/** Requests of a wallet in each turn, and the private payments against which they are measured. */
const WALLET = { turns: 3, requests: 200, payments: 16, parallel: 8 };
const PACK_SIZE = 1_000;
/** Requests while the server is killed, how many at a time, and after how many all change is claimed. */
const CONSERVED = { requests: process.env["SOTTO_LONG"] === "1" ? 10_000 : 1_000, parallel: 2, round: 250 };
/** The server is killed while it serves one of so many requests. */
const [MIN_LIFE, MAX_LIFE] = [10, 60];
/** It is killed up to so long after that request began, so that kills hit each state of a request, ms. */
const MAX_LATE_MS = 20;
/** How often a request is sent until it is served. */
const MAX_ATTEMPTS = 50;
/** How long a request may run, seconds: killed ones end after it. */
const [MAX_SECONDS, MIN_SECONDS] = [600, 5];
const CAP = RULE.cap;

/** Calls an action for each item, several at a time. */
async function parallel<T>(count: number, items: readonly T[], action: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const work = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await action(item);
  };
  await Promise.all(Array.from({ length: count }, work));
}

const perSecond = (count: number, sinceMs: number): number => (1_000 * count) / (performance.now() - sinceMs);

async function expectStatus(expected: number, connection: Connection, request: string): Promise<void> {
  const status = await connection.send(request);
  if (status !== expected) throw new Error(`the server answered ${status}: ${request}`);
}

/** Sends a request as a payer does: unpaid, paid, then the claim and swaps. */
async function sendWhole(connection: Connection, { path, headers, others }: PreparedRequest): Promise<void> {
  await expectStatus(402, connection, requestText("GET", path));
  await expectStatus(200, connection, requestText("GET", path, headers));
  for (const [target, body] of others) await expectStatus(200, connection, requestText("POST", target, "", body));
}

/** The server alone: what payers send was prepared before. */
async function measureServer({ origin }: MeteredMerchant, payer: PreparedPayer, print: Print): Promise<void> {
  const turn = async () => {
    const requests = Array.from({ length: SERVED.requests }, () => payer.next());
    const start = performance.now();
    await overConnections(origin, SERVED.connections, requests, sendWhole);
    return perSecond(requests.length, start);
  };
  await turn();
  const rates: number[] = [];
  while (rates.length < SERVED.turns) {
    rates.push(await turn());
    process.stderr.write(`  turn ${rates.length} of ${SERVED.turns}: ${rates.at(-1)!.toFixed(0)} requests/s\n`);
  }
  print("metered.perSecond", median(rates), "requests/s");
  const times = { paid: [] as number[], unpaid: [] as number[] };
  const connection = await Connection.open(origin);
  const time = async (list: number[], request: string) => {
    const start = performance.now();
    await expectStatus(200, connection, request);
    list.push(performance.now() - start);
  };
  for (let i = 0; i < TIMED; i += 1) {
    const { path, headers } = payer.next();
    await time(times.unpaid, requestText("GET", "/unpaid"));
    await time(times.paid, requestText("GET", path, headers));
  }
  connection.close();
  print("metered.p50.ms", quantile(times.paid, 0.5) - quantile(times.unpaid, 0.5), "ms");
}

/** A wallet that pays metered requests. */
class Payer {
  readonly #origin: string;
  readonly #options: WrapOptions;
  readonly wallet: Wallet;
  readonly pay: PayingFetch;
  readonly payOnce: PayingFetch;

  constructor(world: World, origin: string, wallet: Wallet) {
    const terms = { services: [world.serviceUrl], maxPerRequest: CAP };
    // Nothing runs in the background but claims: packs and swaps are made when the bench asks for them.
    const tokens = { maxPerHost: 10n ** 12n, mirrors: [], buy: false, maxDelayMs: 1e9 };
    this.#origin = origin;
    this.#options = { ...terms, methods: [prepaid(tokens)] };
    this.wallet = wallet;
    this.pay = wrapFetch(fetch, wallet, this.#options);
    this.payOnce = wrapFetch(fetch, wallet, terms);
  }

  /** Buys a pack: 100 tokens the first time, then 1,000. */
  async buy(): Promise<void> {
    await buyPrepaid(fetch, this.wallet, this.#options, { origin: this.#origin, value: CAP });
  }

  /** Pays again at a merchant at which the wallet has stopped. */
  async resume(): Promise<void> {
    await resumePrepaid(this.wallet, this.#origin);
  }

  /** Claims and swaps all that is left. Requests that run end by their deadlines; a token that never arrived is unspent. */
  async settle(): Promise<void> {
    const end = performance.now() + 2_000 * MIN_SECONDS;
    for (;;) {
      const { open, problems } = await mergePrepaid(fetch, this.wallet, this.#options);
      if (problems.length > 0) throw problems[0];
      if (open === 0 || performance.now() > end) return;
      await sleep(500);
    }
  }

  async #listed() {
    return (await listPrepaid(this.wallet)).find((each) => each.origin === this.#origin);
  }

  /** Value of all tokens, base units. */
  async unspent(): Promise<bigint> {
    return (await this.#listed())?.unspent ?? 0n;
  }

  /** How many requests can be paid with tokens of the cap's value. */
  async tokens(): Promise<number> {
    const { packs = [], change = [] } = (await this.#listed()) ?? {};
    const all = [...packs.map(({ value, left }) => ({ value, count: left })), ...change];
    return all.reduce((sum, { value, count }) => (value === CAP ? sum + count : sum), 0);
  }
}

/** The whole way of a request: wallet, proofs, service and chain share the cores with the server. */
async function measureWallet(world: World, { origin }: MeteredMerchant, print: Print): Promise<void> {
  const prover = createProver(await loadArtifacts({ folder: ARTIFACTS }));
  try {
    const payer = new Payer(world, origin, await openWallet(world, { prover }));
    const { turns, requests, payments, parallel: count } = WALLET;
    await fund(world, payer.wallet, [...Array<bigint>(8).fill(100_000_000n)]);
    while ((await payer.tokens()) < (turns + 1) * requests) await payer.buy();
    let sent = 0;
    const times = { cpu: [] as number[], metered: [] as number[], single: [] as number[] };
    for (let turn = 0; turn <= turns; turn += 1) {
      const urls = Array.from({ length: requests }, () => `${origin}/metered/${wordsOf(sent++)}/${sent}`);
      const [cpu, start] = [process.cpuUsage(), performance.now()];
      await parallel(count, urls, async (url) => {
        const response = await payer.pay(url);
        await response.text();
        if (response.status !== 200) throw new Error(`a metered request got ${response.status}`);
      });
      await payer.settle();
      const rate = perSecond(requests, start);
      const { user, system } = process.cpuUsage(cpu);
      const singles = Array.from({ length: payments }, (_, i) => `${origin}/single?${turn}-${i}`);
      const startSingles = performance.now();
      await parallel(count, singles, async (url) => {
        const response = await payer.payOnce(url);
        if (response.status !== 200) throw new Error(`a payment got ${response.status}`);
      });
      const single = perSecond(payments, startSingles);
      process.stderr.write(
        `  turn ${turn} of ${turns}: ${rate.toFixed(0)} metered, ${single.toFixed(1)} single requests/s\n`,
      );
      // The first turn compiles the code.
      if (turn === 0) continue;
      times.cpu.push((user + system) / 1_000 / requests);
      times.metered.push(rate);
      times.single.push(single);
    }
    print("metered.client.ms", median(times.cpu), "ms");
    print("metered.ratio", median(times.metered.map((rate, turn) => rate / times.single[turn]!)), "times");
  } finally {
    await prover.close();
  }
}

/** A server that is killed and started again after some requests. */
class MortalServer {
  readonly #merchant: MeteredMerchant;
  #server: MeteredServer | undefined;
  #restarting: Promise<void> = Promise.resolve();
  /** How many requests it still serves. */
  #life = 0;
  kills = 0;

  constructor(merchant: MeteredMerchant) {
    this.#merchant = merchant;
  }

  async start(): Promise<void> {
    this.#server = await this.#merchant.start();
    this.#life = MIN_LIFE + Math.floor(Math.random() * (MAX_LIFE - MIN_LIFE));
  }

  /** Called for each request that begins. */
  serve(): void {
    this.#life -= 1;
    if (this.#life === 0) this.#restarting = this.#restart();
  }

  /** The server, once it runs. */
  async running(): Promise<MeteredServer> {
    await this.#restarting;
    return this.#server!;
  }

  async #restart(): Promise<void> {
    await sleep(Math.random() * MAX_LATE_MS);
    await this.#server!.kill();
    this.kills += 1;
    await this.start();
  }
}

/** Pays requests of random charges while the server is killed again and again. */
async function payThroughKills(payer: Payer, mortal: MortalServer, origin: string): Promise<void> {
  const { requests, parallel: count, round } = CONSERVED;
  for (let sent = 0; sent < requests; sent += round) {
    // Requests during which the server is killed may show more than one token.
    while ((await payer.tokens()) < 2 * round) await payer.buy();
    const urls = Array.from({ length: Math.min(round, requests - sent) }, (_, i) => {
      const words = 1 + Math.floor(Math.random() * 100);
      return `${origin}/metered/${words}/${sent + i}${Math.random() < 0.5 ? "?slow" : ""}`;
    });
    await parallel(count, urls, async (url) => {
      mortal.serve();
      await payUntilServed(payer, url, mortal);
    });
    await mortal.running();
    await payer.settle();
    process.stderr.write(`  ${sent + urls.length} of ${requests} requests, ${mortal.kills} kills\n`);
  }
}

/** Base units that payer and merchant do not account for in the end, after kills of the server. */
async function measureConservation(world: World, print: Print): Promise<void> {
  const merchant = await openMeteredMerchant(world, MIN_SECONDS);
  const mortal = new MortalServer(merchant);
  await mortal.start();
  try {
    const payer = new Payer(world, merchant.origin, await openWallet(world));
    await fund(world, payer.wallet, Array<bigint>(8).fill(12_000_000n));
    await payThroughKills(payer, mortal, merchant.origin);
    const unspent = await payer.unspent();
    const charged = (await listCharges(payer.wallet)).reduce((sum, { charge }) => sum + charge, 0n);
    const outstanding = await (await mortal.running()).outstanding();
    const difference = (a: bigint, b: bigint): number => Math.abs(Number(a - b));
    const missing = difference(await merchant.received(), charged + unspent) + difference(outstanding, unspent);
    print("metered.conserved.requests", CONSERVED.requests, "requests");
    print("metered.conserved.kills", mortal.kills, "kills");
    print("metered.conserved", missing, "base units");
  } finally {
    (await mortal.running()).stop();
  }
}

/**
 * A request that fails because the server was killed is sent again. The wallet stops at a merchant that does not know several
 * tokens, as one that was killed before it received them; then its owner resumes.
 */
async function payUntilServed(payer: Payer, url: string, mortal: MortalServer): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      const response = await payer.pay(url);
      await response.text();
      if (response.status !== 200) throw new Error(`a metered request got ${response.status}`);
      return;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
      if (error instanceof PrepaidError && error.code === "PREPAID_STOPPED") await payer.resume();
      await mortal.running();
      // Claims that a killed server did not answer are asked again only after a pause; another kill may interrupt this too.
      if (error instanceof PrepaidError && error.code === "PREPAID_CHANGE_PENDING")
        await payer.settle().catch(() => undefined);
    }
}

export async function run(print: Print): Promise<void> {
  const world = await openWorld();
  try {
    const merchant = await openMeteredMerchant(world, MAX_SECONDS);
    const server = await merchant.start();
    try {
      await measureServer(merchant, new PreparedPayer(merchant), print);
      await measureWallet(world, merchant, print);
    } finally {
      server.stop();
    }
    await measureConservation(world, print);
  } finally {
    await closeWorld();
  }
  print("metered.gas", (await gasOfPayment()) / PACK_SIZE, "gas");
}
