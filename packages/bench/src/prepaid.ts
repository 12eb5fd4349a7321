// `pnpm bench prepaid`: requests that are paid with prepaid tokens, against the same route without a paywall and against
// one private payment per request; and what a pack costs.
import { constants, createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign, verify } from "node:crypto";
import { median } from "@sotto/command/median";
import { quantile } from "@sotto/command/quantile";
import {
  decodePrepaidHeader,
  encodePrepaidHeader,
  encodePrepaidKey,
  PREPAID_KEYS_PATH,
  type PrepaidKey,
  prepaidChallengeDigest,
  prepaidTokenInput,
} from "@sotto/prepaid";
import type { PrepaidOptions } from "@sotto/prepaid/server";
import { bytesToHex } from "@sotto/protocol";
import { paywallOptions } from "@sotto/test-world/paywall/options";
import { headerOf } from "@sotto/test-world/paywall/payments";
import { bytesOf, createPack, createPrepaid, payFor, purchase } from "@sotto/test-world/paywall/prepaid";
import {
  closeMerchantWorld,
  type MerchantWorld,
  ORIGIN,
  openMerchantWorld,
  pay,
} from "@sotto/test-world/paywall/world";
import { startServer } from "./inputs/child-server.ts";
import { overConnections, requestText } from "./inputs/connection.ts";
import { gasOfPayment } from "./inputs/payment-gas.ts";
import type { PrepaidServerOrder } from "./inputs/prepaid-server.ts";
import type { Print } from "./main.ts";

export const about =
  "requests paid with prepaid tokens (SQLite on disk) against unpaid and private ones; selling packs";

/** The two routes take turns. Each turn sends this many requests over this many connections. */
const [TURNS, REQUESTS, CONNECTIONS] = [7, 2_000, 128];
/** Requests one after another on each route, for the times. */
const TIMED = 400;
/** Packs of 1000 tokens that are bought at the same time. */
const PACKS = 4;
const PACK_SIZE = 1_000;
/** Turns of private payments, and how many are shown at the same time in each; they are settled before. */
const [PAYMENT_TURNS, PAYMENTS] = [3, 48];

/** Tokens of a key, signed without blinding, which nobody can see. @returns their headers */
function signTokens(privateKey: KeyObject, { id: keyId }: PrepaidKey, count: number): string[] {
  const challengeDigest = prepaidChallengeDigest(ORIGIN);
  const options = { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 };
  return Array.from({ length: count }, () => {
    const token = { nonce: bytesToHex(new Uint8Array(randomBytes(32))), challengeDigest, keyId };
    const signature = new Uint8Array(sign("sha384", prepaidTokenInput(token), options));
    return encodePrepaidHeader({ ...token, signature });
  });
}

/** Sends requests over a few connections, each one after another. @returns the time of each, ms */
async function load(url: string, requests: readonly string[], connections: number): Promise<number[]> {
  const times: number[] = [];
  await overConnections(url, connections, requests, async (connection, request) => {
    const start = performance.now();
    const status = await connection.send(request);
    if (status !== 200) throw new Error(`the bench was refused: ${status}`);
    times.push(performance.now() - start);
  });
  return times;
}

const paidWith = (header: string): string => requestText("GET", "/paid", `X-Payment-Token: ${header}\r\n`);

async function rate(url: string, requests: readonly string[], connections = CONNECTIONS): Promise<number> {
  const start = performance.now();
  await load(url, requests, connections);
  return (requests.length * 1000) / (performance.now() - start);
}

/** Microseconds that the server spends on the checks of one token, without its store. */
function checkTime(headers: readonly string[], publicKey: KeyObject): number {
  const times = headers.slice(0, 1_000).map((header) => {
    const start = performance.now();
    const token = decodePrepaidHeader(header);
    if (!verify("sha384", prepaidTokenInput(token), publicKey, token.signature))
      throw new Error("a valid token was rejected");
    return 1000 * (performance.now() - start);
  });
  return median(times);
}

