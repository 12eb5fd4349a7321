// Two payers show origins and send their claims. Curator, merchant, service and mirror keep everything that they see of it.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { wrapFetch } from "@sotto/client";
import { openDatabase } from "@sotto/database";
import { type Address, bytesToHex, PAYMENT_SIGNAL } from "@sotto/protocol";
import { createLog } from "@sotto/server";
import { POOL } from "@sotto/test-chain/pool";
import { TOKEN } from "@sotto/test-chain/token";
import { Names } from "@sotto/test-kit/names";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import type { Wallet } from "@sotto/wallet";
import { Registry } from "prom-client";
import { LocalService } from "../../../wallet/test/support/local-service.ts";
import { showOrigins } from "../../src/client.ts";
import { DEFAULT_ROOT_AGE_MS } from "../../src/core/asked.ts";
import { Curator } from "../../src/curator/curator.ts";
import { MIGRATIONS } from "../../src/curator/store/schema.ts";
import { HeadWatch } from "../../src/heads/watch.ts";
import { CLAIMS_PATH, decodeOriginHeader, type OriginSet } from "../../src/index.ts";
import { OriginPolicy } from "../../src/service/policy.ts";
import { headsOf } from "../../src/service/store.ts";
import { type OriginTables, TABLES } from "../../src/service/tables.ts";
import type { Origins } from "../../src/wallet.ts";
import { AskingMerchant, verifyShown } from "./asking-merchant.ts";
import { curatorFetch } from "./curator-fetch.ts";
import { ALICE, BOB, testJudge } from "./curator-world.ts";
import { CURATOR, MIRROR, Payers } from "./payer.ts";

/** A request as it was sent. */
interface SentRequest {
  readonly method: string;
  readonly url: string;
  /** Names and values in their order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** Cookies, referrer and the like. */
  readonly options: object;
  status: number;
}

/** What a payer does differently from all others. */
export interface Habit {
  /** Changes how it sends its requests to curator and mirror. */
  readonly sending?: (send: typeof fetch) => typeof fetch;
  /** What it does before each payment. @param bitmap URL of the bitmap with its notes */
  readonly beforePaying?: (send: typeof fetch, bitmap: string) => Promise<unknown>;
}

/**
 * Two payers deposit the same amounts, payer 0 first. In the given order, each pays twice and shows an origin each time; then each
 * sends its claims.
 * @param habit that of payer 0; payer 1 has none
 */
export async function tell(order: readonly [number, number], habit: Habit = {}) {
  const payers = new Payers();
  const { world } = payers;
  const requests: SentRequest[] = [];
  const logged =
    (send: typeof fetch): typeof fetch =>
    async (input, init = {}) => {
      const { method = "GET", headers = {}, body, signal: _, ...options } = init;
      const entries = headers instanceof Headers || Array.isArray(headers) ? [...headers] : Object.entries(headers);
      const request: SentRequest = {
        ...{ method, url: String(input), headers: entries as [string, string][], options, status: 0 },
        body: body == null ? "" : String(body),
      };
      requests.push(request);
      const response = await send(input, init);
      request.status = response.status;
      return response;
    };
  const files = logged(payers.fetch);

  const wallets: Wallet[] = [];
  for (const account of [ALICE, BOB]) {
    world.token.mint(account, 1_000_000n);
    world.chain.sender = account;
    wallets.push(await payers.funded([5_000n, 6_000n]));
  }
  const set: OriginSet = { chainId: 31337, pool: POOL as Address, ...payers.set };
  const curator = await openCurator(payers, set);
  payers.servers.set(CURATOR, curatorFetch(CURATOR, curator, curator.folder));
  await curator.sign();

  // The service mirrors the curator's heads, and takes only payments that show an origin.
  const { migrations } = TABLES;
  const database = await openDatabase<OriginTables>({ url: "sqlite::memory:", name: "service", migrations });
  const store = headsOf(database, world.clock);
  const keep = store.keep.bind(store, set);
  const reading = { urls: [CURATOR], maxAgeMs: DEFAULT_ROOT_AGE_MS, fetch: files, clock: world.clock };
  const watch = new HeadWatch({ set, keep, ...reading });
  const asked = { curator: CURATOR, key: set.curator, name: set.name, maxAgeMs: DEFAULT_ROOT_AGE_MS };
  const policy = new OriginPolicy([{ asked: { ...asked, recipients: undefined }, watch }], verifyShown);
  payers.servers.set(MIRROR, async (input) => {
    const text = String(input).endsWith("/head.json")
      ? await store.newest(set)
      : (await store.from(set, 0, 128)).map((line) => `${line}\n`).join("");
    return new Response(text);
  });
  const service = new LocalService(world);
  const admitted: string[] = [];
  service.before = async (path, body) => {
    if (path !== "verify") return undefined;
    const nullifier = BigInt((body["publicSignals"] as string[])[PAYMENT_SIGNAL.nullifier]!);
    const timestamp = Number(body["timestamp"]);
    const payment = { nullifier, timestamp, wallet: ALICE, ownerTag: 0n, client: "client" };
    if (await policy.admit(payment, body["origin"] as string | undefined)) admitted.push(String(nullifier));
    return undefined;
  };
  await watch.refresh();
  const merchant = await AskingMerchant.create(payers);

  const origins: Origins[] = [];
  for (const [who, wallet] of wallets.entries())
    origins.push(await payers.follow(wallet, { fetch: (who === 0 && habit.sending?.(files)) || files }, [MIRROR]));
  const sync = async (who: number) => {
    const { problems } = await origins[who]!.sync();
    if (problems.length > 0) throw problems[0]!.error;
  };
  const pay = async (who: number, target: string) => {
    const [bitmap] = readdirSync(join(curator.folder, "bitmaps"));
    if (who === 0) await habit.beforePaying?.(files, `${CURATOR}/bitmaps/${bitmap}`);
    // The merchant stops after each payment: then it sends the claims at once, and not during the next payment.
    await merchant.open(payers, files);
    const paying = wrapFetch(logged(merchant.fetch), wallets[who]!, {
      ...{ services: ["https://pay.example/zk"], maxPerRequest: 10n, serviceFetch: logged(service.fetch) },
      attachments: [showOrigins({ origins: origins[who]!, missing: "refuse" })],
    });
    await (await paying(`${merchant.origin}/${target}`)).text();
    await curator.read();
    await merchant.close();
  };
  for (const who of order) await sync(who);
  for (const target of ["one", "two"]) for (const who of order) await pay(who, target);
  payers.minute();
  await curator.sign();
  await watch.refresh();
  for (const who of order) await sync(who);

  for (const each of origins) each.close();
  const mirrored = await database.db.selectFrom("origin_heads").selectAll().orderBy("number").execute();
  await database.close();
  return {
    chain: world.chain.blocks.map(({ number, timestamp, logs }) => ({ number, timestamp, logs })),
    requests,
    curator: await curator.close(),
    merchant: { served: merchant.served, shown: merchant.shown, events: merchant.events },
    service: { asked: service.asked, admitted },
    mirror: mirrored,
  };
}

/** Tables with names of processes and times of this machine. */
const NOT_OF_PAYERS = /^origin_(leases|migration|migration_lock)$/;