/** Buys packs at the same time. @returns tokens per second, proofs and store included, and the client's ms per token */
async function sell(world: MerchantWorld, url: string): Promise<{ rate: number; client: number }> {
  const wire = await (await fetch(`${url}${PREPAID_KEYS_PATH}`)).json();
  const packs = Array.from({ length: PACKS }, () => {
    const start = performance.now();
    return { pack: createPack(wire, 0, PACK_SIZE), ms: performance.now() - start };
  });
  const paid = [];
  for (const { pack } of packs) paid.push({ pack, payment: await payFor(world, pack) });
  const start = performance.now();
  const answers = await Promise.all(
    paid.map(async ({ pack, payment }) => {
      const response = await purchase(url, pack, payment);
      if (response.status !== 200) throw new Error(`a purchase of the bench got ${response.status}`);
      return bytesOf(response);
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  const client = packs.map(({ pack, ms }, i) => {
    const begun = performance.now();
    pack.finish(answers[i]!);
    return (ms + performance.now() - begun) / PACK_SIZE;
  });
  return { rate: (PACKS * PACK_SIZE) / seconds, client: median(client) };
}

/** @returns requests per second that are each paid with a private payment, which was settled before */
async function payEach(world: MerchantWorld, url: string): Promise<number> {
  const requests: string[] = [];
  for (let i = 0; i < PAYMENTS; i++)
    requests.push(
      requestText("GET", "/paid", `X-Payment-Proof: ${headerOf(await pay(world, { target: "/paid" }))}\r\n`),
    );
  return rate(url, requests, 16);
}

export async function run(print: Print): Promise<void> {
  const world = await openMerchantWorld();
  const prepaid: PrepaidOptions = await createPrepaid(world);
  const order: PrepaidServerOrder = { options: paywallOptions(world), tokens: prepaid };
  const server = await startServer("prepaid-server.ts", order);
  try {
    const { url } = server;
    const { key } = createPack(await (await fetch(`${url}${PREPAID_KEYS_PATH}`)).json());
    const { keys } = prepaid.keys as Exclude<PrepaidOptions["keys"], string | undefined>;
    // The schedule begins with the previous epoch.
    const privateKey = createPrivateKey(keys[1]!.privateKey);
    const headers = signTokens(privateKey, key, (TURNS + 1) * REQUESTS + TIMED);
    const spki = Buffer.from(encodePrepaidKey(key.modulus));
    const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
    print("prepaid.redeem.us", checkTime(headers, publicKey), "us");
    const next = (count: number) => headers.splice(0, count).map(paidWith);
    const unpaid = (count: number) => Array.from({ length: count }, () => requestText("GET", "/unpaid"));
    await rate(url, next(REQUESTS));
    await rate(url, unpaid(REQUESTS));
    const rates = { paid: [] as number[], unpaid: [] as number[] };
    for (let turn = 1; turn <= TURNS; turn++) {
      process.stderr.write(`  turn ${turn} of ${TURNS}\n`);
      rates.unpaid.push(await rate(url, unpaid(REQUESTS)));
      rates.paid.push(await rate(url, next(REQUESTS)));
    }
    print("prepaid.perSecond", median(rates.paid), "requests/s");
    print("prepaid.unpaid.perSecond", median(rates.unpaid), "requests/s");
    print("prepaid.ratio", median(rates.paid.map((paid, turn) => paid / rates.unpaid[turn]!)), "times");
    const times = await load(url, next(TIMED), 1);
    const unpaidTimes = await load(url, unpaid(TIMED), 1);
    print("prepaid.p50.ms", quantile(times, 0.5), "ms");
    print("prepaid.p99.ms", quantile(times, 0.99), "ms");
    print("prepaid.unpaid.p50.ms", quantile(unpaidTimes, 0.5), "ms");
    print("prepaid.unpaid.p99.ms", quantile(unpaidTimes, 0.99), "ms");
    const sold = await sell(world, url);
    print("prepaid.issue.perSecond", sold.rate, "tokens/s");
    print("prepaid.client.ms", sold.client, "ms");
    const payments: number[] = [];
    while (payments.length < PAYMENT_TURNS) payments.push(await payEach(world, url));
    print("prepaid.payments.ratio", median(rates.paid) / median(payments), "times");
  } finally {
    server.stop();
    await closeMerchantWorld();
  }
  print("prepaid.gas", (await gasOfPayment()) / PACK_SIZE, "gas");
}