/** A curator that accepts every deposit, with a database and log lines of its own. */
async function openCurator({ world, curator: { secret } }: Payers, set: OriginSet) {
  const directory = temporaryFolder("linking");
  const [folder, store] = [join(directory, "public"), `sqlite:${join(directory, "curator.db")}`];
  const lines: string[] = [];
  const metrics = new Registry();
  let slots = 0;
  const curator = await Curator.open({
    ...{ set, folder, store, metrics, chain: world.chain, key: bytesToHex(secret), token: TOKEN as Address },
    ...{ deploymentBlock: 0, confirmations: 1, shownAt: [], slotSeconds: 60, description: "test" },
    judges: () => [testJudge()],
    verifier: { verify: (circuit, proof, signals) => verifyShown(circuit, proof, signals) },
    log: createLog("trace", { write: (line) => void lines.push(line) }),
    clock: () => world.clock() + 60_000 * slots,
  });
  return {
    folder,
    claim: curator.claim.bind(curator),
    /** Reads the chain. */
    read: () => curator.round(),
    /** Reads the chain, and signs a head in the next slot. */
    async sign() {
      slots += 1;
      await curator.round();
    },
    /** @returns everything that it stored and logged */
    async close() {
      const figures = await metrics.metrics();
      await curator.close();
      const opened = { url: store, name: "origin", migrations: MIGRATIONS };
      const database = await openDatabase<Record<string, object>>(opened);
      const tables: Record<string, readonly object[]> = {};
      for (const { name } of await database.db.introspection.getTables())
        if (!NOT_OF_PAYERS.test(name)) tables[name] = await database.db.selectFrom(name).selectAll().execute();
      await database.close();
      return { tables, figures, lines: lines.map((line) => ({ ...JSON.parse(line), time: "" }) as object) };
    },
  };
}

/** What the chain, curator, merchant, service and mirror have at the end. */
export type Seen = Awaited<ReturnType<typeof tell>>;

/** Hex, a hash in a path, a decimal number, and base64url. */
const RANDOM = /\b0x[0-9a-fA-F]{16,}\b|\b[0-9a-f]{64}\b|\b[0-9]{18,}\b|[\w-]{60,}/g;

/** What is left of a story without random values, which keep names: two stories with the same structure say the same. */
export function structureOf(seen: Seen): Seen {
  const names = new Names();
  /** A value has one name, however it is written. */
  const wordOf = (value: bigint): string =>
    value < 2n ** 64n ? String(value) : names.of(String(value), value < 2n ** 160n ? 20 : 32);
  const hexOf = (digits: string): string => {
    const words = digits.match(/.{1,64}/g)!;
    if (words.length === 1) return wordOf(BigInt(`0x${digits}`));
    // The last byte of a signature is random, too.
    return words.map((word) => (word.length < 64 ? `${word.length} digits` : wordOf(BigInt(`0x${word}`)))).join(" ");
  };
  const nameOf = (text: string): string => {
    if (text.startsWith("0x")) return hexOf(text.slice(2));
    if (/^[0-9]+$/.test(text)) return wordOf(BigInt(text));
    if (/^[0-9a-f]{64}$/.test(text)) return hexOf(text);
    const inside = decoded(text);
    return inside === undefined ? names.of(text) : named(inside).replaceAll('"', "'");
  };
  const named = (text: string): string => text.replace(RANDOM, nameOf);
  const structure = JSON.parse(named(textOf(seen))) as Seen;
  return { ...structure, requests: inOrder(structure.requests) };
}

/** A wallet sends the claims of its spends one after the other, in random order. */
function inOrder(requests: readonly SentRequest[]): SentRequest[] {
  const groups: SentRequest[][] = [];
  for (const request of requests) {
    if (isClaim(request) && groups.at(-1)?.every(isClaim)) groups.at(-1)!.push(request);
    else groups.push([request]);
  }
  return groups.flatMap((group) => group.sort((a, b) => (a.body < b.body ? -1 : 1)));
}

/** What base64url hides: shown origins, or the claims of a payment token. */
function decoded(text: string): string | undefined {
  try {
    return textOf(decodeOriginHeader(text));
  } catch {
    const inside = Buffer.from(text, "base64url").toString("utf8");
    return inside.startsWith("{") ? inside : undefined;
  }
}

export const isClaim = ({ url }: SentRequest): boolean => url.endsWith(`/${CLAIMS_PATH}`);

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, each) => (typeof each === "bigint" ? String(each) : each));
